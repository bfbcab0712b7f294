#pragma once
/// The parts of a representation that a Range asks for.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tartan::http {

/// Bytes of a representation, at least one.
struct byte_range {
  std::uint64_t first = 0;
  std::uint64_t size = 0;

  [[nodiscard]] bool operator==(const byte_range&) const noexcept = default;
};

/// The value of a Range field, applied to a representation of a known size.
///
/// Threads: any, as a value.
/// Limits: 16 ranges, together no longer than the representation. A field that asks for more is ignored, so the whole is
/// sent: that is less work for both sides.
/// Source: RFC 9110, 14.1.2 and 14.2.
class byte_ranges {
 public:
  static constexpr std::size_t most = 16;

  enum class outcome : std::uint8_t {
    whole,          ///< the field is to be ignored: another unit, or not understood
    parts,          ///< in the order in which they were asked for
    unsatisfiable,  ///< 416: all of it lies behind the end
  };

  /// `value`: of the Range field; empty: there is none. `size`: bytes of the representation.
  byte_ranges(std::string_view value, std::uint64_t size) noexcept;

  [[nodiscard]] outcome what() const noexcept { return what_; }
  /// Lifetime: this object's.
  [[nodiscard]] std::span<const byte_range> parts() const noexcept { return {parts_.data(), count_}; }

 private:
  [[nodiscard]] bool take(std::string_view spec, std::uint64_t size) noexcept;
  [[nodiscard]] bool add(byte_range part, std::uint64_t size) noexcept;

  std::array<byte_range, most> parts_{};
  std::size_t count_ = 0;
  std::uint64_t together_ = 0;
  outcome what_ = outcome::whole;
};

}  // namespace tartan::http
