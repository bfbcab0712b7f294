#pragma once
/// Comparing and trimming text as HTTP does: as ASCII, whatever the program's locale.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tartan::http {

/// Whether both are the same text, the case of ASCII letters aside.
[[nodiscard]] bool same_letters(std::string_view a, std::string_view b) noexcept;

/// The text without the spaces and tabs at both ends.
///
/// Lifetime: the text's.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) noexcept {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Calls `take(element)` for each element of a comma-separated list, trimmed, until it returns false.
///
/// Empty elements are passed on: most lists ignore them.
/// Source: RFC 9110, 5.6.1.
template <class F>
void each_element(std::string_view list, F take) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (!take(trimmed(list.substr(0, comma))) || comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

/// Whether a comma-separated list has this element, the case of ASCII letters aside.
[[nodiscard]] bool list_has(std::string_view list, std::string_view element) noexcept;

/// Whether all bytes are between ' ' and '~'.
///
/// Cost: eight bytes at a time; some of them twice.
[[nodiscard]] inline bool is_plain(std::string_view text) noexcept {
  constexpr std::size_t eight = sizeof(std::uint64_t);
  constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
  constexpr std::uint64_t tops = 0x80 * ones;
  if (text.empty()) return true;
  // A byte outside of the range gets its top bit set in one of the terms, by a borrow or by a carry. A borrow or a carry
  // that reaches the bytes above it can only come from such a byte.
  const auto others = [](std::uint64_t bytes) { return (bytes - ' ' * ones) | (bytes + ones); };
  if (text.size() < eight) {
    std::uint64_t few = ones * static_cast<unsigned char>(text.front());
    for (const char c : text) few = (few << 8) | static_cast<unsigned char>(c);
    return (others(few) & tops) == 0;
  }
  std::uint64_t bytes = 0;
  std::uint64_t found = 0;
  const char* const last = text.data() + (text.size() - eight);
  for (const char* at = text.data(); at < last; at += eight) {
    std::memcpy(&bytes, at, eight);
    found |= others(bytes);
  }
  std::memcpy(&bytes, last, eight);
  found |= others(bytes);  // some for the second time
  return (found & tops) == 0;
}

}  // namespace tartan::http
