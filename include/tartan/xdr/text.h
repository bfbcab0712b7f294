#pragma once
/// XDR's strings and opaque bytes.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tartan::xdr {

/// The bound of what has none: the length is an unsigned word.
inline constexpr std::size_t unbounded = std::numeric_limits<std::uint32_t>::max();

/// `string s<Max>`: bytes, usually text. Longer than Max: it is not encoded (errc::too_long).
template <std::size_t Max = unbounded>
struct text : std::string {
  static constexpr std::size_t max = Max;

  using std::string::string;
  text() = default;
  text(std::string from) noexcept : std::string{std::move(from)} {}
  using std::string::operator=;
};

/// `opaque o<Max>`, owned. xdr::data holds large ones by reference.
template <std::size_t Max = unbounded>
struct bytes : std::vector<std::byte> {
  static constexpr std::size_t max = Max;

  using std::vector<std::byte>::vector;
  bytes() = default;
  bytes(std::vector<std::byte> from) noexcept : std::vector<std::byte>{std::move(from)} {}
};

}  // namespace tartan::xdr
