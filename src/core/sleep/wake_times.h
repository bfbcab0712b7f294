#pragma once
/// What sleeping and waking take, for the sums that keep contract 7.

#include <algorithm>
#include <cstdint>

namespace tartan::detail {

/// No runnable color waits longer while a worker is idle (contract 7).
inline constexpr std::uint64_t longest_color_wait_ns = 1'000'000;

/// An idle worker looks around for so long before it sleeps, at most: about what waking it again would take.
inline constexpr std::uint64_t search_ns = 50'000;
/// For how long a worker sleeps at first that watches what it has declined: its victim has just been busy, and what follows from that may come at any
/// moment (W9, whose rounds begin behind such a sleep).
inline constexpr std::uint64_t first_watch_ns = 100'000;

/// A turn that lasts longer is a long event, behind which colors are stuck. Before, what its event made is better left to it: each of its
/// next posts there would go to another worker (measured: W7, whose maker's turn takes 25 us).
inline constexpr std::uint64_t long_turn_ns = 50'000;

/// By so much the kernel may let a sleep last longer, to end several at once.
inline constexpr std::uint64_t kernel_slack_ns = 50'000;
/// From the end of a sleep, or a call, until the worker has a CPU.
inline constexpr std::uint64_t way_to_cpu_ns = 33'000;
/// From then on until it runs what it was woken for, and has woken others.
inline constexpr std::uint64_t rise_ns = 50'000;

/// A worker that was woken, and has found more than it takes, wakes so many: each of these does the same.
inline constexpr unsigned woken_at_once = 2;

/// How many of such steps it takes from the first worker that is awake until all are.
[[nodiscard]] constexpr unsigned wake_steps(unsigned workers) noexcept {
  unsigned steps = 0;
  for (std::uint64_t up = 1, newest = 1; up + 1 < workers; ++steps) up += newest *= woken_at_once;  // one more is the worker that is busy
  return steps;
}
/// And what that takes.
[[nodiscard]] constexpr std::uint64_t spread_ns(unsigned workers) noexcept { return wake_steps(workers) * (way_to_cpu_ns + rise_ns); }

/// So long at most nobody looks at what is ready, or at what waits behind a long event, while a worker sleeps. What comes on top: the guard's way up,
/// its search, a watcher's first sleep and look at what may be stuck, and the others' way up.
[[nodiscard]] constexpr std::uint64_t guard_far_ns(unsigned workers) noexcept {
  constexpr std::uint64_t longest = 600'000;
  constexpr std::uint64_t least = 150'000;  // from 129 workers on the sum is longer than 1 ms, by 83 us for each doubling
  const std::uint64_t rest = way_to_cpu_ns + search_ns + first_watch_ns + kernel_slack_ns + way_to_cpu_ns + rise_ns + spread_ns(workers);
  return rest + least >= longest_color_wait_ns ? least : std::min(longest, longest_color_wait_ns - rest);
}

}  // namespace tartan::detail
