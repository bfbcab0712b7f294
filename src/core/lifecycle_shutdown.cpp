/// Shutting down: no new work, then the end of what is under way, then a stop. docs/guide/shutdown.md tells it from the user's side.

#include <algorithm>
#include <tartan/core/branches.h>

#include "core/clockwork.h"
#include "core/descriptors.h"
#include "core/lifecycle.h"
#include "core/occupation.h"
#include "core/outside_descriptor.h"
#include "core/root_registry.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"

namespace tartan::detail {

namespace {

/// Tells what the chain waits in, and what its branches wait in.
void tell_shutdown(chain& waiter) noexcept {
  operation* const waits_in = waiter.waits_in();
  if (waits_in == nullptr) return;
  waits_in->shutdown_begins(waiter);  // it may be completed by this, but stays: no worker runs
  if (branches* const several = waits_in->as_branches()) {
    for (branch& each : several->all()) tell_shutdown(each);
  }
}

}  // namespace

void lifecycle::shut_down(std::uint64_t within_ns) noexcept {
  if (within_ns == 0) return stop();
  const std::uint64_t now_ns = rt_.now_ns();
  const std::uint64_t by_ns = within_ns > never_ns - now_ns ? never_ns : now_ns + within_ns;
  // What the wait for this time depends on is ordered by the run's word, as for a stop.
  std::uint64_t before_ns = shut_by_ns_.load(std::memory_order_relaxed);
  while (by_ns < before_ns && !shut_by_ns_.compare_exchange_weak(before_ns, by_ns, std::memory_order_relaxed, std::memory_order_relaxed)) {
  }
  const bool wakes = control_.run.stop([this] { rt_.begin_shutdown(); });
  // acquire: pairs with descriptor(). A program's own loop has to run the runtime for the shutdown to begin.
  if (outside_descriptor* const outside = outside_open_.load(std::memory_order_acquire)) outside->signal();
  if (!wakes) return;
  real_memory::full_barrier();  // covered: as in stop()
  summon(0, nullptr);
}

/// Whether a call of shut_down() has not been followed yet: its doors are open, or it has made the time shorter.
bool lifecycle::is_to_shut_down() const noexcept {
  return rt_.closing() && !rt_.stopping() && shut_by_ns_.load(std::memory_order_relaxed) != shutting_by_ns_;
}

/// work(), by a caller who has entered. Once a shutdown was asked for: until nothing is left or its time has passed, and then stops.
void lifecycle::work_or_shut_down(until what, std::uint64_t limit_ns) {
  if (!rt_.closing() || rt_.stopping()) work(what, limit_ns);
  while (rt_.closing() && !rt_.stopping()) {
    const std::uint64_t by_ns = shut_by_ns_.load(std::memory_order_relaxed);
    if (shutting_by_ns_ == 0) shut_doors();
    shutting_by_ns_ = by_ns;
    work(what == until::nothing_ready ? what : until::idle, std::min(limit_ns, by_ns));
    const std::uint64_t now_ns = rt_.now_ns();
    if (now_ns >= shut_by_ns_.load(std::memory_order_relaxed) || nothing_left()) return stop();
    if (what == until::nothing_ready || now_ns >= limit_ns) return;
  }
}

/// Nothing that brings new work waits from now on. All workers pause: each of them sees the shutdown before it lets anything wait.
void lifecycle::shut_doors() noexcept {
  const standing_on worker_now{*workers_[0]};
  rt_.guests().pass();  // all-told: foreign threads that have not seen the shutdown have opened what they open
  if (descriptors* const all = rt_.open_descriptors()) all->shut_doors();
  rt_.roots().for_each([](root& each) { tell_shutdown(each); });
}

/// Whether nothing is left to wait for. In this order: a guard and an operation end, and a timer counts as fired, after the last post of
/// their thread; and that post may have left its link to another one that has not returned.
bool lifecycle::nothing_left() noexcept {
  if (rt_.guarded() || rt_.operations() != 0) return false;
  if (const clockwork* const timers = rt_.timers(); timers != nullptr && timers->pending() != 0) {
    // A shutdown does not wait for a timer that is due when its time has passed.
    const bool too_late = rt_.closing() && timers->next_ns() > shut_by_ns_.load(std::memory_order_relaxed);
    if (!too_late) return false;
  }
  rt_.guests().await_left();
  return !rt_.policy().any_left();
}

}  // namespace tartan::detail
