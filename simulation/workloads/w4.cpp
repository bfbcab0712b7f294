// W4 (docs/papers.md) on simulated cores. Size: virtual ns.
#include "bench/w4_unbalanced/workload.h"

#include "simulation/lanes.h"
#include "simulation/program.h"

namespace bench {

/// As measured: short spins end at the first look at the counter that is late enough, long ones take what they take.
template <template <class> class Lanes>
simulation::picoseconds time_of(const spin_event<Lanes>& e) {
  const std::uint32_t cycles = e.run->cycles[e.index];
  const simulation::constants& on = simulation::handler_constants();
  return cycles == 100 ? on.ps("spin_100_cycles_ns") : on.ps("spin_20000_cycles_ns") * cycles / 20'000;
}

}  // namespace bench

int main(int argc, char** argv) {
  const simulation::order what{argc, argv};
  return simulation::simulate("w4", what, [&] {
    const auto run = std::make_unique<bench::unbalanced_run<simulation::strand_lanes>>(what.asked(), what.size);
    run->lanes.run([&run] { run->start_round(); });
    const auto events = static_cast<double>(run->rounds * bench::round_events);
    const auto took_ns = static_cast<double>(run->ended_ns - run->started_ns - run->placing_ns);
    simulation::figures found{{"events", events}, {"kilo_events_per_s", events / took_ns * 1e6}};
    simulation::add_counters(found, run->lanes.counters());
    return found;
  });
}
