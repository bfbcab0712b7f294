// Many events of each of a few colors wait one behind the other, and thieves come for these: a question to exclusion, and to no paper. Size: events.

#include <atomic>
#include <cstddef>
#include <memory>

#include "bench/harness/annotation.h"
#include "bench/harness/clock.h"
#include "simulation/lanes.h"
#include "simulation/program.h"

namespace {

struct crowd;

struct visitor {
  crowd* run;

  [[nodiscard]] bench::annotation told() const noexcept { return {100'000, 1}; }
  void operator()() const;
};

simulation::picoseconds time_of(const visitor&) { return 100'000'000; }

struct crowd {
  static constexpr std::size_t colors = 12;

  crowd(const bench::lanes_setup& setup, std::size_t events)
      : lanes{{.workers = setup.workers, .lanes = colors, .stealing = setup.stealing}}, left{events} {}

  simulation::strand_lanes<visitor> lanes;
  std::atomic<std::size_t> left;
  std::uint64_t ended_ns = 0;
};

void visitor::operator()() const {
  if (run->left.fetch_sub(1, std::memory_order_acq_rel) == 1) run->ended_ns = bench::now_ns();  // pairs with itself
}

}  // namespace

int main(int argc, char** argv) {
  const simulation::order what{argc, argv};
  return simulation::simulate("crowd", what, [&] {
    const auto run = std::make_unique<crowd>(what.setup, what.size);
    for (std::size_t lane = 0; lane < crowd::colors; ++lane) run->lanes.place(lane, 0);
    const std::uint64_t began_ns = bench::now_ns();
    run->lanes.run([&run, &what] {
      for (std::size_t n = 0; n < what.size; ++n) run->lanes.post(n * crowd::colors / what.size, visitor{run.get()});
    });
    const auto events = static_cast<double>(what.size);
    simulation::figures found{{"events", events}, {"ns_per_event", static_cast<double>(run->ended_ns - began_ns) / events}};
    simulation::add_counters(found, run->lanes.counters());
    return found;
  });
}
