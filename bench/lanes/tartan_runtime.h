#pragma once
// What Tartan's two contenders, by strand and by value, have in common.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <tartan/core/event_batch.h>
#include <tartan/core/hints.h>
#include <tartan/core/runtime.h>
#include <thread>
#include <utility>

#include "bench/harness/annotation.h"
#include "bench/harness/report.h"
#include "bench/harness/request.h"
#include "bench/lanes/tartan_options.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"

namespace bench {

/// A runtime that starts, runs a workload and tells its counters.
class tartan_runtime {
 public:
  explicit tartan_runtime(const lanes_setup& setup) : rt_{options_for(setup)}, batch_{rt_},
        tells_{setup.tells || asks_for_costs(std::getenv("TARTAN_SCHEDULER"))} {}

  /// In the default color; needs `pin_first`.
  template <class F>
  void on_first_worker(F f) {
    rt_.post(std::move(f));
  }

  template <class F>
  void run(F start) {
    rt_.post(std::move(start));
    rt_.run_until_idle();
  }

  /// Feeds from a thread of its own, once the workers run.
  template <class F>
  void run_fed(F feed) {
    std::atomic<bool> runs{false};
    rt_.post([&runs] {
      runs.store(true, std::memory_order_release);  // pairs with the feeder's wait
      runs.notify_one();
    });
    std::thread feeder{[&] {
      runs.wait(false, std::memory_order_acquire);  // pairs with the store by the first event
      feed();
      rt_.stop();
    }};
    rt_.run();
    feeder.join();
  }

  void post_batch() {
    rt_.post(std::move(batch_));
    batch_.clear();
  }

  void tell(report& to) const {
    const tartan::runtime_counters seen = rt_.counters();
    to.add("steals", static_cast<double>(seen.steals));
    to.add("stolen_colors", static_cast<double>(seen.stolen_colors));
    to.add("wakes", static_cast<double>(seen.wakes));
    to.add("sleeps", static_cast<double>(seen.sleeps));
    tell_figures(to);
  }

 protected:
  /// What the papers print, if the scheduler was told to count it: TARTAN_SCHEDULER=per_worker:figures.
  void tell_figures(report& to) const {
    const tartan::detail::scheduler_figures seen = state_.policy().figures();
    if (!seen.counted) return;
    const auto per_steal = [&](std::uint64_t sum) { return seen.steals == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(seen.steals); };
    to.add("lock_wait_s", static_cast<double>(seen.lock_wait_ns) / 1e9);
    to.add("lock_held_s", static_cast<double>(seen.lock_held_ns) / 1e9);
    to.add("ns_per_steal", per_steal(seen.steal_ns));
    to.add("stolen_run_ns", per_steal(seen.stolen_run_ns));
    if (seen.stolen_events != 0) to.add("events_per_steal", per_steal(seen.stolen_events));  // the default does not tell them apart
    to.add("vain_visits", static_cast<double>(seen.vain_visits));
    to.add("answered_visits", static_cast<double>(seen.answered));
    to.add("longest_queue", static_cast<double>(seen.longest_queue));
  }

  /// Each post of the lanes passes here. To a scheduler that asks for it, and to the default one if that was asked for, an event tells what
  /// it costs, as a programmer would annotate it.
  template <class Event, class Post>
  void told(const Event& e, Post post) const {
    if constexpr (requires { e.told(); }) {
      static_assert(sizeof(Event) <= tartan::detail::hinted_capacity_bytes, "would lie on the heap");
      if (tells_) {
        const annotation own = e.told();
        post(tartan::with_hints({.cost = std::chrono::nanoseconds{own.cost_ns}, .penalty = own.penalty}, e));
        return;
      }
    }
    post(e);
  }

  static tartan::options options_for(const lanes_setup& setup) {
    tartan::options with = tartan_options(setup.workers);
    with.stealing = setup.stealing;
    with.pin_default_color = setup.pin_first;
    with.drain_within = std::chrono::seconds{60};
    return with;
  }

  tartan::runtime rt_;
  tartan::detail::runtime_state& state_ = rt_.state();
  tartan::event_batch batch_;
  const bool tells_;
};

}  // namespace bench
