#pragma once
/// A header line: of a request's head, or behind its last chunk.

#include <cstddef>
#include <optional>
#include <string_view>

#include "web/byte_set.h"
#include "web/text.h"

namespace web {

/// What a method or a header's name may consist of (RFC 9110, 5.6.2).
inline constexpr byte_set token_bytes{"!#$%&'*+-.^_`|~", true};

/// What a header's value must not have: controls, but for the tab.
inline constexpr byte_set control_bytes{
    std::string_view{"\0\1\2\3\4\5\6\7\b\n\v\f\r\16\17\20\21\22\23\24\25\26\27\30\31\32\33\34\35\36\37\177", 32}, false};

/// A header's value; bytes beyond ASCII are allowed, and mean nothing.
[[nodiscard]] inline bool is_value(std::string_view value) noexcept {
  return is_plain(value) || control_bytes.span_outside(value) == value.size();
}

/// "Name: value", without the blanks around the value.
///
/// Lifetime: the line's.
struct field {
  std::string_view name;
  std::string_view value;

  /// Nothing if the line is none, as one that continues the line before (obs-fold): it has no name.
  [[nodiscard]] static std::optional<field> of(std::string_view line) noexcept {
    const std::size_t name = token_bytes.span(line);
    if (name == 0 || name == line.size() || line[name] != ':') return std::nullopt;
    const std::string_view value = trimmed(line.substr(name + 1));
    if (!is_value(value)) return std::nullopt;
    return field{line.substr(0, name), value};
  }
};

}  // namespace web
