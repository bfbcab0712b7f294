/// How a runtime ends: draining, and what it destroys.

#include <algorithm>
#include <chrono>
#include <new>
#include <string>

#include "core/blocking_pool.h"
#include "core/clockwork.h"
#include "core/descriptors.h"
#include "core/fatal.h"
#include "core/foreign_waits.h"
#include "core/lifecycle.h"
#include "core/occupation.h"
#include "core/root_registry.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "core/waiting_report.h"

namespace tartan::detail {

namespace {

/// Blocking jobs that a report names besides the first.
constexpr std::size_t most_shown = 4;

std::uint64_t saturated_sum(std::uint64_t a, std::uint64_t b) noexcept { return b > never_ns - a ? never_ns : a + b; }

}  // namespace

drained lifecycle::drain(std::uint64_t within_ns, std::source_location site) {
  stop();
  if (!enter(site)) return {};
  const occupation until_return{*this};
  return finish_off(within_ns);
}

/// Occupied by the caller, all other workers paused.
drained lifecycle::finish_off(std::uint64_t within_ns) {
  const std::uint64_t now_ns = rt_.now_ns();
  const std::uint64_t patience_ns = std::max(within_ns, static_cast<std::uint64_t>(rt_.settings().drain_within.count()));
  rt_.begin_stop();
  control_.run.begin_drain();
  cancel_waits();
  if (within_ns != 0) {
    try {
      work(until::idle, saturated_sum(now_ns, within_ns));
    } catch (...) {  // the workers could not be started
      control_.run.give_up_drain();
      throw;
    }
  }
  rt_.guests().pass();  // blocking jobs that were admitted before the stop are in the pool
  const std::size_t jobs_dropped = await_blocking(saturated_sum(now_ns, patience_ns));
  rt_.foreign().await_all(real_deadline(saturated_sum(now_ns, patience_ns)));
  control_.over.store(true, std::memory_order_release);
  hide_source_outside();
  rt_.guests().pass();  // what was admitted before has arrived; the next one sees that it is over
  drained outcome;
  outcome.destroyed = jobs_dropped + destroy_rest();
  outcome.complete = outcome.destroyed == 0;
  outcome.what = rt_.destroyed().take();
  return outcome;
}

/// Timers and waits end as canceled. All workers pause.
void lifecycle::cancel_waits() noexcept {
  const standing_on worker_now{*workers_[0]};
  if (clockwork* const timers = rt_.timers()) timers->stop();
  rt_.guests().pass();  // all-told: foreign threads that have not seen the stop have opened what they open
  if (descriptors* const all = rt_.open_descriptors()) all->stop();
  rt_.roots().cancel_all();
}

/// From the runtime's clock to the real one. What has passed is not waited for again.
std::chrono::steady_clock::time_point lifecycle::real_deadline(std::uint64_t until_ns) const noexcept {
  constexpr std::uint64_t a_year_ns = 365ull * 24 * 3600 * 1'000'000'000;
  const std::uint64_t now_ns = rt_.now_ns();
  const std::uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
  return std::chrono::steady_clock::now() + std::chrono::nanoseconds{static_cast<std::int64_t>(std::min(left_ns, a_year_ns))};
}

/// Until this time of the runtime's clock. A blocking job uses frames and callables that are about to go, so it cannot be cut short.
/// Gives how many jobs had not begun and were destroyed.
std::size_t lifecycle::await_blocking(std::uint64_t until_ns) noexcept {
  blocking_pool& pool = rt_.blocking();
  const std::size_t dropped = pool.drop_waiting(&rt_.destroyed());
  if (pool.wait_until_done(real_deadline(until_ns))) return dropped;
  report_stuck_jobs();
}

void lifecycle::report_stuck_jobs() noexcept {
  const std::vector<running_job> jobs = rt_.blocking().running();
  if (jobs.empty()) fatal({"a blocking job that was handed in does not end, so the runtime cannot be drained"});
  const running_job& first = jobs.front();
  std::string others;
  if (jobs.size() > 1) {
    const std::size_t more = jobs.size() - 1;
    others = "; " + std::to_string(more) + (more == 1 ? " more does not end either, handed in at " : " more do not end either, handed in at ");
    for (std::size_t n = 1; n < jobs.size() && n <= most_shown; ++n) others += (n == 1 ? "" : ", ") + place(jobs[n].site);
    if (more > most_shown) others += " and elsewhere";
  }
  fatal({"a blocking job does not end, so the runtime cannot be drained; its result goes to ",
         color_text(first.where, rt_.name_of(first.where)), ", and it was handed in at ", place(first.site), others});
}

/// Nobody posts any more: events first, for coroutines' events lie in their frames.
std::size_t lifecycle::destroy_rest() noexcept {
  const standing_on worker_now{*workers_[0]};
  note_coroutines();  // before anything that they wait in is destroyed
  std::size_t destroyed = rt_.policy().drop_all();
  if (clockwork* const timers = rt_.timers()) destroyed += timers->drop_all();
  if (descriptors* const all = rt_.open_descriptors()) destroyed += all->drop_all();
  destroyed += rt_.roots().drop_all();
  destroyed += rt_.policy().drop_all();  // what the frames' destructors let go
  return destroyed;
}

void lifecycle::note_coroutines() noexcept {
  try {
    rt_.roots().for_each([this](root& each) { rt_.destroyed().add(work_kind::coroutine, each.site(), wait_text(each)); });
  } catch (const std::bad_alloc&) {  // they are counted without their places
  }
}

void lifecycle::tell_destroyed(const drained& outcome) {
  if (rt_.settings().on_destroyed) return rt_.settings().on_destroyed(outcome);
  const auto within = std::chrono::duration_cast<std::chrono::milliseconds>(rt_.settings().drain_within);
  report({"run() destroyed what had not ended ", std::to_string(within.count()), " ms after the stop: ", destroyed_text(outcome)});
}

}  // namespace tartan::detail
