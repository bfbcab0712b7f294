#pragma once
/// The event of color 0 that polls, in the papers' two forms.

#include <cstdint>

#include "core/lifecycle.h"
#include "core/memory.h"
#include "core/sched/papers/task.h"
#include "core/worker.h"

namespace tartan::detail {

/// In the polling form it lies in a queue like any other task, looks outside when it is chosen, and queues itself again: in the polling
/// form if that has posted anything, else in the blocking one. In the blocking form it lies nowhere: a worker that has nothing else
/// searches and steals first, and if it finds nothing, and would have to run color 0, it rests where readiness wakes it.
///
/// It takes the polling form again when that worker has rested, whatever ended the rest, and when it has run 64 events since it looked
/// last, which the papers do not do: while there was work, timers and I/O would wait for ever.
/// Guarded by the lock of the queue that it belongs to. Source: libasync-mp, section 3.2; Mely, II.A.
class select_task {
 public:
  select_task() noexcept { own_.what = nullptr; }  // and costs nothing: no thief comes for it alone
  select_task(const select_task&) = delete;
  select_task& operator=(const select_task&) = delete;

  [[nodiscard]] task& in_queue() noexcept { return own_; }
  /// Whether it lies in a queue, or is being run.
  [[nodiscard]] bool is_polling() const noexcept { return polling_.load(std::memory_order_relaxed); }

  /// Whether the worker that is to block for it should poll instead: then it is to be queued.
  [[nodiscard]] bool wakes_up(worker& w) noexcept {
    if (is_polling()) return false;
    const std::uint64_t slept = w.sleeps.get();
    const bool rested = by_ != w.index || slept_ != slept;
    by_ = w.index;
    slept_ = slept;
    if (!rested && w.credits > 0) return false;
    polling_.store(true, std::memory_order_relaxed);
    return true;
  }

  /// It was chosen, and looks. Not guarded. Gives whether it is to be queued again.
  [[nodiscard]] static bool look(lifecycle& life, worker& w) noexcept {
    w.credits = lifecycle::events_between_looks;
    return life.look(w);
  }
  /// After that.
  void looked(bool posted) noexcept { polling_.store(posted, std::memory_order_relaxed); }

 private:
  task own_{};
  real_memory::atomic<bool> polling_{false};  ///< relaxed: read without the lock by who knows that all sleep
  unsigned by_ = ~0u;         ///< who has asked last
  std::uint64_t slept_ = 0;   ///< how often it had slept then
};

}  // namespace tartan::detail
