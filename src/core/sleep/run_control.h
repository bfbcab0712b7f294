#pragma once
/// Which run there is, who takes part in it, and when a worker is to leave its loop.

#include <cstdint>

#include "core/memory.h"
#include "core/run_word.h"
#include "core/sleep/poller.h"
#include "core/worker.h"

namespace tartan::detail {

/// What workers read of the run at each turn. The lifecycle writes it.
///
/// Threads: any reads.
struct run_control {
  enum class until : std::uint8_t { stopped, idle, nothing_ready };

  explicit run_control(unsigned workers) noexcept : wanted{workers} {}

  /// Workers but 0: rest until the next run. Release by the lifecycle; pairs with each acquire load.
  alignas(64) real_memory::atomic<bool> leave{true};
  /// So many workers there are to be. Changed under lifecycle's threads_lock_; relaxed: whoever acts on it takes that lock.
  real_memory::atomic<unsigned> wanted;
  /// Which run there is, and whether worker 0 is to return from it.
  run_word<real_memory> run;
  /// With leave: threads end. Release by the lifecycle; pairs with each acquire load.
  real_memory::atomic<bool> terminate{false};
  /// How often block_signals was called. What is to be blocked by now is written before: pairs with each acquire load.
  real_memory::atomic<std::uint32_t> signals_asked{0};
  /// Nothing is posted any more. Release by the lifecycle; pairs with each acquire load.
  real_memory::atomic<bool> over{false};
  /// What the run waits for. Release by worker 0; pairs with each acquire load.
  real_memory::atomic<until> goal{until::stopped};
  // Worker 0's.
  bool limited = false;               ///< a deadline or a number of turns
  std::uint64_t limit_ns = never_ns;
  std::uint64_t turns_left = 0;       ///< if the goal is nothing_ready

  [[nodiscard]] bool is_too_many(const worker& w) const noexcept { return w.index >= wanted.load(std::memory_order_relaxed); }
};

}  // namespace tartan::detail
