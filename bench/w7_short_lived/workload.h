#pragma once
// W7: short-lived colors. One lane makes others, 16 in each of its events; each gets 3 events and is gone.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "bench/harness/all_ran.h"
#include "bench/harness/clock.h"
#include "bench/harness/delay_samples.h"
#include "bench/harness/report.h"
#include "bench/harness/request.h"

namespace bench {

template <template <class> class Lanes>
struct short_lived_run;

/// The maker, or one of the three.
template <template <class> class Lanes>
struct brief_event {
  short_lived_run<Lanes>* run;
  std::size_t left;  ///< to be made by the maker; 0: one of the three
  delay_sample* sample = nullptr;
  std::array<std::size_t, 2> payload{};

  void operator()() {
    if (left != 0) return run->make(left);
    if (sample != nullptr) sample->end();  // the last of the three stays
  }
};

template <template <class> class Lanes>
struct short_lived_run {
  static constexpr std::size_t at_once = 16;

  short_lived_run(unsigned workers, bool stealing, std::size_t colors)
      : lanes{{.workers = workers, .lanes = 1, .fed_from_outside = false, .stealing = stealing, .pin_first = false}},
        samples{colors, 997} {}

  void make(std::size_t left) {
    for (std::size_t i = 0; i < at_once; ++i) lanes.post_fresh(brief_event<Lanes>{this, 0, samples.at_post()});
    if (left > at_once) lanes.post(0, brief_event<Lanes>{this, left - at_once});
  }

  /// In one go, or in rounds for lanes that cannot end while the graph runs.
  void run(std::size_t colors) {
    if constexpr (requires { lanes.drop_fresh(); }) {
      constexpr std::size_t round = 625 * at_once;
      for (std::size_t made = 0; made < colors; made += round) {
        lanes.run([this, n = std::min(round, colors - made)] { lanes.post(0, brief_event<Lanes>{this, n}); });
        lanes.drop_fresh();
      }
    } else {
      lanes.run([this, colors] { lanes.post(0, brief_event<Lanes>{this, colors}); });
    }
  }

  Lanes<brief_event<Lanes>> lanes;
  delay_samples samples;  ///< the maker's
};

template <template <class> class Lanes>
int short_lived(const request& asked) {
  using run_type = short_lived_run<Lanes>;
  const std::size_t colors = asked.size(1'000'000, run_type::at_once);
  run_type run{asked.workers, !asked.is("no_steal"), colors};
  report out{asked, "w7"};
  const std::uint64_t started_ns = now_ns();
  run.run(colors);
  const std::uint64_t ended_ns = now_ns();
  check_all_ran(run.lanes, 3 * colors + colors / run_type::at_once);
  out.add("colors", static_cast<double>(colors));
  out.add("ns_per_color", static_cast<double>(ended_ns - started_ns) / static_cast<double>(colors));
  run.samples.tell(out);
  add_own_figures(run.lanes, out);
  out.print();
  return 0;
}

}  // namespace bench
