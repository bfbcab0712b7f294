#pragma once
// Work whose length is calibrated once: it touches no memory and reads no clock, so a preempted spin is not work done, and its result
// tells whether it ran.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bench/harness/clock.h"

namespace bench {

inline constexpr std::uint64_t churn_factor = 6364136223846793005u;
inline constexpr std::uint64_t churn_term = 1442695040888963407u;

/// Each step waits for the multiplication of the one before.
[[nodiscard]] inline std::uint64_t churn(std::uint64_t x, std::size_t steps) noexcept {
  for (std::size_t i = 0; i < steps; ++i) x = x * churn_factor + churn_term;
  return x;
}

/// The same, and nothing after it begins before it has ended. A core runs far ahead of a short chain of multiplications, but only into
/// an event that does not need its result: who mixes colors more would seem to compute faster.
[[nodiscard]] inline std::uint64_t churn_alone(std::uint64_t x, std::size_t steps) noexcept {
  x = churn(x, steps);
  asm volatile("lfence" : "+r"(x));
  return x;
}

/// What `churn` gives, in so many operations as `steps` has bits: repeated squaring of x -> factor * x + term.
[[nodiscard]] inline std::uint64_t churn_result(std::uint64_t x, std::size_t steps) noexcept {
  std::uint64_t factor = churn_factor;
  std::uint64_t term = churn_term;
  for (; steps != 0; steps >>= 1) {
    if ((steps & 1) != 0) x = x * factor + term;
    term = term * factor + term;
    factor *= factor;
  }
  return x;
}

/// How many steps take so long, by the fastest of some rounds.
[[nodiscard]] inline std::size_t churn_steps_in(double ns) {
  constexpr std::size_t steps = 100'000;
  std::uint64_t fastest_ns = ~std::uint64_t{0};
  std::uint64_t x = 1;
  for (int round = 0; round < 30; ++round) {
    const std::uint64_t start = now_ns();
    x = churn(x, steps);
    asm volatile("" : "+r"(x));  // else the loop might move or go
    fastest_ns = std::min(fastest_ns, now_ns() - start);
  }
  return static_cast<std::size_t>(ns * static_cast<double>(steps) / static_cast<double>(fastest_ns));
}

}  // namespace bench
