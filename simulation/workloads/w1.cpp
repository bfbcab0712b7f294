// W1 (docs/benchmarks.md) on simulated cores. Size: events.
#include "bench/w1_event_cost/workload.h"

#include "simulation/lanes.h"
#include "simulation/program.h"

namespace bench {

/// It does nothing but post.
template <template <class> class Lanes>
simulation::picoseconds time_of(const chain_event<Lanes>&) {
  return 0;
}

}  // namespace bench

int main(int argc, char** argv) {
  const simulation::order what{argc, argv};
  return simulation::simulate("w1", what, [&] {
    using run_type = bench::event_cost_run<simulation::strand_lanes>;
    const auto run = std::make_unique<run_type>(what.setup.workers, what.setup.stealing);
    const std::size_t each = what.size / run_type::chains;
    run->lanes.run([&run, each] { run->start(each); });
    const auto events = static_cast<double>(each * run_type::chains);
    simulation::figures found{{"events", events}, {"ns_per_event", run->ends.took_ns() / events}};
    simulation::add_counters(found, run->lanes.counters());
    return found;
  });
}
