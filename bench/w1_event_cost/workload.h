#pragma once
// W1: what does an event cost? 64 lanes; each event posts its successor in the same lane.

#include <array>
#include <cstddef>

#include "bench/harness/all_ran.h"
#include "bench/harness/chain_ends.h"
#include "bench/harness/report.h"
#include "bench/harness/request.h"

namespace bench {

template <template <class> class Lanes>
struct event_cost_run;

/// 40 bytes, as many as a Tartan event holds without an allocation.
template <template <class> class Lanes>
struct chain_event {
  event_cost_run<Lanes>* run;
  std::size_t lane;
  std::size_t left;
  std::array<std::size_t, 2> payload{};

  void operator()() {
    if (--left == 0) {
      run->ends.one_ended();
    } else {
      run->lanes.post(lane, *this);
    }
  }
};

template <template <class> class Lanes>
struct event_cost_run {
  static constexpr std::size_t chains = 64;

  event_cost_run(unsigned workers, bool stealing)
      : lanes{{.workers = workers,
               .lanes = chains,
               .fed_from_outside = false,
               .stealing = stealing,
               .pin_first = false}} {}

  void start(std::size_t events_per_chain) {
    ends.start();
    for (std::size_t i = 0; i < chains; ++i) lanes.post(i, chain_event<Lanes>{this, i, events_per_chain});
  }

  Lanes<chain_event<Lanes>> lanes;
  chain_ends ends{chains};
};

template <template <class> class Lanes>
int event_cost(const request& asked) {
  using run_type = event_cost_run<Lanes>;
  const std::size_t events = asked.size(5'000'000, run_type::chains);
  run_type run{asked.workers, !asked.is("no_steal")};
  report out{asked, "w1"};
  run.lanes.run([&run, events] { run.start(events / run_type::chains); });
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
