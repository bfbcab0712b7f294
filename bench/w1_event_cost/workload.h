#pragma once
// W1: what does an event cost? 64 lanes; each event posts its successor in the same lane.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "bench/harness/all_ran.h"
#include "bench/harness/clock.h"
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
      run->chain_ended();
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
    started_ns = now_ns();
    for (std::size_t i = 0; i < chains; ++i) lanes.post(i, chain_event<Lanes>{this, i, events_per_chain});
  }
  void chain_ended() {
    const std::size_t before = ended.fetch_add(1, std::memory_order_relaxed);
    if (before == 0) first_end_ns = now_ns();
    if (before == chains - 1) last_end_ns = now_ns();
  }

  Lanes<chain_event<Lanes>> lanes;
  std::uint64_t started_ns = 0;
  std::uint64_t first_end_ns = 0;
  std::uint64_t last_end_ns = 0;
  std::atomic<std::size_t> ended{0};
};

template <template <class> class Lanes>
int event_cost(const request& asked) {
  using run_type = event_cost_run<Lanes>;
  const std::size_t events = asked.size(5'000'000, run_type::chains);
  run_type run{asked.workers, !asked.is("no_steal")};
  report out{asked, "w1"};
  run.lanes.run([&run, events] { run.start(events / run_type::chains); });
  check_count(run.ended.load(std::memory_order_relaxed), run_type::chains, "chains ended");
  check_all_ran(run.lanes, events);
  const auto took_ns = static_cast<double>(run.last_end_ns - run.started_ns);
  out.add("events", static_cast<double>(events));
  out.add("ns_per_event", took_ns / static_cast<double>(events));
  out.add("first_chain_ends_at", static_cast<double>(run.first_end_ns - run.started_ns) / took_ns);
  add_own_figures(run.lanes, out);
  out.print();
  return 0;
}

}  // namespace bench
