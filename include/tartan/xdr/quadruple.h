#pragma once
/// XDR's quadruple-precision numbers.

#include <array>
#include <cstddef>

namespace tartan::xdr {

/// `quadruple`: IEEE 754 binary128, big-endian, as RFC 4506 section 4.8 has it on the wire. A value type of 16 bytes:
/// C++ has no portable type of that precision, so a program that computes with more than a double's 53 bits does so itself.
struct quadruple {
  std::array<std::byte, 16> wire{};

  quadruple() noexcept = default;
  /// Exact.
  explicit quadruple(double value) noexcept;
  /// Rounded to the nearest double, ties to even; beyond its range: infinity.
  explicit operator double() const noexcept;

  bool operator==(const quadruple&) const = default;
};

}  // namespace tartan::xdr
