#pragma once
/// How a drain ended, and what it destroyed.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace tartan {

/// What a drain can destroy.
enum class work_kind : std::uint8_t {
  event,         ///< posted and not run
  timer,         ///< set and not fired, or fired and not run
  operation,     ///< on a descriptor, with a callback
  coroutine,     ///< spawned and not ended
  blocking_job,  ///< handed to the blocking threads and not begun
};

/// What was destroyed of one kind and from one place.
struct destroyed_work {
  work_kind kind = work_kind::event;
  std::size_t count = 0;
  std::source_location site;  ///< of the call that posted, set, began or spawned it; line 0: many other places together
  std::string waits_for{};    ///< of coroutines: as in waiting_coroutine; empty: it was about to run
};

/// How a drain ended.
///
/// Limits: `what` has up to 64 places, and one more entry for each kind beyond that. It is empty if there was no memory for it.
struct drained {
  bool complete = true;               ///< nothing was left
  std::size_t destroyed = 0;          ///< what was destroyed without being run to the end; a coroutine counts as one
  std::vector<destroyed_work> what{}; ///< the same by kind and place, in the order of work_kind
};

}  // namespace tartan
