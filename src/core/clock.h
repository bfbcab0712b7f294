#pragma once
/// Real time, for spinning and patience; everything that users see comes from the poller's clock.

#include <time.h>

#include <cstdint>

namespace tartan::detail {

/// CLOCK_MONOTONIC. Cost: 26 to 50 ns.
[[nodiscard]] inline std::uint64_t real_now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

/// CLOCK_MONOTONIC at the system's last tick: up to some 10 ms ago. Cost: no read of the cycle counter.
[[nodiscard]] inline std::uint64_t real_coarse_now_ns() noexcept {
#if defined(CLOCK_MONOTONIC_COARSE)
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
#else
  return real_now_ns();
#endif
}

}  // namespace tartan::detail
