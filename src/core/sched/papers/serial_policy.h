#pragma once
/// libasync: one thread, no colors. The uniprocessor base of every speed-up.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <tartan/core/color.h>
#include <tartan/core/event.h>
#include <vector>

#include "core/memory.h"
#include "core/sched/papers/paper_policy.h"
#include "core/sched/papers/select_task.h"
#include "core/spin_lock.h"

namespace tartan::detail {

/// One queue, first in, first out, of one worker: events of all colors run one after the other.
///
/// Limits: one worker, whatever options.workers says; memory.
/// Source: libasync, as the libasync-mp thesis describes it (chapter 2): a loop around select() that runs callbacks. Differences:
/// - libasync looks at select() once per round through its ready callbacks; here that is a task in the queue (select_task.h).
/// - Callbacks of other threads, which libasync does not know, lie in a list of their own until the queue has gone round.
/// Priorities are not looked at.
class serial_policy : public paper_policy<serial_policy> {
 public:
  serial_policy(runtime_state& rt, const scheduler_choice& choice);

  using paper_policy::submit;
  void submit(color where, event& e, worker* from) noexcept;
  void move_class_of(color /*where*/, unsigned /*worker_index*/) noexcept {}

  bool turn(worker& w);
  bool search(worker& w);
  static void look_ahead(const worker& /*w*/) noexcept {}
  void cover(worker& /*w*/) noexcept {}
  [[nodiscard]] work_seen sources(const worker& w) noexcept;
  [[nodiscard]] static constexpr polling polls_at_rest(const worker& w) noexcept { return w.index == 0 ? polling::always : polling::never; }
  [[nodiscard]] std::size_t waiting(unsigned /*worker_index*/) const noexcept { return size_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool any_left() noexcept { return waiting(0) != 0 || has_foreign(); }
  std::size_t drop_all() noexcept;
  [[nodiscard]] static scheduler_figures figures() noexcept { return {}; }

 private:
  struct pending {
    event* what;  ///< null: the select task
    std::uint64_t color_value;
  };

  /// Grows and never shrinks.
  class ring {
   public:
    [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
    [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
    void push(pending p);  ///< Errors: std::bad_alloc
    [[nodiscard]] pending pop() noexcept { return slots_[begin_++ & (slots_.size() - 1)]; }

   private:
    std::vector<pending> slots_;  ///< a power of two of them
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
  };

  void push(pending p) noexcept;
  void push_select() noexcept;
  [[nodiscard]] bool has_foreign() const noexcept { return foreign_count_.load(std::memory_order_acquire) != 0; }  // pairs with submit
  void take_foreign() noexcept;

  ring queue_;
  select_task select_;
  real_memory::atomic<std::size_t> size_{0};  ///< events in queue_, for others: relaxed
  spin_lock lock_;                            ///< guards foreign_
  std::vector<pending> foreign_;
  std::vector<pending> taken_;                ///< the same memory, in turns
  real_memory::atomic<std::size_t> foreign_count_{0};
};

static_assert(scheduling_policy<serial_policy>);

}  // namespace tartan::detail
