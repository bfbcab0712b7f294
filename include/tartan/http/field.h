#pragma once
/// One header field, "Name: value".

#include <cstddef>
#include <optional>
#include <string_view>
#include <tartan/http/byte_set.h>
#include <tartan/http/text.h>

namespace tartan::http {

/// The bytes of a token: a method, the name of a field.
///
/// Source: RFC 9110, 5.6.2.
inline constexpr byte_set token_bytes{"!#$%&'*+-.^_`|~", true};

/// The bytes that a value must not have: control characters except the tab.
inline constexpr byte_set control_bytes{
    std::string_view{"\0\1\2\3\4\5\6\7\b\n\v\f\r\16\17\20\21\22\23\24\25\26\27\30\31\32\33\34\35\36\37\177", 32},
    false};

/// Whether the text is a token: at least one byte, all of token_bytes.
[[nodiscard]] inline bool is_token(std::string_view text) noexcept {
  return !text.empty() && token_bytes.span(text) == text.size();
}

/// Whether the text can be the value of a field. Bytes beyond ASCII are allowed, and have no meaning.
///
/// Source: RFC 9110, 5.5.
[[nodiscard]] inline bool is_value(std::string_view value) noexcept {
  return is_plain(value) || control_bytes.span_outside(value) == value.size();
}

/// A name and its value, without the blanks around the value.
///
/// Lifetime: the line's.
struct field {
  std::string_view name;
  std::string_view value;

  /// Parses a line without its CRLF. Nothing if it is not a field; nor is a line that continues the one before it
  /// (obs-fold).
  ///
  /// Source: RFC 9112, 5.
  [[nodiscard]] static std::optional<field> of(std::string_view line) noexcept {
    const std::size_t name = token_bytes.span(line);
    if (name == 0 || name == line.size() || line[name] != ':') return std::nullopt;
    const std::string_view value = trimmed(line.substr(name + 1));
    if (!is_value(value)) return std::nullopt;
    return field{line.substr(0, name), value};
  }
};

}  // namespace tartan::http
