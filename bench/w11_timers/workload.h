#pragma once
// W11: many timers. In 64 lanes, a million timers are set far ahead; while they are pending, a twentieth of that is set to fire
// within 50 to 450 ms; then the million are canceled in another order than they were set in.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/harness/all_ran.h"
#include "bench/harness/clock.h"
#include "bench/harness/process.h"
#include "bench/harness/report.h"
#include "bench/harness/request.h"

namespace bench {

/// splitmix64: the same deadlines for every contender.
inline std::uint64_t scatter(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

template <class Timers>
struct timers_run;

/// What fires: tells the run which of the near timers it is. 24 bytes.
template <class Timers>
struct near_timer {
  timers_run<Timers>* run;
  std::size_t index;
  std::uint64_t deadline_ns;

  void operator()() const { run->fired(index, deadline_ns); }
};

/// Timers offers: in_lane(lane, callable); set(lane, slot, deadline_ns, near_timer); cancel(lane, slot); run(callable), which returns when
/// nothing is left. Where a timer does not wait yet when `set` returns: when_pending(lane, count, callable), which calls when so many do.
template <class Timers>
struct timers_run {
  static constexpr std::size_t lanes = 64;
  static constexpr std::uint64_t ms = 1'000'000;

  /// What one lane knows; only that lane touches it.
  struct alignas(64) lane_state {
    std::size_t fired = 0;
    std::size_t early = 0;
  };

  timers_run(unsigned workers, std::size_t count)
      : far{count / lanes},
        near{count / lanes / 20 + 1},
        timers{workers, lanes, far + near},
        late_ns(lanes * near),
        in(lanes) {}

  template <class Work>
  void in_every_lane(Work work) {
    for (std::size_t lane = 0; lane < lanes; ++lane) timers.in_lane(lane, [this, lane, work] { (this->*work)(lane); });
  }
  /// True for the last lane of a phase.
  bool last_lane() {
    if (lanes_done.fetch_add(1, std::memory_order_acq_rel) + 1 < lanes) return false;  // pairs with itself
    lanes_done.store(0, std::memory_order_relaxed);
    return true;
  }

  void start() {
    set_began_ns = now_ns();
    in_every_lane(&timers_run::set_far);
  }
  void set_far(std::size_t lane) {
    const std::uint64_t from = set_began_ns + 60'000 * ms;
    for (std::size_t i = 0; i < far; ++i) {
      const std::uint64_t deadline = from + scatter(lane * far + i) % (60'000 * ms);
      timers.set(lane, i, deadline, near_timer<Timers>{this, 0, deadline});
    }
    const auto then = [this] { end_of_sets(); };
    if constexpr (requires { timers.when_pending(lane, far, then); }) {
      timers.when_pending(lane, far, then);
    } else {
      then();
    }
  }
  void end_of_sets() {
    if (!last_lane()) return;
    fire_began_ns = now_ns();
    used_before = process_usage::now();
    in_every_lane(&timers_run::set_near);
  }
  void set_near(std::size_t lane) {
    const std::uint64_t from = fire_began_ns + 50 * ms;
    for (std::size_t i = 0; i < near; ++i) {
      const std::size_t index = lane * near + i;
      const std::uint64_t deadline = from + scatter(~index) % (400 * ms);
      timers.set(lane, far + i, deadline, near_timer<Timers>{this, index, deadline});
    }
  }
  void fired(std::size_t index, std::uint64_t deadline_ns) {
    const std::uint64_t now = now_ns();
    lane_state& state = in[index / near];
    if (now < deadline_ns) ++state.early;
    late_ns[index] = now < deadline_ns ? 0 : now - deadline_ns;
    if (++state.fired < near || !last_lane()) return;
    used_by_fires = process_usage::now().since(used_before);
    cancel_began_ns = now_ns();
    in_every_lane(&timers_run::cancel_far);
  }
  void cancel_far(std::size_t lane) {
    constexpr std::size_t stride = 7919;  // a prime: visits every slot unless it divides their number
    const std::size_t step = far % stride == 0 ? 1 : stride;
    for (std::size_t i = 0, slot = 0; i < far; ++i, slot = (slot + step) % far) timers.cancel(lane, slot);
  }

  std::size_t far;   ///< per lane
  std::size_t near;  ///< per lane
  Timers timers;
  std::vector<std::uint64_t> late_ns;
  std::vector<lane_state> in;
  std::atomic<std::size_t> lanes_done{0};
  std::uint64_t set_began_ns = 0;
  std::uint64_t fire_began_ns = 0;
  std::uint64_t cancel_began_ns = 0;
  process_usage used_before;
  process_usage used_by_fires;
};

template <class Timers>
int many_timers(const request& asked) {
  using run_type = timers_run<Timers>;
  run_type run{asked.workers, asked.size(1'000'000, run_type::lanes)};
  report out{asked, "w11"};
  run.timers.run([&run] { run.start(); });
  const std::uint64_t ended_ns = now_ns();
  const auto far = static_cast<double>(run.far * run_type::lanes);
  const auto near = static_cast<double>(run.near * run_type::lanes);
  std::size_t fired = 0;
  std::size_t early = 0;
  for (const auto& lane : run.in) {
    fired += lane.fired;
    early += lane.early;
  }
  check_count(fired, run.near * run_type::lanes, "timers fired");
  check_count(early, 0, "timers fired early");
  std::sort(run.late_ns.begin(), run.late_ns.end());
  const auto late_us = [&run](double share) {
    const auto last = static_cast<double>(run.late_ns.size() - 1);
    return static_cast<double>(run.late_ns[static_cast<std::size_t>(last * share)]) / 1e3;
  };
  out.add("timers", far);
  out.add("fired", near);
  out.add("ns_per_set", static_cast<double>(run.fire_began_ns - run.set_began_ns) / far);
  out.add("ns_per_cancel", static_cast<double>(ended_ns - run.cancel_began_ns) / far);
  out.add("cpu_ns_per_fire", run.used_by_fires.cpu_s() * 1e9 / near);
  out.add("late_us_median", late_us(0.5));
  out.add("late_us_p99", late_us(0.99));
  out.add("late_us_max", late_us(1));
  out.add("fired_early", static_cast<double>(early));
  out.print();
  return 0;
}

}  // namespace bench
