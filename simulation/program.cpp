#include "simulation/program.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "bench/harness/annotation.h"
#include "core/sched/papers/scheduler_choice.h"
#include "simulation/handler.h"
#include "simulation/queue_steps.h"
#include "simulation/sequencer.h"

namespace simulation {

namespace {

constexpr const char* by_lines = "color_queues:lines-penalty";

const constants* constants_now = nullptr;
bool tells_lines = false;

std::string name_of(const std::string& file) {
  const std::size_t begin = file.rfind('/') + 1;
  return file.substr(begin, file.rfind('.') - begin);
}

/// What the runtime calls it. Ends the program if there is none of that name: figures of another one would stand under it.
const char* scheduler_of(const std::string& name) {
  if (name == "default:no-stealing" || name == "default:told") return "default";
  if (name == by_lines) return "color_queues:penalty";
  try {
    static_cast<void>(tartan::detail::scheduler_choice::parse(name, "simulation"));
  } catch (const std::invalid_argument& e) {
    std::exit((std::fprintf(stderr, "%s; and here default:no-stealing, default:told and %s\n", e.what(), by_lines), 2));
  }
  return name.c_str();
}

/// The price of an access that hits: what the measured steps took, by the accesses that they make.
picoseconds hit_of(const constants& from) {
  machine free_of_charge{from};
  sequencer one{free_of_charge};
  std::uint64_t accesses = 0;
  one.run([&] {
    const auto steps = std::make_unique<queue_steps>();
    steps->once();
    const std::uint64_t before = one.current().accesses;
    steps->once();
    accesses = one.current().accesses - before;
  });
  return static_cast<picoseconds>(from.at("queue_steps_ns") * 1000 / static_cast<double>(accesses));
}

void print(const char* question, const order& what, const figures& found) {
  std::printf("{\"simulated\": true, \"question\": \"%s\", \"machine\": \"%s\", \"scheduler\": \"%s\", \"workers\": %u", question,
              what.machine_name.c_str(), what.scheduler.c_str(), what.setup.workers);
  for (const auto& [name, value] : found) std::printf(", \"%s\": %.9g", name.c_str(), value);
  std::printf("}\n");
}

}  // namespace

order::order(int argc, char** argv)
    : on{argc > 4 ? argv[1] : (std::fprintf(stderr, "usage: %s <constants> <scheduler> <workers> <size> [name=number ...]\n", argv[0]),
                               std::exit(2), "")},
      machine_name{name_of(argv[1])},
      scheduler{argv[2]} {
  setup.workers = static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10));
  size = std::strtoul(argv[4], nullptr, 10);
  for (int n = 5; n < argc; ++n) {
    const std::string each{argv[n]};
    const std::size_t equals = each.find('=');
    if (equals == std::string::npos) std::exit((std::fprintf(stderr, "%s: %s is no name=number\n", argv[0], argv[n]), 2));
    on.set(each.substr(0, equals), std::strtod(each.c_str() + equals + 1, nullptr));
  }
  if (setup.workers == 0 || setup.workers > on.at("cores")) {
    std::exit((std::fprintf(stderr, "%s: 1 to %u workers, one for each core\n", argv[0], static_cast<unsigned>(on.at("cores"))), 2));
  }
  setup.stealing = scheduler != "default:no-stealing";
  setup.tells = scheduler == "default:told" || bench::asks_for_costs(scheduler.c_str());
  ::setenv("TARTAN_SCHEDULER", scheduler_of(scheduler), 1);
}

bench::request order::asked() const {
  std::string words[] = {machine_name, std::to_string(setup.workers), "1", setup.tells ? "told" : setup.stealing ? "" : "no_steal"};
  char* each[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data()};
  return {4, each, "simulation"};
}

const constants& handler_constants() noexcept { return *constants_now; }
bool penalties_by_lines() noexcept { return tells_lines; }

void add_counters(figures& to, const tartan::runtime_counters& seen) {
  to.emplace_back("steals", static_cast<double>(seen.steals));
  to.emplace_back("stolen_colors", static_cast<double>(seen.stolen_colors));
  to.emplace_back("wakes", static_cast<double>(seen.wakes));
}

int simulate(const char* question, const order& what, const std::function<figures()>& workload) {
  constants_now = &what.on;
  tells_lines = what.scheduler == by_lines;
  machine on{what.on};
  on.hit = hit_of(what.on);
  sequencer all{on};
  figures found;
  double misses = 0;
  all.run([&] {
    found = workload();
    for (unsigned n = 0; n < on.cores; ++n) misses += static_cast<double>(all.at(n).misses);
  });
  add_lines(found);
  found.emplace_back("misses", misses);
  found.emplace_back("checked", static_cast<double>(events_checked()));
  print(question, what, found);
  return 0;
}

}  // namespace simulation
