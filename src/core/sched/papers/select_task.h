#pragma once
/// The event of color 0 that polls, in the papers' two forms.

#include <cstdint>

#include "core/sleep/sleep_control.h"
#include "core/memory.h"
#include "core/sched/papers/task.h"
#include "core/tuning.h"
#include "core/worker.h"

namespace tartan::detail {

/// In the polling form it lies in a queue like any other task, looks outside when it is chosen, and queues itself again: in the polling
/// form if that has posted anything, else in the blocking one. In the blocking form it lies nowhere: a worker that has nothing else
/// searches and steals first, and if it finds nothing, and would have to run color 0, it rests where readiness wakes it.
///
/// It takes the polling form again, and so is queued behind what waits, when that worker has rested, whatever ended the rest; when it
/// belongs to another worker's queue, which a thief has brought there; and when its worker (shared_queue: all together) has run 64 events
/// since it looked last. The papers do none of this: while there was work, timers and I/O would wait for ever. Here they do behind a last
/// color that is preferred at each pick, by the papers' own rule: docs/design/paper-schedulers.md, 1.
/// Guarded by the lock of the queue that it belongs to. Source: libasync-mp, section 3.2; Mely, II.A.
class select_task {
 public:
  select_task() noexcept { own_.what = nullptr; }  // and costs nothing: no thief comes for it alone
  select_task(const select_task&) = delete;
  select_task& operator=(const select_task&) = delete;

  [[nodiscard]] task& in_queue() noexcept { return own_; }
  /// Whether it lies in a queue, or is being run.
  [[nodiscard]] bool is_polling() const noexcept { return polling_.load(std::memory_order_relaxed); }

  /// Whether the worker whose queue it belongs to should poll: then it is to be queued.
  [[nodiscard]] bool wakes_up(const worker& w) noexcept {
    if (is_polling()) return false;
    const std::uint64_t slept = w.sleeps.get();
    const bool rested = by_ != w.index || slept_ != slept;
    by_ = w.index;
    slept_ = slept;
    if (!rested && w.credits > 0) return false;
    polls_again();
    return true;
  }

  /// Where it belongs to one queue of many workers, which knows who blocks: this one takes the blocking form. And whether it has rested since.
  void blocks_with(const worker& w) noexcept { slept_ = w.sleeps.get(); }
  [[nodiscard]] bool has_rested(const worker& w) const noexcept { return slept_ != w.sleeps.get(); }
  /// It is to be queued.
  void polls_again() noexcept { polling_.store(true, std::memory_order_relaxed); }

  /// It was chosen, and looks. Not guarded. Gives whether it is to be queued again.
  [[nodiscard]] static bool look(sleep_control& life, worker& w) noexcept {
    w.credits = events_between_looks;
    return life.look(w);
  }
  /// After that.
  void looked(bool posted) noexcept { polling_.store(posted, std::memory_order_relaxed); }

 private:
  task own_{};
  real_memory::atomic<bool> polling_{false};  ///< relaxed: read without the lock by who knows that all sleep
  unsigned by_ = ~0u;        ///< whose queue it belonged to last, where each worker has one
  std::uint64_t slept_ = 0;  ///< how often that one, or who took the blocking form, had slept then
};

}  // namespace tartan::detail
