#pragma once
/// All clients, from the first connection to the last.

#include <tartan/core/channel.h>
#include <tartan/core/runtime.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/task.h>
#include <tartan/core/task_group.h>

#include <cstdint>

#include "load/client.h"
#include "load/measure.h"
#include "load/plan.h"
#include "load/result.h"
#include "load/settings.h"

namespace load {

/// The steps of a load: its conductor calls them in this order.
///
/// Color: the default color, all of it.
class injector {
 public:
  /// Clients have numbers from `first` on. Errors: std::invalid_argument.
  injector(tartan::runtime& rt, const load_settings& of, std::uint64_t first = 0);

  /// Starts the clients, which ask as soon as they are connected, and waits until each has tried to connect; 10 s at most.
  tartan::task<> start();

  /// From here on answers count, also those to requests that were sent before.
  void begin();

  /// Until the time is up, or as many answers have come as were wanted, or none that was right for twice as long as one may take.
  /// False: it was canceled before.
  tartan::task<bool> wait_for_end();

  /// From here on nothing counts. Twice is as good as once.
  void end();

  /// Takes the clients back.
  tartan::task<> finish();

  [[nodiscard]] bool is_measuring() const noexcept { return counts_.has_begun() && !counts_.is_over(); }
  [[nodiscard]] measure::glance so_far() const noexcept { return counts_.so_far(); }
  [[nodiscard]] const load_settings& settings() const noexcept { return settings_; }

  /// While the runtime does not run.
  [[nodiscard]] load_result result();

 private:
  tartan::task<> run_client(std::uint64_t number);
  tartan::task<bool> wait_for_answers();

  const load_settings settings_;
  tartan::runtime& rt_;
  const std::uint64_t first_;
  plan pages_;
  measure counts_;
  tartan::semaphore connects_;
  load_state state_;
  tartan::channel<bool> all_here_{tartan::capacity{1}};
  tartan::channel<bool> complete_{tartan::capacity{1}};
  std::uint64_t arrived_ = 0;
  bool has_ended_ = false;
  tartan::task_group clients_;
  double cpu_s_ = 0;
  std::uint64_t involuntary_switches_ = 0;
  load_result sums_;  ///< of the clients that have ended
};

}  // namespace load
