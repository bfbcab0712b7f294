#pragma once
/// Content codings, and which of them a client wants.

#include <array>
#include <cstdint>
#include <string_view>
#include <tartan/http/header_lines.h>

namespace tartan::http {

/// How a representation is coded.
///
/// Source: RFC 9110, 8.4.1; RFC 7932 (br).
enum class coding : std::uint8_t { identity, gzip, brotli };

/// All but identity, in the order of preference where the client has none: the smallest first.
inline constexpr std::array compressions{coding::brotli, coding::gzip};

/// As Content-Encoding has it: "br", "gzip"; empty for identity.
///
/// Lifetime: static.
[[nodiscard]] std::string_view name_of(coding c) noexcept;

/// Some of the compressions.
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
  [[nodiscard]] static std::uint8_t bit(coding c) noexcept {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(c));
  }

  std::uint8_t bits_ = 0;
};

/// The one of `there` to which Accept-Encoding gives the greatest weight.
///
/// identity if there is no such field, if the client gives identity itself a greater weight, and if the client accepts
/// none of them, even where it refuses identity too. Elements that cannot be parsed are ignored.
/// Source: RFC 9110, 12.5.3.
[[nodiscard]] coding best_coding(const header_lines& fields, coding_set there);

}  // namespace tartan::http
