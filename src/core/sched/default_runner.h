#pragma once
/// Running events, by the default scheduler: a worker's turns.

#include <vector>

#include "core/sched/default_giver.h"
#include "core/sched/default_poster.h"
#include "core/sched/default_state.h"

namespace tartan::detail {

/// Uses the poster, and the giver where a worker has too much to do.
///
/// Threads: worker w.
class default_runner : default_part {
 public:
  default_runner(default_state& shared, default_poster& poster, default_giver& giver);

  /// As scheduling_policy has it.
  bool turn(worker& w);

 private:
  class backlog;

  struct alignas(64) notes {
    unsigned looks_put_off = 0;  ///< in a row, for what is more urgent
  };

  [[nodiscard]] color_queue* next(home& h, color_queue* done) noexcept;
  void look(worker& w);
  void run_batch(worker& w, color_queue& q, backlog& seen, unsigned most);
  [[nodiscard]] unsigned run_events(worker& w, color_queue& q, backlog& seen, unsigned left);
  static void step_out(worker& w) noexcept;
  void serve_backlog(worker& w, color_queue& q, backlog& seen);
  [[nodiscard]] bool ended(worker& w, color_queue& q) noexcept;

  default_poster& poster_;
  default_giver& giver_;
  const unsigned batch_;          ///< of events, in a turn
  const unsigned longest_batch_;  ///< of those that were there when the turn began
  const unsigned poll_level_;
  std::vector<notes> notes_;  ///< each its worker's own
};

}  // namespace tartan::detail
