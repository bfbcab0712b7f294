#pragma once
/// From a .x file to checked declarations.

#include <set>
#include <string>
#include <string_view>

#include "xdr/checker.h"
#include "xdr/diagnostics.h"

namespace xdr_compiler {

/// Lexer, parser and checker, for a text that is behind the preprocessor or does not need it. What comes from another .x file
/// is marked as imported.
///
/// Errors: reported. The declarations are fit for a back-end only if there was none.
[[nodiscard]] specification compile(std::string_view text, const std::string& file, diagnostics& errors,
                                    unknown_names unknown = unknown_names::are_errors);

}  // namespace xdr_compiler
