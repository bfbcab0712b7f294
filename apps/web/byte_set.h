#pragma once
/// Which bytes a word may consist of.

#include <array>
#include <cstddef>
#include <string_view>

namespace web {

/// A set of bytes, looked up by one load: what requests consist of is looked at byte by byte.
class byte_set {
 public:
  /// Those that are listed, and letters and digits if wanted.
  consteval byte_set(std::string_view listed, bool letters_and_digits) {
    for (const char c : listed) has_[static_cast<unsigned char>(c)] = true;
    if (!letters_and_digits) return;
    for (char c = '0'; c <= '9'; ++c) has_[static_cast<unsigned char>(c)] = true;
    for (char c = 'a'; c <= 'z'; ++c) has_[static_cast<unsigned char>(c)] = has_[static_cast<unsigned char>(c - 'a' + 'A')] = true;
  }

  [[nodiscard]] constexpr bool has(char c) const noexcept { return has_[static_cast<unsigned char>(c)]; }

  /// How many bytes at the front are all in it.
  [[nodiscard]] constexpr std::size_t span(std::string_view text) const noexcept { return first(text, false); }

  /// How many at the front are all not in it.
  [[nodiscard]] constexpr std::size_t span_outside(std::string_view text) const noexcept { return first(text, true); }

 private:
  /// Where the first byte is that is in it, or is not; four at a time, for half of a byte's instructions would ask whether the text has ended.
  [[nodiscard]] constexpr std::size_t first(std::string_view text, bool wanted) const noexcept {
    std::size_t at = 0;
    for (; at + 4 <= text.size(); at += 4) {
      if (has(text[at]) == wanted) return at;
      if (has(text[at + 1]) == wanted) return at + 1;
      if (has(text[at + 2]) == wanted) return at + 2;
      if (has(text[at + 3]) == wanted) return at + 3;
    }
    while (at < text.size() && has(text[at]) != wanted) ++at;
    return at;
  }

  std::array<bool, 256> has_{};
};

}  // namespace web
