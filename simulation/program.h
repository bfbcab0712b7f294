#pragma once
// What the programs of all simulated workloads have in common: the command line, the machine, and one line of JSON.

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/request.h"
#include "simulation/machine.h"
#include <tartan/core/runtime.h>

namespace simulation {

/// What is simulated. Command line: <constants> <scheduler> <workers> <size> [name=number ...]. Besides what options.scheduler knows:
/// "default:no-stealing"; "default:told", whose events tell what they cost; and "color_queues:lines-penalty", which is color_queues:penalty with
/// penalties that come from the lines that a handler reads (handler.h), and not from the workload.
struct order {
  order(int argc, char** argv);

  /// The same, as the programs of bench/ have it.
  [[nodiscard]] bench::request asked() const;

  constants on;
  std::string machine_name;
  std::string scheduler;
  bench::lanes_setup setup;
  std::size_t size = 0;  ///< virtual ns, or events, as the workload has it
};

/// A figure and its name.
using figures = std::vector<std::pair<std::string, double>>;

/// Figures that all workloads have: what the runtime counts.
void add_counters(figures& to, const tartan::runtime_counters& seen);

/// How many lines handlers of each kind have read on average, where penalties come from that; else nothing.
void add_lines(figures& to);

/// Runs the workload on core 0 of the machine, and prints its figures. Gives what main returns.
int simulate(const char* question, const order& what, const std::function<figures()>& workload);

/// Constants of the handlers, for time_of(event). Valid within simulate().
[[nodiscard]] const constants& handler_constants() noexcept;

/// Whether the workload's events tell the penalty that their lines make. Valid within simulate().
[[nodiscard]] bool penalties_by_lines() noexcept;

}  // namespace simulation
