#pragma once
/// What sleeping and waking take, for the sums that keep contract 7.

#include <cstdint>

namespace tartan::detail {

/// No runnable color waits longer while a worker is idle (contract 7).
inline constexpr std::uint64_t longest_color_wait_ns = 1'000'000;

/// An idle worker looks around for so long before it sleeps: about what waking it again would take.
inline constexpr std::uint64_t search_ns = 50'000;
/// For how long a worker sleeps at first that watches what it has declined: its victim has just been busy, and what follows from that may come at any
/// moment (W9, whose rounds begin behind such a sleep).
inline constexpr std::uint64_t first_watch_ns = 100'000;

/// By so much the kernel may let a sleep last longer, to end several at once.
inline constexpr std::uint64_t kernel_slack_ns = 50'000;
/// From the end of a sleep, or a call, until the worker has a CPU.
inline constexpr std::uint64_t way_to_cpu_ns = 33'000;
/// From then on until it runs what it was woken for.
inline constexpr std::uint64_t rise_ns = 50'000;

}  // namespace tartan::detail
