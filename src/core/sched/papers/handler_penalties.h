#pragma once
/// By how much handlers suffer when their color moves to another worker, measured by the clock.

#include <array>
#include <cstddef>
#include <cstdint>
#include <tartan/core/event.h>

#include "core/memory.h"

namespace tartan::detail {

/// How long a handler takes on average: where its color was, and after a steal, when its data are in another core's cache.
///
/// Threads: any. Two that learn at the same time may lose one of the two times.
class handler_times {
 public:
  /// `brought`: by a steal.
  void learn(std::uint64_t took_ns, bool brought) noexcept;

  /// What a thief sees of a cost: cost / penalty. The penalty is the time after a steal divided by the time at home; it is 1 at least, and 1 until
  /// both are known.
  [[nodiscard]] std::uint32_t worth_of(std::uint32_t cost_ns) const noexcept;

  [[nodiscard]] std::uint64_t home_ns() const noexcept { return home_ns_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t brought_ns() const noexcept { return brought_ns_.load(std::memory_order_relaxed); }

 private:
  // Relaxed: numbers. 0: not known.
  real_memory::atomic<std::uint64_t> home_ns_{0};
  real_memory::atomic<std::uint64_t> brought_ns_{0};
};

/// The times of all handlers of a runtime. A handler is a type of callable, with the cost that was told of it (hints::cost).
///
/// Limits: handlers that fall into the same of 1024 places share it.
/// Source: Mely, VII, future work: penalties that come from monitoring. Difference: the time that a handler's memory costs a thief is measured, and
/// not the memory, which a program cannot see without the processor's counters (docs/decisions/0014-penalties-by-the-clock.md).
class handler_penalties {
 public:
  static constexpr std::size_t places = 1024;
  /// One in so many of the events that no steal has brought is timed. A prime, so that no pattern of a program is in step with it.
  static constexpr unsigned timed_one_in = 17;

  [[nodiscard]] handler_times& of(const event& e) noexcept;
  [[nodiscard]] handler_times& of(const event_ops& type, std::uint32_t told_cost_ns) noexcept;

 private:
  std::array<handler_times, places> all_{};
};

}  // namespace tartan::detail
