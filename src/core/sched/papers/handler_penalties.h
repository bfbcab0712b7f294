#pragma once
/// By how much handlers suffer when their color moves to another worker, measured by the clock.

#include <array>
#include <cstddef>
#include <cstdint>
#include <tartan/core/event.h>

#include "core/memory.h"

namespace tartan::detail {

/// What a handler takes, on average: where its color was, and after a steal, when what it reads is in another core's cache.
///
/// Threads: any. Two that learn at the same time may lose one of the two times.
class handler_times {
 public:
  /// `brought`: by a steal.
  void learn(std::uint64_t took_ns, bool brought) noexcept;

  /// What a thief sees of a cost: cost / penalty, where the penalty is the time after a steal by the time at home. At least 1, and 1 as long as
  /// one of the two is not known.
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
/// Source: Mely, VII: penalties that are set by monitoring, not by hand. Difference: what is monitored is the time that the memory of a handler
/// costs a thief, not the memory itself, of which no program can tell without a processor's counters
/// (docs/decisions/0013-penalties-by-the-clock.md).
/// Limits: handlers that fall into the same of 1024 places share it.
class handler_penalties {
 public:
  static constexpr std::size_t places = 1024;
  /// Of the events that no steal has brought, one in so many is timed. A prime: no pattern of a program is in step with it.
  static constexpr unsigned timed_one_in = 17;

  [[nodiscard]] handler_times& of(const event& e) noexcept;
  [[nodiscard]] handler_times& of(const event_ops& type, std::uint32_t told_cost_ns) noexcept;

 private:
  std::array<handler_times, places> all_{};
};

}  // namespace tartan::detail
