#pragma once
/// What one worker has for itself.

#include <cstdint>
#include <source_location>
#include <tartan/core/event.h>

#include "core/line_pool.h"
#include "core/memory.h"
#include "core/sleep/pace.h"
#include "core/sleep/poller.h"
#include "core/sleep/search_budget.h"

namespace tartan::detail {

class default_poster;
class runtime_state;

/// A number that one thread counts and others may read.
class counter {
 public:
  void add(std::uint64_t n = 1) noexcept { value_.store(get() + n, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  real_memory::atomic<std::uint64_t> value_{0};
};

/// One worker. Threads: its own, but for what is marked as shared.
struct alignas(128) worker : thread_context {
  worker(runtime_state& rt, unsigned number) noexcept : index{number} { owner = &rt; }

  unsigned index;

  /// Of colors; `turns` counts each batch of a color that has a backlog.
  [[nodiscard]] std::uint64_t whole_turns() const noexcept { return turns.get() - more_batches; }

  /// Whether what it posts may wait for long behind what it does.
  [[nodiscard]] bool is_busy() const noexcept { return in_event || in_hook; }

  line_cache event_lines;
  line_cache queue_lines;

  void* running_queue = nullptr;                ///< in a turn of the default scheduler: the queue of the color that runs; else null
  default_poster* poster = nullptr;             ///< that scheduler's, while running_queue is not null
  bool searching = false;                       ///< counted as a searcher in the idle set
  int credits = 0;                              ///< events until the next look at the clock and outside
  real_memory::atomic<std::uint32_t> signals_blocked{0};  ///< the last lifecycle::block_signals that it has followed; read by who asks
  bool resigns = false;                         ///< it is about to leave: under lifecycle's threads_lock_, but for itself
  bool in_hook = false;                         ///< options.on_worker_start or on_worker_stop, for as long as that takes
  bool beside = false;                          ///< while the runtime is paused: sleeps where no readiness comes
  unsigned watch_left = 0;                      ///< rests to spend as watcher although nothing was declined
  bool posts_readiness = false;                 ///< just now
  bed rests_in = bed::token;                    ///< in its rest
  bool spreads = false;                         ///< has found what waits behind long events: wakes two others, if there is more of it
  bool calls_for_victim = false;                ///< of what waits there it has taken half
  bool left_behind = false;                     ///< what it has posted waits at workers that sleep, and it has called none of them
  bool was_missed = false;                      ///< as guard it has got up, because nobody looked
  std::uint64_t events_at_miss = 0;             ///< its own, then
  bool polls_next = false;                      ///< in its last rest it has seen that all slept and nobody polled
  bool passes_over = false;                     ///< colors of a higher level wait: the turns of others come seldom
  std::uint64_t more_batches = 0;               ///< in a turn, beyond the first
  pace turn_pace;                               ///< while there is a guard
  search_budget searches;                       ///< how long it looks around before it sleeps
  std::uint64_t deferred_deadline = never_ns;   ///< earliest timer set in its own color in this turn

  // Shared: written by this worker, read by others as hints.
  alignas(64) counter events;
  counter turns;
  counter follow_ups;  ///< turns that made a color runnable here, be it their own once more
  counter steals;
  counter stolen_colors;
  counter wakes;
  counter sleeps;
  counter io_waits;  ///< operations that have begun to wait on this worker, less those that have ended on it
  counter roots;     ///< spawned coroutines that were made here, less those whose last reference went here
  counter objects;   ///< the same for timers, batches and task groups
  real_memory::atomic<std::uint32_t> left_in_batch{0};  ///< with turns: a number for each event
  real_memory::atomic<bool> in_turn{false};
  real_memory::atomic<bool> has_left{false};    ///< its thread ends, and touches nothing any more: release by it, or by who starts it anew
  real_memory::atomic<std::uint32_t> wants_help{0};  ///< so many workers were called to take part of its line, and whether they call others: a hint
  // For the guard, while there is one; by the runtime's clock.
  real_memory::atomic<std::uint64_t> looked_ns{0};  ///< when it last looked at what is ready
  real_memory::atomic<std::uint64_t> oldest_ns{0};  ///< nothing that waits here has come before
  real_memory::atomic<polling> how_it_polls{polling::never};  ///< in its rest. Written before it says that it sleeps
};

}  // namespace tartan::detail
