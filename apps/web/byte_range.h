#pragma once
/// Parts of a file that a client asks for (RFC 9110, 14).

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace web {

/// Bytes of a file, at least one.
struct byte_range {
  std::uint64_t first = 0;
  std::uint64_t size = 0;

  [[nodiscard]] bool operator==(const byte_range&) const noexcept = default;
};

/// What a Range header asks of a file.
///
/// Limits: of a header with more than 16 ranges, or ranges that are together longer than the file, nothing is taken: then the whole file is sent,
/// which is less work for both sides.
class byte_ranges {
 public:
  static constexpr std::size_t most = 16;

  enum class outcome : std::uint8_t {
    whole,          ///< the header is to be ignored: no bytes, or none that is understood
    parts,          ///< in the order in which they were asked for
    unsatisfiable,  ///< 416: all of it lies behind the end
  };

  byte_ranges(std::string_view header, std::uint64_t file_size) noexcept;

  [[nodiscard]] outcome what() const noexcept { return what_; }
  [[nodiscard]] std::span<const byte_range> parts() const noexcept { return {parts_.data(), count_}; }

 private:
  [[nodiscard]] bool take(std::string_view spec, std::uint64_t file_size) noexcept;
  [[nodiscard]] bool add(byte_range part, std::uint64_t file_size) noexcept;

  std::array<byte_range, most> parts_{};
  std::size_t count_ = 0;
  std::uint64_t together_ = 0;
  outcome what_ = outcome::whole;
};

}  // namespace web
