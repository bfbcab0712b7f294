#pragma once
/// The bytes that a URL consists of (RFC 3986, 2).

#include <string>
#include <string_view>

namespace load {

[[nodiscard]] constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

[[nodiscard]] constexpr bool is_hex_digit(char c) noexcept {
  return is_digit(c) || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
}

[[nodiscard]] constexpr bool is_unreserved(char c) noexcept {
  return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view{"-._~"}.find(c) != std::string_view::npos;
}

[[nodiscard]] constexpr bool is_sub_delimiter(char c) noexcept {
  return std::string_view{"!$&'()*+,;="}.find(c) != std::string_view::npos;
}

/// "%20" of a space.
[[nodiscard]] std::string percent_encoded(char c);

/// For a message: "'|'", or "byte 0x0A" if it cannot be printed.
[[nodiscard]] std::string shown(char c);

/// For a message of one line: bytes that cannot be printed are percent-encoded.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace load
