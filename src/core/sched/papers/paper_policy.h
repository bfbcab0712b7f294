#pragma once
/// What the papers' schedulers have in common: strands, batches, running an event. docs/design/paper-schedulers.md is their map.

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <tartan/core/color.h>
#include <tartan/core/event.h>

#include "core/fatal.h"
#include "core/sleep/sleep_control.h"
#include "core/line_pool.h"
#include "core/memory.h"
#include "core/runtime_state.h"
#include "core/sched/annotation.h"
#include "core/sched/no_queue_memory.h"
#include "core/sched/papers/scheduler_choice.h"
#include "core/sched/papers/select_task.h"
#include "core/sched/papers/task.h"
#include "core/sched/policy.h"
#include "core/tuning.h"
#include "core/strand_color.h"
#include "core/worker.h"

namespace tartan::detail {

/// Base of a policy P, which has
///   submit(color, event&, worker*)   and   move_class_of(color, worker): where that color's next event shall run, if it has none.
///
/// A strand is a number: posts through one go the way of all colors, as in the papers, which have no such thing.
template <class P>
class paper_policy {
 public:
  void submit(strand_state& s, event& e, worker* from) noexcept { self().submit(color_of(s), e, from); }
  void submit_many(std::span<addressed_event> many, worker* from) noexcept {
    for (const addressed_event& each : many) self().submit(each.where, *each.what, from);
  }

  [[nodiscard]] strand_state* open_strand(worker* /*from*/, bool named) {
    auto* const made = static_cast<strand_line*>(strands_.allocate_shared());
    const std::uint64_t number = last_strand_.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t upper = (number >> strand_color::number_bits) << strand_color::upper_shift;
    made->color_value = strand_color::bit | upper | rt_.strand_mark() | (number & strand_color::number_mask);
    made->named = named;
    made->is_open.store(true, std::memory_order_relaxed);
    return reinterpret_cast<strand_state*>(made);
  }
  void close_strand(strand_state& s, worker* /*from*/) noexcept {
    auto& line = reinterpret_cast<strand_line&>(s);
    if (line.named) rt_.forget_name(color_of(s));
    line.is_open.store(false, std::memory_order_relaxed);
    strands_.release_shared(&line);
  }
  [[nodiscard]] color color_of(const strand_state& s) const noexcept {
    return raw_color::make(reinterpret_cast<const strand_line&>(s).color_value);
  }
  void place(strand_state& s, unsigned worker_index) noexcept { self().move_class_of(color_of(s), worker_index); }

  static void leave(const worker& /*w*/) noexcept {}
  [[nodiscard]] static constexpr bool shares_polling() noexcept { return false; }
  [[nodiscard]] static constexpr bool may_lose_workers() noexcept { return false; }
  static void hand_over(unsigned /*worker_index*/) noexcept {}
  static void take_over(const worker& /*w*/) noexcept {}
  [[nodiscard]] static constexpr bool has_loot(unsigned /*worker_index*/) noexcept { return false; }  // there is no guard that could be called for it
  [[nodiscard]] static constexpr std::uint64_t first_watch_ns() noexcept { return longest_watch_ns(2); }
  /// Who has left something behind gets up, and looks for itself.
  [[nodiscard]] static work_seen watch_others(const worker& /*w*/) noexcept { return work_seen::found; }

 protected:
  explicit paper_policy(runtime_state& rt) : rt_{rt}, life_{rt.sleep()}, workers_{rt.workers()}, strands_{&rt} {}
  paper_policy(const paper_policy&) = delete;
  paper_policy& operator=(const paper_policy&) = delete;
  ~paper_policy() {
    strands_.for_each_line([&](void* line) {
      const auto& s = *static_cast<const strand_line*>(line);
      if (!s.is_open.load(std::memory_order_relaxed)) return;
      const color own = raw_color::make(s.color_value);
      fatal({"a strand outlives its runtime: ", color_text(own, rt_.name_of(own)), "; the runtime was made at ",
             detail::place(rt_.made_at())});
    });
  }

  /// The event itself, with all that a worker shows of it. No lock is held.
  void run_event(worker& w, event& e, std::uint64_t color_value) {
    /// Frees also if the event throws.
    struct end_of_event {
      line_pool& pool;
      line_cache& cache;
      event* pooled;
      ~end_of_event() {
        if (pooled != nullptr) pool.release(cache, pooled);
      }
    };
    write_whole(w.running, raw_color::make(color_value));
    write_whole(w.site, e.site);
    w.in_event = true;
    w.in_turn.store(true, std::memory_order_relaxed);
    w.left_in_batch.store(0, std::memory_order_release);  // as default_runner.cpp: pairs with the stall watch's look
    w.inline_left = sleep_control::inline_completions;
    try {
      const end_of_event end{rt_.events(), w.event_lines, e.ops->pooled ? &e : nullptr};
      e.ops->run(e);
    } catch (...) {
      rt_.escaped(w.running, w.site);
    }
    w.in_event = false;
    write_whole(w.running, color{});
    w.events.add();
    w.turns.add();
    w.in_turn.store(false, std::memory_order_relaxed);
    w.credits = static_cast<int>(static_cast<unsigned>(w.credits) - 1);  // wraps, for who never looks
    if (w.deferred_deadline != never_ns) life_.publish_deferred(w);
  }

  /// The calling thread's free lines for tasks; null if it cannot have any.
  [[nodiscard]] line_cache* lines_of(worker* from) noexcept {
    if (from != nullptr) return &from->queue_lines;
    guest* const g = rt_.guests().mine();
    return g != nullptr ? &g->queue_lines : nullptr;
  }

  /// A task for an event that was posted. Ends the program if there is no memory.
  [[nodiscard]] task* new_task(task_memory& from, line_cache* cache, color where, event& e,
                               std::uint32_t color_class) const noexcept {
    refuse_foreign(rt_, where, "an event was posted", e.site);
    try {
      const handler_hints hints = hints_of(e);
      return new (from.make(cache)) task{.next = nullptr,
                                         .previous = nullptr,
                                         .what = &e,
                                         .color_value = where.value(),
                                         .color_class = color_class,
                                         .cost_ns = hints.cost_ns,
                                         .penalty = hints.penalty,
                                         .priority = hints.priority,
                                         .right = e.ops->from != origin::post};
    } catch (const std::bad_alloc&) {
      no_queue_memory(where, e);
    }
  }

  /// What was queued, in a drop. Gives how many it counts. No lock is held: what is destroyed may post.
  std::size_t drop(task& t, task_memory& from, select_task& polls) noexcept {
    if (t.what == nullptr) {
      polls.looked(false);
      return 0;
    }
    event& e = *t.what;
    from.free(&t, nullptr);
    return destroy_left_event(rt_, e);
  }

  /// After an event was queued: whether that is all, because nobody sleeps or the runtime is paused.
  [[nodiscard]] bool is_told(worker* from) noexcept {
    const idle_view seen = from != nullptr ? life_.sleepers().view_by_worker() : life_.sleepers().view_after_publish();
    if (seen.quiet()) return true;
    if (!seen.paused() && !seen.forked()) return false;
    life_.posted_outside(seen);
    return true;
  }

  runtime_state& rt_;
  sleep_control& life_;
  const unsigned workers_;

 private:
  /// In a line of the pool, behind what the pool uses itself, so that runtime_of finds the runtime.
  struct strand_line {
    free_line of_the_pool;
    std::uint64_t color_value;
    bool named;
    real_memory::atomic<bool> is_open;  ///< relaxed: read when no other thread uses the runtime
  };

  [[nodiscard]] P& self() noexcept { return static_cast<P&>(*this); }

  line_pool strands_;
  real_memory::atomic<std::uint64_t> last_strand_{1};  ///< relaxed: drawn, never read otherwise
};

}  // namespace tartan::detail
