#pragma once
// W10: what do queues per worker bring, and stealing on top? 16 colors; each event does little and posts its successor in the same color.
// The colors are chosen so that one worker starts with none.
// Source: libasync-smp (USENIX 2003), table 2, with 4 workers.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "bench/harness/all_ran.h"
#include "bench/harness/chain_ends.h"
#include "bench/harness/churn.h"
#include "bench/harness/report.h"
#include "bench/harness/request.h"
#include "bench/harness/verdict.h"

namespace bench {

template <template <class> class Lanes>
struct table_2_run;

template <template <class> class Lanes>
struct small_task {
  table_2_run<Lanes>* run;
  std::size_t lane;
  std::size_t left;
  std::uint64_t x;
  std::size_t payload = 0;

  void operator()();
};

template <template <class> class Lanes>
struct table_2_run {
  static constexpr std::size_t colors = 16;
  static constexpr std::size_t steps = 64;  ///< of the small amount of computation: some 80 ns

  table_2_run(unsigned workers, bool stealing)
      : homes{workers},
        lanes{{.workers = workers,
               .lanes = lane_of(colors - 1) + 1,
               .fed_from_outside = false,
               .stealing = stealing,
               .pin_first = true}} {}

  /// Of the lanes 0, 1, 2, ... those that would be homed on the last worker are left out. Schedulers that home a color by its number
  /// modulo workers, as the paper's does, leave one worker empty, too.
  [[nodiscard]] std::size_t lane_of(std::size_t color) const {
    return homes == 1 ? color : color / (homes - 1) * homes + color % (homes - 1);
  }
  void place_all() {
    if constexpr (requires { lanes.place(0, 0u); }) {
      for (std::size_t i = 0; i < colors; ++i) lanes.place(lane_of(i), static_cast<unsigned>(lane_of(i) % homes));
    }
  }
  void start(std::size_t tasks_per_color) {
    ends.start();
    for (std::size_t i = 0; i < colors; ++i) {
      lanes.post(lane_of(i), small_task<Lanes>{this, lane_of(i), tasks_per_color, i});
    }
  }
  void chain_ended(std::uint64_t x) {
    results.fetch_add(x, std::memory_order_relaxed);
    ends.one_ended();
  }
  [[nodiscard]] bool is_right(std::size_t tasks_per_color) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < colors; ++i) sum += churn_result(i, tasks_per_color * steps);
    return results.load() == sum;
  }

  unsigned homes;
  Lanes<small_task<Lanes>> lanes;
  chain_ends ends{colors};
  std::atomic<std::uint64_t> results{0};
};

template <template <class> class Lanes>
void small_task<Lanes>::operator()() {
  x = churn_alone(x, table_2_run<Lanes>::steps);
  if (--left == 0) {
    run->chain_ended(x);
  } else {
    run->lanes.post(lane, *this);
  }
}

template <template <class> class Lanes>
int table_2(const request& asked) {
  using run_type = table_2_run<Lanes>;
  const std::size_t tasks = asked.size(2'000'000, run_type::colors);
  run_type run{asked.workers, !asked.is("no_steal")};
  run.place_all();
  report out{asked, "w10"};
  run.lanes.run([&run, tasks] { run.start(tasks / run_type::colors); });
  run.ends.check();
  check_all_ran(run.lanes, tasks);
  if (!run.is_right(tasks / run_type::colors)) return wrong_result(asked, "not every task ran once");
  const double took_ns = run.ends.took_ns();
  out.add("tasks", static_cast<double>(tasks));
  out.add("tasks_per_s", static_cast<double>(tasks) / took_ns * 1e9);
  out.add("ns_per_task", took_ns / static_cast<double>(tasks));
  run.ends.tell(out);
  add_own_figures(run.lanes, out);
  out.print();
  return 0;
}

}  // namespace bench
