#pragma once
/// A header line: of a request's head, or behind its last chunk.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "byte_set.h"
#include "request.h"

namespace web {

/// What a method or a header's name may consist of (RFC 9110, 5.6.2).
inline constexpr byte_set token_bytes{"!#$%&'*+-.^_`|~", true};

/// Whether one of eight bytes is a control; the tab counts as one.
[[nodiscard]] inline bool has_control(std::uint64_t eight) noexcept {
  constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
  constexpr std::uint64_t tops = 0x80 * ones;
  const std::uint64_t below_space = (eight - 0x20 * ones) & ~eight;
  const std::uint64_t deleted = eight ^ (0x7f * ones);
  return ((below_space | ((deleted - ones) & ~deleted)) & tops) != 0;
}

/// A header's value: no control but the tab; bytes beyond ASCII are allowed, and mean nothing.
[[nodiscard]] inline bool is_value(std::string_view value) noexcept {
  const auto allowed = [](char c) { return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f); };
  for (; value.size() >= sizeof(std::uint64_t); value.remove_prefix(sizeof(std::uint64_t))) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, value.data(), sizeof eight);
    if (has_control(eight) && !std::all_of(value.begin(), value.begin() + sizeof eight, allowed)) return false;
  }
  return std::all_of(value.begin(), value.end(), allowed);
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
