#pragma once
/// Chance that can be repeated.

#include <cstdint>

namespace load {

/// SplitMix64: small, quick, and as even as this needs. The same seed gives the same numbers everywhere.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) noexcept : state_{seed} {}

  /// One of several sources that have nothing to do with each other.
  random_source(std::uint64_t seed, std::uint64_t which) noexcept : state_{mixed(seed ^ mixed(which + 1))} {}

  std::uint64_t next() noexcept { return mixed(state_ += step); }

  /// From 0 on, below `limit`.
  std::uint64_t below(std::uint64_t limit) noexcept {
    __extension__ using wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<wide>(next()) * limit) >> 64);
  }

  /// From 0 on, below 1.
  double part() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15u;

  static std::uint64_t mixed(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }

  std::uint64_t state_;
};

}  // namespace load
