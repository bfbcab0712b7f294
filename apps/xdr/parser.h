#pragma once
/// From tokens to declarations: RFC 4506, section 6, and RFC 5531, section 12, with what rpcgen also takes.

#include <vector>

#include "xdr/ast.h"
#include "xdr/lexer.h"

namespace xdr_compiler {

/// The declarations of a file. Names are not looked up yet.
///
/// Errors: reported; what is wrong is left out, up to the next ; or }.
/// Limits: types nested in types: 64 deep.
///
/// @param bare_strings whether `string x;` is a string without a limit, as for rpcc, and no error
[[nodiscard]] specification parse(std::vector<token> tokens, diagnostics& errors, bool bare_strings = false);

}  // namespace xdr_compiler
