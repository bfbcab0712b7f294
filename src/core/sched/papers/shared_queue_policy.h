#pragma once
/// libasync-mp: one queue for all workers.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tartan/core/color.h>
#include <tartan/core/event.h>

#include "core/memory.h"
#include "core/sched/papers/color_frequencies.h"
#include "core/sched/papers/paper_policy.h"
#include "core/sched/papers/select_task.h"
#include "core/sched/papers/timed_lock.h"
#include "core/sched/papers/two_part_queue.h"
#include "core/tuning.h"

namespace tartan::detail {

/// One list under one lock: posts left of I/O events; a worker takes, of the first few whose color runs nowhere, the one of the highest
/// weight.
///
/// With `most-frequent` (the thesis, 7.1: "callbacks that have the most frequently occurring color in the callback queue") a worker takes, of
/// the colors that run nowhere, the one with the most waiting events. Priorities still go first; the two parts and the worker's last color do
/// not count. Among equals, the color that has had its rank for the longest goes first. Cost: that of color_frequencies.h, and a look at each
/// color that runs.
///
/// Limits: memory.
/// Source: the libasync-mp thesis, chapters 3 and 4. Differences:
/// - A CPU callback goes to the left part only if none of its class waits in the right one: the thesis lets it overtake, which
///   contract 2 forbids. Classes are colors modulo 1024.
/// - CPU callbacks, the thesis' cpucb(), are all that neither readiness nor a timer makes: also coroutines that begin, or go on after another
///   one, ends of blocking jobs, and each event of a batch.
/// - The first N that are weighed are eligible ones, as in 3.4; N is 8. Of each color only the first task may be chosen, whatever its priority
///   (contract 8); a later one is one of the N, or one hot color would make every pick a walk.
/// - An event of color::unordered is in nobody's way.
/// - The select callback blocks only alone in the queue, and while color 0 runs nowhere, as in chapter 4. But then it holds no color, any post
///   ends it but one to a pinned color 0, which calls worker 0 alone, and it polls again after a rest and after 64 events of all workers
///   together (select_task.h).
/// - Who looks at timers the thesis does not tell: here who polls, and each worker that is about to sleep.
/// The memory of the queue's entries is operator new's: the base that libasync-smp's table 2 starts from. Events themselves are pooled, as with
/// all schedulers here. Idle workers sleep in poll() on a pipe each (futex_poller.h), but for the one that blocks for readiness.
class shared_queue_policy : public paper_policy<shared_queue_policy> {
 public:
  shared_queue_policy(runtime_state& rt, const scheduler_choice& choice);

  using paper_policy::submit;
  void submit(color where, event& e, worker* from) noexcept;
  void move_class_of(color /*where*/, unsigned /*worker_index*/) noexcept {}

  bool turn(worker& w);
  bool search(worker& w);
  static void look_ahead(const worker& /*w*/) noexcept {}
  void cover(worker& w) noexcept;
  [[nodiscard]] work_seen sources(const worker& w) noexcept;
  [[nodiscard]] polling polls_at_rest(const worker& w) const noexcept {
    return blocks_.load(std::memory_order_relaxed) == w.index ? polling::always : polling::never;
  }
  [[nodiscard]] std::size_t waiting(unsigned worker_index) const noexcept;
  [[nodiscard]] bool any_left() noexcept { return size_.load(std::memory_order_acquire) != 0; }  // pairs with submit
  std::size_t drop_all() noexcept;
  [[nodiscard]] scheduler_figures figures() const noexcept;

 private:
  template <class>
  friend struct policy_probe;  // tests'

  static constexpr std::size_t classes = 1024;
  static constexpr unsigned nobody = ~0u;

  /// What a worker runs, and ran last. Guarded by lock_.
  struct alignas(64) seat {
    std::uint64_t running = no_color;
    std::uint64_t last = no_color;
  };

  // With the lock held.
  [[nodiscard]] bool may_run(const task& t, const worker& w) const noexcept;
  [[nodiscard]] bool any_may_run(const worker& w) const noexcept;
  [[nodiscard]] task* pick(const worker& w, bool& more) noexcept;
  [[nodiscard]] task* pick_most_frequent(const worker& w, bool& more) noexcept;
  [[nodiscard]] bool is_queue_empty() const noexcept { return frequencies_ != nullptr ? frequencies_->empty() : queue_.empty(); }
  template <class F>
  [[nodiscard]] task* first_that(F is_it) const;
  void put(task& t);
  void take(task& t) noexcept;
  void wake_select(const worker& w) noexcept;
  void queue_select() noexcept;
  [[nodiscard]] bool may_block() const noexcept;

  [[nodiscard]] bool run_next(worker& w);
  void end_look(worker& w, bool posted) noexcept;

  const unsigned first_;
  const bool pinned_;
  const bool figures_;
  task_memory memory_;
  alignas(64) timed_lock lock_;
  two_part_queue queue_;                       ///< guarded by lock_, as all up to blocks_
  const std::unique_ptr<color_frequencies> frequencies_; ///< most-frequent: has the tasks instead of queue_; else null
  std::array<std::uint32_t, classes> right_{}; ///< tasks of the class in the right part
  std::unique_ptr<seat[]> seats_;
  std::size_t longest_ = 0;
  select_task select_;
  std::uint64_t events_since_look_ = events_between_looks;  ///< of all workers
  /// Who has the blocking form; relaxed: whoever reads it without the lock asks about itself.
  real_memory::atomic<unsigned> blocks_{nobody};
  /// Events in the queue, for those without the lock. Release by submit; pairs with any_left.
  real_memory::atomic<std::size_t> size_{0};
};

static_assert(scheduling_policy<shared_queue_policy>);

}  // namespace tartan::detail
