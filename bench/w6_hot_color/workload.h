#pragma once
// W6: is one hot color served as fast as it can be, and who pays? 256 events of 2 us are outstanding, half of them in one color, half
// spread over 1000 others; each posts its successor when it ends.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>
#include <x86intrin.h>

#include "bench/harness/all_ran.h"
#include "bench/harness/churn.h"
#include "bench/harness/clock.h"
#include "bench/harness/report.h"
#include "bench/harness/request.h"
#include "bench/harness/verdict.h"
#include "bench/w6_hot_color/ideal_schedule.h"

namespace bench {

template <template <class> class Lanes>
struct hot_color_run;

/// One of a chain; chains with an even number stay in the hot color, the others visit the cold ones.
template <template <class> class Lanes>
struct busy_event {
  hot_color_run<Lanes>* run;
  std::uint32_t chain;
  std::uint32_t step;
  std::uint64_t x;
  std::array<std::size_t, 2> payload{};

  void operator()() {
    x = run->work(chain, step, x);
    if (++step == run->steps) {
      run->results.fetch_add(x, std::memory_order_relaxed);
    } else {
      run->lanes.post(run->color_of(chain, step), *this);
    }
  }
};

template <template <class> class Lanes>
struct hot_color_run {
  static constexpr std::size_t chains = 256;
  static constexpr std::size_t cold_colors = 1000;
  static constexpr double share_of_hottest = 0.5;
  static constexpr double spin_ns = 2000;
  struct alignas(64) color_count {
    std::size_t events = 0;
    std::atomic<std::size_t> entered_by{0};
  };

  hot_color_run(unsigned workers, bool stealing, std::size_t steps_per_chain)
      : steps{steps_per_chain},
        lanes{{.workers = workers,
               .lanes = 1 + cold_colors,
               .fed_from_outside = false,
               .stealing = stealing,
               .pin_first = false}},
        in_color(1 + cold_colors),
        ended(chains * steps_per_chain) {}

  [[nodiscard]] static bool is_hot(std::size_t chain) { return chain % 2 == 0; }
  /// The cold ones in an order that nobody can foresee.
  [[nodiscard]] static std::size_t color_of(std::size_t chain, std::size_t step) {
    if (is_hot(chain)) return 0;
    return 1 + (churn((chain << 32) + step, 2) >> 32) % cold_colors;
  }

  /// The spin and what is kept of it. Each chain has one event under way, so who enters a color meanwhile writes another number.
  std::uint64_t work(std::size_t chain, std::size_t step, std::uint64_t x) {
    color_count& color = in_color[color_of(chain, step)];
    color.entered_by.store(chain, std::memory_order_relaxed);
    x = churn(x, churn_steps);
    ++color.events;
    if (color.entered_by.load(std::memory_order_relaxed) != chain) disturbed.store(true, std::memory_order_relaxed);
    ended[chain * steps + step] = __rdtsc();
    return x;
  }

  /// ns per event of the same spins in a plain loop on one thread.
  struct loop_time {
    double fastest_ns;  ///< of the rounds that fit into this time
    double mean_ns;     ///< of all: what the machine lets nobody escape
  };
  loop_time time_loop(std::uint64_t for_ns) {
    const std::size_t events = std::min<std::size_t>(steps, 500);
    const std::uint64_t start = now_ns();
    std::uint64_t fastest_ns = ~std::uint64_t{0};
    std::uint64_t x = 0;
    std::uint64_t last = start;
    std::size_t rounds = 0;
    for (std::uint64_t round = start; round - start < for_ns; ++rounds) {
      for (std::size_t i = 0; i < events; ++i) x = work(i % chains, i, x);
      asm volatile("" : "+r"(x));
      const std::uint64_t now = now_ns();
      fastest_ns = std::min(fastest_ns, now - round);
      round = last = now;
    }
    for (color_count& c : in_color) c.events = 0;
    std::fill(ended.begin(), ended.end(), 0);
    const auto each = static_cast<double>(events);
    return {static_cast<double>(fastest_ns) / each, static_cast<double>(last - start) / (each * static_cast<double>(rounds))};
  }

  void start() {
    started_ns = now_ns();
    started = __rdtsc();
    for (std::uint32_t i = 0; i < chains; ++i) lanes.post(color_of(i, 0), busy_event<Lanes>{this, i, 0, i});
  }

  [[nodiscard]] bool is_right() const {
    std::vector<std::size_t> expected(in_color.size());
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < chains; ++i) {
      sum += churn_result(i, steps * churn_steps);
      for (std::size_t step = 0; step < steps; ++step) ++expected[color_of(i, step)];
    }
    const auto same = [](const color_count& color, std::size_t events) { return color.events == events; };
    return results.load() == sum && !disturbed.load() &&
           std::equal(in_color.begin(), in_color.end(), expected.begin(), same);
  }

  std::size_t steps;
  std::size_t churn_steps = churn_steps_in(spin_ns);
  Lanes<busy_event<Lanes>> lanes;
  std::vector<color_count> in_color;
  std::vector<std::uint64_t> ended;  ///< by the cycle counter; also when the chain's next event was posted
  std::uint64_t started = 0;
  std::uint64_t started_ns = 0;
  std::atomic<std::uint64_t> results{0};
  std::atomic<bool> disturbed{false};
};

/// Delays in ns, from the post to the end of the event.
struct delays {
  explicit delays(std::vector<double> of) : sorted{std::move(of)} { std::sort(sorted.begin(), sorted.end()); }
  [[nodiscard]] double quantile(double q) const {
    return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
  }
  std::vector<double> sorted;
};

/// Those of the cold chains, as they were.
template <class Run>
delays cold_delays(const Run& run, double ns_per_cycle) {
  std::vector<double> all;
  for (std::size_t i = 0; i < Run::chains; ++i) {
    if (Run::is_hot(i)) continue;
    std::uint64_t posted = run.started;
    for (std::size_t step = 0; step < run.steps; ++step) {
      const std::uint64_t ended = run.ended[i * run.steps + step];
      all.push_back(static_cast<double>(ended - posted) * ns_per_cycle);
      posted = ended;
    }
  }
  return delays{std::move(all)};
}

/// As they would have been first in, first out: the same events in the same colors, each posted when the simulated one before it ends.
/// With the posts at the times of the real run it would say nothing: a run at 95 % of the bound posts so slowly that the ideal workers
/// have nothing waiting, and their p99 is the 2 us of an event.
template <class Run>
delays ideal_cold_delays(const Run& run, unsigned workers, double service_ns) {
  std::vector<double> all;
  ideal_schedule ideal{workers, service_ns, 1 + Run::cold_colors};
  for (std::size_t i = 0; i < Run::chains; ++i) ideal.post(0, i * run.steps, Run::color_of(i, 0));
  ideal.run([&](std::size_t event, double delay_ns, double at_ns) {
    const std::size_t chain = event / run.steps;
    const std::size_t next = event % run.steps + 1;
    if (!Run::is_hot(chain)) all.push_back(delay_ns);
    if (next < run.steps) ideal.post(at_ns, event + 1, Run::color_of(chain, next));
  });
  return delays{std::move(all)};
}

template <template <class> class Lanes>
int hot_color(const request& asked) {
  using run_type = hot_color_run<Lanes>;
  const std::size_t events = asked.size(256'000, run_type::chains);
  const auto run = std::make_unique<run_type>(asked.workers, !asked.is("no_steal"), events / run_type::chains);
  const auto loop = run->time_loop(asked.size(100'000'000));
  const double loop_ns = loop.fastest_ns;
  report out{asked, "w6"};
  run->lanes.run([&run] { run->start(); });
  const std::uint64_t last = *std::max_element(run->ended.begin(), run->ended.end());
  const double ns_per_cycle =
      static_cast<double>(now_ns() - run->started_ns) / static_cast<double>(__rdtsc() - run->started);
  check_all_ran(run->lanes, events);
  if (!run->is_right()) return wrong_result(asked, "not every event ran once and alone in its color");

  const double speed_up =
      static_cast<double>(events) * loop_ns / (static_cast<double>(last - run->started) * ns_per_cycle);
  const double bound = std::min(static_cast<double>(asked.workers), 1 / run_type::share_of_hottest);
  const delays real = cold_delays(*run, ns_per_cycle);
  const delays ideal = ideal_cold_delays(*run, asked.workers, loop_ns);
  out.add("events", static_cast<double>(events));
  out.add("speed_up", speed_up);
  out.add("share_of_bound", speed_up / bound);
  out.add("cold_p99_vs_ideal", real.quantile(0.99) / ideal.quantile(0.99));
  out.add("cold_us_median", real.quantile(0.5) / 1e3);
  out.add("cold_us_p99", real.quantile(0.99) / 1e3);
  out.add("cold_us_max", real.sorted.back() / 1e3);
  out.add("ideal_cold_us_p99", ideal.quantile(0.99) / 1e3);
  out.add("spin_ns", loop_ns);
  out.add("loop_share", loop.fastest_ns / loop.mean_ns);
  add_own_figures(run->lanes, out);
  out.print();
  return 0;
}

}  // namespace bench
