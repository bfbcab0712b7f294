#pragma once
/// How the text of a request is compared and looked through: as ASCII.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace web {

/// Compares ASCII letters without their case.
[[nodiscard]] bool same_letters(std::string_view a, std::string_view b) noexcept;

/// Without the blanks at both ends.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) noexcept {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Whether all bytes are from ' ' to '~'.
///
/// Cost: looks at eight bytes at a time; at some of them twice.
[[nodiscard]] inline bool is_plain(std::string_view text) noexcept {
  constexpr std::size_t eight = sizeof(std::uint64_t);
  constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
  constexpr std::uint64_t tops = 0x80 * ones;
  if (text.empty()) return true;
  // The lowest byte that is another has a top bit in one of both, by a borrow or by one more. What it does to those above it can only confirm that.
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

}  // namespace web
