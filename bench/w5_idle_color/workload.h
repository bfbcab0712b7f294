#pragma once
// W5: what does a color weigh? A million lanes are made, each is used once, all are idle.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

#include "bench/harness/all_ran.h"
#include "bench/harness/process.h"
#include "bench/harness/report.h"
#include "bench/harness/request.h"

namespace bench {

template <template <class> class Lanes>
struct idle_run;

template <template <class> class Lanes>
struct touch_event {
  idle_run<Lanes>* run;
  std::array<std::size_t, 4> payload{};
  void operator()() { run->touched(); }
};

/// A thousand at a time, so that pools of pending events do not count as the weight of idle colors.
template <template <class> class Lanes>
struct idle_run {
  static constexpr std::size_t at_once = 1000;

  idle_run(unsigned workers, std::size_t colors)
      : lanes{{.workers = workers, .lanes = at_once, .fed_from_outside = false, .stealing = true, .pin_first = false}},
        count{colors} {}

  /// The first thousand are there from the start: what they need is not counted, nor is what everything else needs.
  void start() { post_next(); }
  void post_next() {
    const std::size_t first = posted;
    posted += at_once;
    pending.store(at_once, std::memory_order_relaxed);
    for (std::size_t i = 0; i < at_once; ++i) lanes.post(first + i, touch_event<Lanes>{this});
  }
  void touched() {
    if (pending.fetch_sub(1, std::memory_order_acq_rel) != 1) return;  // pairs with itself
    if (posted == at_once) {
      before_bytes = resident_bytes();
      lanes.add(count);
    }
    if (posted == at_once + count) {
      after_bytes = resident_bytes();
    } else {
      post_next();
    }
  }

  Lanes<touch_event<Lanes>> lanes;
  std::size_t count;
  std::size_t posted = 0;
  std::size_t before_bytes = 0;
  std::size_t after_bytes = 0;
  alignas(64) std::atomic<std::size_t> pending{0};
};

template <template <class> class Lanes>
int idle_color(const request& asked) {
  using run_type = idle_run<Lanes>;
  const std::size_t colors = asked.size(1'000'000, run_type::at_once);
  run_type run{asked.workers, colors};
  report out{asked, "w5"};
  run.lanes.run([&run] { run.start(); });
  check_all_ran(run.lanes, run_type::at_once + colors);
  const std::size_t grown = run.after_bytes - std::min(run.after_bytes, run.before_bytes);
  out.add("colors", static_cast<double>(colors));
  out.add("bytes_per_color", static_cast<double>(grown) / static_cast<double>(colors));
  add_own_figures(run.lanes, out);
  out.print();
  return 0;
}

}  // namespace bench
