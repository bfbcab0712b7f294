#include <tartan/xdr/quadruple.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tartan::xdr {

namespace {

constexpr int bias = 16383;             // of the exponent
constexpr int special = 0x7fff;         // infinities and NaN
constexpr int high_fraction_bits = 48;  // of the fraction's 112, those in the first eight bytes

}  // namespace

quadruple::quadruple(double value) noexcept {
  std::uint64_t high = std::uint64_t{std::signbit(value)} << 63;
  std::uint64_t low = 0;
  if (!std::isfinite(value)) {
    high |= std::uint64_t{special} << high_fraction_bits;
    if (std::isnan(value)) high |= std::uint64_t{1} << (high_fraction_bits - 1);
  } else if (value != 0) {
    int exponent = 0;
    // 1.fraction with 52 bits behind the point: subnormal doubles become normal here.
    const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(value), &exponent), 53));
    const std::uint64_t fraction = mantissa & ((std::uint64_t{1} << 52) - 1);
    high |= static_cast<std::uint64_t>(exponent - 1 + bias) << high_fraction_bits;
    high |= fraction >> 4;
    low = fraction << 60;
  }
  for (std::size_t n = 0; n < 8; ++n) {
    wire[n] = static_cast<std::byte>(high >> (56 - 8 * n));
    wire[8 + n] = static_cast<std::byte>(low >> (56 - 8 * n));
  }
}

quadruple::operator double() const noexcept {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  for (std::size_t n = 0; n < 8; ++n) {
    high = high << 8 | std::to_integer<std::uint64_t>(wire[n]);
    low = low << 8 | std::to_integer<std::uint64_t>(wire[8 + n]);
  }
  const double sign = (high >> 63) != 0 ? -1.0 : 1.0;
  const int exponent = static_cast<int>(high >> high_fraction_bits & 0x7fff);
  const std::uint64_t top = high & ((std::uint64_t{1} << high_fraction_bits) - 1);
  if (exponent == special) {
    return top != 0 || low != 0 ? std::numeric_limits<double>::quiet_NaN()
                                : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * 0.0;  // below 2^-16382: no double is so small
  // 1 + 48 + 13 bits, and one that says whether any lower one is set, so that the rounding below sees a tie as one.
  std::uint64_t significand = std::uint64_t{1} << 62 | top << 14 | low >> 50;
  if ((low << 14) != 0) significand |= 1;
  const int scale = exponent - bias - 62;
  if (scale + 62 >= -1022) {
    return sign * std::ldexp(static_cast<double>(static_cast<std::int64_t>(significand)), scale);
  }
  // A subnormal double: its last bit is 2^-1074. Rounded once, here.
  const int drop = -1074 - scale;
  if (drop > 63) return sign * 0.0;
  const std::uint64_t kept = drop == 63 ? 0 : significand >> drop;
  const std::uint64_t rest = drop == 63 ? significand : significand & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  const bool up = rest > half || (rest == half && (kept & 1) != 0);
  return sign * std::ldexp(static_cast<double>(kept + (up ? 1 : 0)), -1074);
}

}  // namespace tartan::xdr
