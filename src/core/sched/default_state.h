#pragma once
/// What the parts of the default scheduler share; docs/design/scheduler.md is the map.

#include <memory>

#include "core/sleep/sleep_control.h"
#include "core/runtime_state.h"
#include "core/sched/queue_store.h"

namespace tartan::detail {

/// The homes of all workers and the color queues. It outlives all parts.
struct default_state {
  explicit default_state(runtime_state& runtime)
      : rt{runtime},
        life{runtime.sleep()},
        workers{runtime.workers()},
        stealing{runtime.settings().stealing && runtime.workers() > 1},
        queues{runtime},
        homes{std::make_unique<home[]>(runtime.workers())} {
    for (unsigned n = 0; n < workers; ++n) homes[n].index = n;
    if (runtime.settings().pin_default_color) homes[0].pin = &queues.default_color();
  }

  runtime_state& rt;
  sleep_control& life;
  const unsigned workers;
  const bool stealing;
  queue_store queues;
  std::unique_ptr<home[]> homes;  ///< by worker
};

/// The base of a part: its way to the shared state. These are references and constants, copied from the state once,
/// so that a post or a turn reaches a home with one load.
class default_part {
 protected:
  explicit default_part(default_state& shared) noexcept
      : rt_{shared.rt},
        life_{shared.life},
        queues_{shared.queues},
        homes_{shared.homes.get()},
        workers_{shared.workers},
        stealing_{shared.stealing} {}

  runtime_state& rt_;
  sleep_control& life_;
  queue_store& queues_;
  home* const homes_;
  const unsigned workers_;
  const bool stealing_;
};

}  // namespace tartan::detail
