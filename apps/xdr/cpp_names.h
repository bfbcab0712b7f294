#pragma once
/// Names of .x files as names of C++.

#include <string>
#include <string_view>

namespace xdr_compiler {

/// The name, with an underscore behind it if it is a keyword of C++, a macro that most programs have (EOF, ENOENT), or
/// std, tartan.
[[nodiscard]] std::string cpp_name(const std::string& name);

/// The name of a namespace for a file: "protocol/my-kiosk.x" gives my_kiosk.
[[nodiscard]] std::string namespace_of_file(std::string_view path);

[[nodiscard]] std::string lower_case(std::string name);
[[nodiscard]] std::string upper_case(std::string name);

/// The last part of a path.
[[nodiscard]] std::string_view base_name(std::string_view path) noexcept;
/// The path without a .x at its end.
[[nodiscard]] std::string_view without_suffix(std::string_view path) noexcept;

}  // namespace xdr_compiler
