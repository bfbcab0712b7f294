#pragma once
/// A set of bytes, such as those that a token may consist of.

#include <array>
#include <cstddef>
#include <string_view>

namespace tartan::http {

/// A set of bytes, made at compile time.
///
/// Threads: any, as a constant.
/// Cost: one load per byte; 256 bytes.
class byte_set {
 public:
  /// The bytes of `listed`; ASCII letters and digits too if wanted.
  consteval byte_set(std::string_view listed, bool letters_and_digits) {
    for (const char c : listed) has_[static_cast<unsigned char>(c)] = true;
    if (!letters_and_digits) return;
    for (char c = '0'; c <= '9'; ++c) has_[static_cast<unsigned char>(c)] = true;
    for (char c = 'a'; c <= 'z'; ++c) {
      has_[static_cast<unsigned char>(c)] = has_[static_cast<unsigned char>(c - 'a' + 'A')] = true;
    }
  }

  [[nodiscard]] constexpr bool has(char c) const noexcept { return has_[static_cast<unsigned char>(c)]; }

  /// The number of bytes at the front of the text that are all in the set.
  [[nodiscard]] constexpr std::size_t span(std::string_view text) const noexcept { return first(text, false); }

  /// The number of bytes at the front of the text that are all outside of the set.
  [[nodiscard]] constexpr std::size_t span_outside(std::string_view text) const noexcept { return first(text, true); }

 private:
  /// The position of the first byte that is in the set (`wanted`), or is not. Unrolled by four: half of a byte's
  /// instructions would test for the end of the text.
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

}  // namespace tartan::http
