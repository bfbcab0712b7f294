// W10 (docs/papers.md) on simulated cores. Size: tasks.
#include "bench/w10_table_2/workload.h"

#include "simulation/lanes.h"
#include "simulation/program.h"

namespace bench {

template <template <class> class Lanes>
simulation::picoseconds time_of(const small_task<Lanes>&) {
  return simulation::handler_constants().ps("w10_task_ns");
}

}  // namespace bench

int main(int argc, char** argv) {
  const simulation::order what{argc, argv};
  return simulation::simulate("w10", what, [&] {
    using run_type = bench::table_2_run<simulation::strand_lanes>;
    const auto run = std::make_unique<run_type>(what.setup.workers, what.setup.stealing);
    const std::size_t each = what.size / run_type::colors;
    run->place_all();
    run->lanes.run([&run, each] { run->start(each); });
    const auto tasks = static_cast<double>(each * run_type::colors);
    simulation::figures found{{"tasks", tasks}, {"tasks_per_s", tasks / run->ends.took_ns() * 1e9}};
    simulation::add_counters(found, run->lanes.counters());
    return found;
  });
}
