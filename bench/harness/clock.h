#pragma once
// Clocks: wall time in ns, and the cycle counter for short spins.

#include <cstdint>
#include <ctime>
#include <x86intrin.h>

namespace bench {

[[nodiscard]] inline std::uint64_t now_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

/// Work of a known length that touches no memory.
inline void spin_cycles(std::uint64_t cycles) noexcept {
  const std::uint64_t start = __rdtsc();
  while (__rdtsc() - start < cycles) {
  }
}

}  // namespace bench
