#pragma once
/// Which scheduler a runtime has: the text of an option or of the environment, understood.

#include <cstdint>
#include <string_view>

namespace tartan {
struct options;
}

namespace tartan::detail {

enum class scheduler_kind : std::uint8_t { standard, serial, shared_queue, per_worker, color_queues };

/// `name` or `name:flag,flag`; docs/design/paper-schedulers.md lists them.
struct scheduler_choice {
  static constexpr unsigned most_first = 64;

  scheduler_kind kind = scheduler_kind::standard;
  unsigned first = 8;       ///< tasks that a pick weighs, at most
  bool stealing = true;
  bool free_lists = true;   ///< a task's memory comes from lists of each worker's; else from operator new
  bool most_frequent = false; ///< shared_queue: the color of which the most events wait goes first
  bool select = false;      ///< shared_queue, per_worker: descriptors are polled by select(), not by epoll
  bool figures = false;     ///< what the papers' evaluations print is counted, which costs some clock reads for each event
  bool time_left = false;   ///< color_queues: a thief takes what is worth a steal, longest first
  bool penalty = false;     ///< color_queues: and leaves what is penalized
  bool measured_penalty = false; ///< color_queues: and a handler is penalized by what it was measured to lose when its color moves
  bool locality = false;    ///< color_queues: and visits those first that share a cache with it

  /// What the option says, or, if it says nothing, the environment's TARTAN_SCHEDULER.
  ///
  /// Errors: std::invalid_argument, which names the option or the variable and lists what there is.
  [[nodiscard]] static scheduler_choice from(const options& with);

  /// `origin`: who says so, for the error.
  [[nodiscard]] static scheduler_choice parse(std::string_view text, std::string_view origin);

  friend bool operator==(const scheduler_choice&, const scheduler_choice&) = default;
};

}  // namespace tartan::detail
