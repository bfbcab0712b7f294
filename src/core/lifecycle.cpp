/// Running and stopping; docs/guide/life.md tells it from the user's side. Draining: lifecycle_end.cpp.

#include "core/lifecycle.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <utility>

#include "core/blocking_pool.h"
#include "core/clock.h"
#include "core/cpu_follower.h"
#include "core/fatal.h"
#include "core/fork_guard.h"
#include "core/occupation.h"
#include "core/outside_descriptor.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "core/signals.h"
#include "core/stall_watch.h"
#include "core/waiting_report.h"

namespace tartan::detail {

namespace {

/// What run_for(0) may do at most.
constexpr std::uint64_t turns_of_a_look = 4096;

}  // namespace

lifecycle::lifecycle(runtime_state& rt) : sleep_control{rt}, threads_(rt.workers()) {}

lifecycle::~lifecycle() = default;

/// Each step may fail, and is then taken again by the next run: none of them is the sign that those after it were taken.
void lifecycle::start_workers() {
  if (fork_guard_ == nullptr) {
    fork_guard_ = std::make_unique<fork_guard>([](void* life) noexcept { static_cast<lifecycle*>(life)->mark_forked(); }, this);
  }
  // Before this thread is bound to one CPU: the follower's own affinity, which it inherits here, is the one that it follows.
  if (rt_.settings().follow_cpus && follower_ == nullptr) follower_ = std::make_unique<cpu_follower>(*this);
  if (!zero_started_) {
    if (stalls_ == nullptr) stalls_ = std::make_unique<stall_watch>(rt_);
    stalls_->start();
    static_cast<void>(::pthread_sigmask(SIG_SETMASK, nullptr, &signals_of_workers_));  // cannot fail
    bind(*workers_[0]);
    call_hook(rt_.settings().on_worker_start);
    zero_started_ = true;
  }
  rt_.blocking().begin();
  call_up();
}

/// One of worker 0's, whose thread is the caller's: it sees what the others' hooks see.
void lifecycle::call_hook(const std::function<void(unsigned)>& hook) {
  if (!hook) return;
  const standing_on worker_now{*workers_[0]};
  hook(0);
}

/// In a child of fork, on its only thread, which may be in the middle of an event: ends it when it posts, or after the batch.
void lifecycle::mark_forked() noexcept {
  idle_.mark_forked();
  control_.leave.store(true, std::memory_order_relaxed);
  control_.run.end();
  if (worker* const w = rt_.worker_here()) w->credits = 0;
}

void lifecycle::bind(const worker& w) noexcept {
  if (!rt_.settings().bind_workers) return;
  // A CPU that was taken away since (hotplug, a changed cpuset) leaves the worker unbound: slower, not wrong.
  (void)bind_to_cpu(rt_.cpus(), w.index);
}

void lifecycle::worker_thread(worker& w) noexcept {
  const standing_on worker_now{w};
  static_cast<void>(::pthread_sigmask(SIG_SETMASK, &signals_of_workers_, nullptr));  // not those of the thread that started it
  follow_signals(w);
  bind(w);
  (void)::prctl(PR_SET_TIMERSLACK, 1'000UL);  // ns; the default of 50 us comes off contract 7's 1 ms
  w.searching = true;  // start_thread has counted it
  call_beside(rt_.settings().on_worker_start, w);
  while (!control_.terminate.load(std::memory_order_acquire)) {
    if (control_.is_too_many(w) && !idle_.view().forked() && resign(w)) return;
    if (control_.leave.load(std::memory_order_acquire)) {
      if (idle_.view().forked()) used_after_fork();
      follow_signals(w);
      rest(w, rt_.policy().polls_at_rest(w));
    } else {
      rt_.policy().run(w);
    }
  }
  if (rt_.settings().on_worker_stop) rt_.settings().on_worker_stop(w.index);
}

/// Claims the runtime for the calling thread. False: it is over, and there is nothing to run.
bool lifecycle::enter(std::source_location site) {
  if (here != nullptr && here->in_event && here->owner == &rt_) {
    fatal({"a runtime was run from one of its own events, posted at ", place(here->site)});
  }
  if (idle_.view().forked()) used_after_fork();
  if (occupied_.exchange(true, std::memory_order_acq_rel)) {
    fatal({"a runtime is run or drained by two threads at once, here at ", place(site)});
  }
  if (!over()) return true;
  leave();
  return false;
}

/// Worker 0's part, by the caller, who has entered: works until the goal is reached, then pauses all others.
///
/// Errors: std::system_error if a thread cannot be started, or what on_worker_start throws; nothing has run, workers that were
/// started rest, and the next run begins where this one has failed.
void lifecycle::work(until what, std::uint64_t limit_ns) {
  start_workers();
  worker& w = *workers_[0];
  const standing_on worker_now{w};
  control_.limit_ns = limit_ns;
  control_.turns_left = what == until::nothing_ready ? turns_of_a_look : never_ns;
  control_.limited = limit_ns != never_ns || what == until::nothing_ready;
  control_.goal.store(what, std::memory_order_release);
  control_.run.begin([this] { return rt_.stopping() || is_to_shut_down(); });
  control_.leave.store(false, std::memory_order_release);
  idle_.resume();
  dismiss();
  seat_sleepers();
  idle_.search();
  w.searching = true;
  w.credits = 0;
  stalls_->notice_awake();
  attend(w, true);
  rt_.policy().run(w);
  if (idle_.view().forked()) used_after_fork();
  w.searching = false;
  (void)idle_.end_search();
  pause();
}

/// Waits until all workers but the caller sleep.
void lifecycle::pause() noexcept {
  {
    const std::lock_guard hold{threads_lock_};
    called_up_ = false;  // no thread is started or joined from here on
  }
  idle_.pause();
  control_.leave.store(true, std::memory_order_release);
  await_all_asleep();
  show_outside();
}

/// Paused: until all workers but the caller sleep, and have followed what was asked of them.
void lifecycle::await_all_asleep() noexcept {
  std::unique_lock hold{paused_lock_};
  paused_.wait(hold, [this] {
    const std::uint32_t asked = control_.signals_asked.load(std::memory_order_relaxed);  // the caller's own
    for (unsigned n = 1; n < threads_.size(); ++n) {
      if (!threads_[n].joinable() || workers_[n]->has_left.load(std::memory_order_acquire)) continue;  // pairs with resign
      // acquire by confirm_asleep: who sleeps in its next rest has followed before
      if (!idle_.confirm_asleep(n) || workers_[n]->signals_blocked.load(std::memory_order_relaxed) != asked) return false;
    }
    return true;
  });
}

void lifecycle::block_signals(const sigset_t& these, std::source_location site) {
  const bool alone = !has_threads();  // also in worker 0's on_worker_start, within a run
  if (!alone && !enter(site)) return;
  sigorset(&to_block_, &to_block_, &these);
  control_.signals_asked.store(control_.signals_asked.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (alone) return;
  const occupation until_return{*this};
  real_memory::full_barrier();  // covered: as in end(): who goes to sleep now sees it, or is seen to sleep
  for (unsigned n = 1; n < threads_.size(); ++n) wake(n, nullptr);
  await_all_asleep();
}

/// Only a thread itself can do that; it does so at its start, and where it would rest.
void lifecycle::follow_signals(worker& w) noexcept {
  const std::uint32_t asked = control_.signals_asked.load(std::memory_order_acquire);  // pairs with block_signals
  if (asked == w.signals_blocked.load(std::memory_order_relaxed)) return;
  static_cast<void>(::pthread_sigmask(SIG_BLOCK, &to_block_, nullptr));  // cannot fail
  w.signals_blocked.store(asked, std::memory_order_relaxed);             // told by the token of the rest that follows
}

void lifecycle::end() noexcept {
  follower_.reset();
  control_.terminate.store(true, std::memory_order_release);
  control_.leave.store(true, std::memory_order_release);
  real_memory::full_barrier();
  for (unsigned n = 1; n < workers_.size(); ++n) wake(n, nullptr);
  for (std::thread& each : threads_) {
    if (each.joinable()) each.join();
  }
  if (std::exchange(zero_started_, false)) call_hook(rt_.settings().on_worker_stop);
  fork_guard_.reset();
  stalls_.reset();
}

int lifecycle::run(std::source_location site) {
  if (!enter(site)) return 0;
  const occupation until_return{*this};
  // After stop() the workers would run, until they see it, more than `drain_within` allows.
  if (!rt_.stopping()) work_or_shut_down(until::stopped, never_ns);
  const drained outcome = finish_off(static_cast<std::uint64_t>(rt_.settings().drain_within.count()));
  if (outcome.complete) return 0;
  tell_destroyed(outcome);
  return 1;
}

void lifecycle::run_until_idle(std::source_location site) {
  if (!enter(site)) return;
  const occupation until_return{*this};
  work_or_shut_down(until::idle, never_ns);
  if (rt_.settings().report_waiting && !rt_.stopping()) report_waiting(rt_);
}

std::uint64_t lifecycle::run_for(std::uint64_t duration_ns, std::source_location site) {
  if (!enter(site)) return 0;
  const occupation until_return{*this};
  std::uint64_t before = 0;
  for (const auto& w : workers_) before += w->events.get();
  const std::uint64_t now = duration_ns == 0 ? 0 : rt_.now_ns();
  if (duration_ns == 0) {
    work_or_shut_down(until::nothing_ready, never_ns);
  } else {
    work_or_shut_down(until::stopped, duration_ns > never_ns - now ? never_ns : now + duration_ns);
  }
  std::uint64_t after = 0;
  for (const auto& w : workers_) after += w->events.get();
  return after - before;
}

std::vector<waiting_coroutine> lifecycle::waiting(std::source_location site) {
  if (here != nullptr && here->in_event && here->owner == &rt_) {
    fatal({"runtime::waiting was called from an event of the runtime, at ", place(site), "; ask between two runs"});
  }
  if (!enter(site)) return {};
  const occupation until_return{*this};
  return waiting_in(rt_);
}

void lifecycle::stop() noexcept {
  if (!control_.run.stop([this] { rt_.begin_stop(); })) return;
  real_memory::full_barrier();  // covered: pairs with the barrier of worker 0's rest, before which it has not seen the end of the run
  wake(0, nullptr);
}

}  // namespace tartan::detail
