// W8 (docs/papers.md) on simulated cores. Size: virtual ns.
#include "bench/w8_penalty/workload.h"

#include "simulation/lanes.h"
#include "simulation/program.h"

namespace bench {

template <template <class> class Lanes>
simulation::picoseconds time_of(const penalty_event<Lanes>& e) {
  return simulation::handler_constants().ps(e.array == nullptr ? "w8_make_ns" : "w8_read_ns");
}

}  // namespace bench

int main(int argc, char** argv) {
  const simulation::order what{argc, argv};
  return simulation::simulate("w8", what, [&] {
    const auto run = std::make_unique<bench::penalty_run<simulation::strand_lanes>>(what.asked(), what.size);
    run->lanes.run([&run] { run->rounds.start(); });
    const auto events = static_cast<double>(run->rounds.parts() * bench::events_per_maker);
    simulation::figures found{{"events", events}, {"kilo_events_per_s", events / static_cast<double>(run->rounds.took_ns()) * 1e6}};
    simulation::add_counters(found, run->lanes.counters());
    return found;
  });
}
