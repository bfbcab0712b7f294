#pragma once
/// What XDR's own types are called in .x files.

#include <optional>
#include <string_view>

#include "xdr/ast.h"

namespace xdr_compiler {

/// Of a keyword: int, hyper, void...
[[nodiscard]] std::optional<base_type> base_of_keyword(std::string_view word) noexcept;

/// Of names that rpcgen's users have from C, as uint32_t and u_int. They are types only where the file declares nothing
/// of that name.
[[nodiscard]] std::optional<base_type> base_of_c_name(std::string_view word) noexcept;

/// As a .x file has it: "unsigned int".
[[nodiscard]] std::string_view name_of(base_type base) noexcept;

}  // namespace xdr_compiler
