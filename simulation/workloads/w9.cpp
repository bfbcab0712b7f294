// W9 (docs/papers.md) on simulated cores. Size: virtual ns.
#include "bench/w9_locality/workload.h"

#include "simulation/lanes.h"
#include "simulation/program.h"

namespace bench {

template <template <class> class Lanes>
simulation::picoseconds time_of(const locality_event<Lanes>& e) {
  const simulation::constants& on = simulation::handler_constants();
  switch (e.step) {
    case locality_step::make:
      return on.ps("w9_make_ns");
    case locality_step::sort:
      return on.ps("w9_sort_ns");
    case locality_step::merge:
      break;
  }
  return e.run->states[e.index].halves_sorted == 1 ? on.ps("w9_merge_ns") : 0;  // the first of two only counts
}

}  // namespace bench

int main(int argc, char** argv) {
  const simulation::order what{argc, argv};
  return simulation::simulate("w9", what, [&] {
    const auto run = std::make_unique<bench::locality_run<simulation::strand_lanes>>(what.asked(), what.size);
    run->lanes.run([&run] { run->rounds.start(); });
    const auto events = static_cast<double>(run->rounds.parts() * bench::events_per_maker);
    simulation::figures found{{"events", events}, {"kilo_events_per_s", events / static_cast<double>(run->rounds.took_ns()) * 1e6}};
    simulation::add_counters(found, run->lanes.counters());
    return found;
  });
}
