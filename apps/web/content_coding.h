#pragma once
/// Pre-compressed siblings of files, as page.html.br and page.html.gz are of page.html, and which of them a client wants (RFC 9110, 8.4 and 12.5.3).

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "web/header_lines.h"

namespace web {

enum class coding : std::uint8_t { identity, gzip, brotli };

/// All but identity, in the order in which they are preferred where a client has no preference: the smallest first.
inline constexpr std::array siblings{coding::brotli, coding::gzip};

/// As Content-Encoding has it; empty for identity.
[[nodiscard]] std::string_view name_of(coding c) noexcept;

/// What a sibling's name has behind the file's; empty for identity.
[[nodiscard]] std::string_view suffix_of(coding c) noexcept;

/// Some of the siblings.
class coding_set {
 public:
  void add(coding c) noexcept { bits_ |= bit(c); }
  [[nodiscard]] bool has(coding c) const noexcept { return (bits_ & bit(c)) != 0; }
  [[nodiscard]] coding_set without(coding_set others) const noexcept {
    coding_set rest;
    rest.bits_ = bits_ & static_cast<std::uint8_t>(~others.bits_);
    return rest;
  }
  [[nodiscard]] bool empty() const noexcept { return bits_ == 0; }
  [[nodiscard]] bool operator==(const coding_set&) const noexcept = default;

 private:
  [[nodiscard]] static std::uint8_t bit(coding c) noexcept { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(c)); }

  std::uint8_t bits_ = 0;
};

/// The one of `there` to which Accept-Encoding gives the greatest weight. identity where there is no such header; where a client names identity with a
/// weight, if that is greater; and where it wants none of those, even if it does not want identity either.
///
/// A member that is none is ignored.
[[nodiscard]] coding best_coding(const header_lines& fields, coding_set there);

/// A path and a coding in one word, by which a page is kept. No path has a NUL in it.
[[nodiscard]] std::string key_of(std::string_view path, coding as);

/// What a key consists of.
///
/// Lifetime: the key's.
struct representation {
  std::string_view path;
  coding as = coding::identity;

  explicit representation(std::string_view key) noexcept;
};

}  // namespace web
