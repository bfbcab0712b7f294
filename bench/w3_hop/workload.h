#pragma once
// W3: what does a hop between lanes cost? 64 pairs; an event of A posts to B, which posts to A.

#include <array>
#include <cstddef>

#include "bench/harness/all_ran.h"
#include "bench/harness/chain_ends.h"
#include "bench/harness/report.h"
#include "bench/harness/request.h"

namespace bench {

template <template <class> class Lanes>
struct hop_run;

template <template <class> class Lanes>
struct hop_event {
  hop_run<Lanes>* run;
  std::size_t lane;
  std::size_t left;
  std::array<std::size_t, 2> payload{};

  void operator()() {
    if (--left == 0) {
      run->ends.one_ended();
    } else {
      lane ^= 1;
      run->lanes.post(lane, *this);
    }
  }
};

template <template <class> class Lanes>
struct hop_run {
  static constexpr std::size_t pairs = 64;

  hop_run(unsigned workers, bool stealing)
      : lanes{{.workers = workers,
               .lanes = 2 * pairs,
               .fed_from_outside = false,
               .stealing = stealing,
               .pin_first = false}} {}

  void start(std::size_t hops_per_pair) {
    ends.start();
    for (std::size_t i = 0; i < pairs; ++i) lanes.post(2 * i, hop_event<Lanes>{this, 2 * i, hops_per_pair});
  }
  /// A of each pair on one worker, B on the next.
  void home_apart(unsigned workers) {
    if constexpr (requires { lanes.place(0, 0u); }) {
      for (std::size_t i = 0; i < 2 * pairs; ++i) lanes.place(i, static_cast<unsigned>(i) % workers);
    }
  }

  Lanes<hop_event<Lanes>> lanes;
  chain_ends ends{pairs};
};

/// Variants: no_steal; apart (A and B homed on different workers, and stealing off so that they stay there).
template <template <class> class Lanes>
int hop(const request& asked) {
  using run_type = hop_run<Lanes>;
  const std::size_t events = asked.size(5'000'000, run_type::pairs);
  const bool apart = asked.is("apart");
  run_type run{asked.workers, !apart && !asked.is("no_steal")};
  if (apart) run.home_apart(asked.workers);
  report out{asked, "w3"};
  run.lanes.run([&run, events] { run.start(events / run_type::pairs); });
  run.ends.check();
  check_all_ran(run.lanes, events);
  out.add("events", static_cast<double>(events));
  out.add("ns_per_event", run.ends.took_ns() / static_cast<double>(events));
  run.ends.tell(out);
  add_own_figures(run.lanes, out);
  out.print();
  return 0;
}

}  // namespace bench
