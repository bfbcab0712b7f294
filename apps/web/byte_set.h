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
  [[nodiscard]] constexpr std::size_t span(std::string_view text) const noexcept {
    std::size_t size = 0;
    while (size < text.size() && has(text[size])) ++size;
    return size;
  }

  /// How many at the front are all not in it.
  [[nodiscard]] constexpr std::size_t span_outside(std::string_view text) const noexcept {
    std::size_t size = 0;
    while (size < text.size() && !has(text[size])) ++size;
    return size;
  }

 private:
  std::array<bool, 256> has_{};
};

}  // namespace web
