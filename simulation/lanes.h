#pragma once
// Tartan's strands for the workloads of bench/, on simulated cores.

#include <chrono>
#include <cstddef>
#include <tartan/core/hints.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <utility>
#include <vector>

#include "bench/harness/annotation.h"
#include "bench/harness/request.h"
#include "bench/lanes/strand_placement.h"
#include "simulation/handler.h"
#include "simulation/poller.h"
#include "simulation/program.h"

namespace simulation {

/// As bench::tartan_strand.
template <class Event>
class strand_lanes {
 public:
  static constexpr bool by_value = false;

  explicit strand_lanes(const bench::lanes_setup& setup) : rt_{options_for(setup, sleeps_)}, tells_{setup.tells} {
    strands_.reserve(setup.lanes);
    for (std::size_t n = 0; n < setup.lanes; ++n) strands_.emplace_back(rt_);
  }

  void post(std::size_t lane, const Event& e) {
    const runtime_scope posts;
    tartan::strand& to = strands_[lane];
    if constexpr (requires { e.told(); }) {
      if (tells_) return static_cast<void>(to.post(annotated(e)));
    }
    to.post(timed{e});
  }
  template <class F>
  void on_first_worker(F f) {
    const runtime_scope posts;
    rt_.post(std::move(f));
  }
  template <class F>
  void run(F start) {
    rt_.post(std::move(start));
    rt_.run_until_idle();
  }
  void place(std::size_t lane, unsigned worker) { bench::place_strand(rt_, strands_[lane], worker); }

  [[nodiscard]] tartan::runtime_counters counters() const { return rt_.counters(); }

 private:
  /// The event, in the time that it takes on the simulated machine.
  struct timed {
    Event what;

    void operator()() {
      if constexpr (requires { what.told(); }) {
        const std::uint64_t kind = what.told().cost_ns;
        const handler_scope takes{time_of(what)};
        what();
        if (penalties_by_lines()) note_lines(kind, takes.lines_read());
      } else {
        const handler_scope takes{time_of(what)};
        what();
      }
    }
  };

  static auto annotated(const Event& e) {
    const bench::annotation told = e.told();
    const unsigned penalty = penalties_by_lines() ? penalty_by_lines(told.cost_ns) : told.penalty;
    return tartan::with_hints({.cost = std::chrono::nanoseconds{told.cost_ns}, .penalty = penalty}, timed{e});
  }

  static tartan::options options_for(const bench::lanes_setup& setup, virtual_poller& sleeps) {
    tartan::options with;
    with.workers = setup.workers;
    with.stealing = setup.stealing;
    with.pin_default_color = setup.pin_first;
    with.bind_workers = true;
    with.stall_after = std::chrono::nanoseconds{0};
    with.poller = &sleeps;
    return with;
  }

  virtual_poller sleeps_;
  tartan::runtime rt_;
  std::vector<tartan::strand> strands_;
  const bool tells_;
};

}  // namespace simulation
