/// Workers that come and go while others run; docs/design/sleeping.md.

#include <exception>
#include <stdexcept>
#include <string>

#include "core/fatal.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"

namespace tartan::detail {

void lifecycle::set_workers(unsigned wanted) {
  const auto refuse = [](const std::string& why) { throw std::invalid_argument{"tartan::runtime::set_workers: " + why}; };
  if (wanted == 0 || wanted > size()) {
    refuse(std::to_string(wanted) + ", but it must be 1 to options.max_workers, " + std::to_string(size()));
  }
  if (const worker* const w = rt_.worker_here(); w != nullptr && w->resigns) fatal({"runtime::set_workers was called from options.on_worker_stop"});
  if (!rt_.policy().may_lose_workers()) refuse("this scheduler keeps its number of workers (options.scheduler, options.stealing)");
  const std::lock_guard hold{threads_lock_};
  const unsigned before = control_.wanted.load(std::memory_order_relaxed);
  if (wanted == before) return;
  control_.wanted.store(wanted, std::memory_order_relaxed);
  if (!called_up_) return;  // the next run sees to it
  for (unsigned n = before; n < wanted; ++n) {
    try {
      start_thread(n);
    } catch (...) {
      control_.wanted.store(n, std::memory_order_relaxed);
      throw;
    }
  }
  real_memory::full_barrier();  // against sleep(): it sees that it is too many, or is seen to sleep
  for (unsigned n = wanted; n < before; ++n) wake(n, nullptr);
}

bool lifecycle::has_threads() const noexcept {
  for (const std::thread& each : threads_) {
    if (each.joinable()) return true;
  }
  return false;
}

/// By a worker that searches: the hook takes as long as it likes, and nobody may leave work to its search meanwhile.
void lifecycle::call_beside(const std::function<void(unsigned)>& hook, worker& w) noexcept {
  if (!hook) return;
  found_work(w);
  attend(w, true);
  w.in_hook = true;
  hook(w.index);
  w.in_hook = false;
  begin_search(w);
}

/// At the beginning of a run: all that are wanted.
void lifecycle::call_up() {
  const std::lock_guard hold{threads_lock_};
  const unsigned wanted = control_.wanted.load(std::memory_order_relaxed);
  for (unsigned n = wanted; n < size(); ++n) {
    if (threads_[n].joinable()) continue;              // it leaves by itself
    if (!idle_.is_gone(n)) idle_.leave(n, false);      // it was counted, and has never been there
    rt_.policy().hand_over(n);                         // but colors have been placed there
  }
  for (unsigned n = 1; n < wanted; ++n) start_thread(n);
  called_up_ = true;
}

/// With threads_lock_ held. Nothing, if it is there.
///
/// Errors: std::system_error; then it is not there.
void lifecycle::start_thread(unsigned index) {
  worker& w = *workers_[index];
  std::thread& thread = threads_[index];
  if (thread.joinable()) {
    if (!w.resigns) return;  // it is wanted again
    thread.join();           // it needs no lock of this one
    w.resigns = false;
    w.has_left.store(false, std::memory_order_relaxed);
    w.signals_blocked.store(0, std::memory_order_relaxed);
  }
  w.credits = 0;
  const bool joins = idle_.is_gone(index);
  if (joins) idle_.join(index);
  idle_.search();  // counted from now on, so that pause() waits for it
  rt_.clock().starts(index);
  try {
    thread = std::thread{[this, &w] { worker_thread(w); }};
  } catch (...) {
    (void)idle_.end_search();
    if (joins) {
      idle_.leave(index, false);
      rt_.policy().hand_over(index);  // gone-or-found: it was there for a moment
    }
    static_cast<void>(wake_any(nullptr));  // for what was left to the search that never was
    throw;
  }
}

/// At the beginning of a run: those that sleep and are too many get up, and leave.
void lifecycle::dismiss() noexcept {
  for (unsigned n = wanted(); n < size(); ++n) wake(n, nullptr);
}

/// By a worker that is too many, between two turns, counted as searching. False: it is wanted again. What it had goes to others; what is posted to
/// its colors from now on is handed over by those that post it (gone-or-found).
bool lifecycle::resign(worker& w) noexcept {
  {
    const std::lock_guard hold{threads_lock_};
    w.credits = 0;  // it looks around first, whichever way it goes
    if (!control_.is_too_many(w) || !called_up_) return false;
    w.resigns = true;
  }
  rt_.policy().hand_over(w.index);
  call_beside(rt_.settings().on_worker_stop, w);
  rt_.policy().hand_over(w.index);
  idle_.leave(w.index, true);
  w.searching = false;
  rt_.policy().hand_over(w.index);
  // It may have been the last searcher, to whom others left their work, and the last one that was awake.
  const idle_view seen = idle_.latest_view();
  if (idle::owes_cover(seen)) {
    rt_.policy().cover(w);
    if (seen.awake() == 0) {
      wake_any(nullptr);
    } else {
      hand_on(w, idle_.view());
    }
  }
  // It may have slept for the next timer, or searched when that was set.
  if (const std::uint64_t next = next_timer(); next != never_ns) timer_set(next, false);
  rt_.clock().leaves(w.index);
  {
    const std::lock_guard tell{paused_lock_};
    w.has_left.store(true, std::memory_order_release);  // pairs with await_all_asleep
  }
  paused_.notify_all();
  return true;
}

}  // namespace tartan::detail
