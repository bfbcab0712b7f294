#pragma once
/// Posting, by the default scheduler: into the owner's list if the caller is the owner, else into the inbox; and
/// waking the worker that should see it.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/sched/default_state.h"
#include "core/tuning.h"

namespace tartan::detail {

/// The part that every other part may call, and that calls no other part. It has no state of its own.
///
/// Threads: any, unless a member says otherwise. `from` is the calling worker, null on a foreign thread.
class default_poster : default_part {
 public:
  explicit default_poster(default_state& shared) noexcept : default_part{shared} {}

  /// By a worker within an event: false, and nothing is done, unless the strand is at home on that worker. Inline,
  /// for it is what most events do.
  [[nodiscard, gnu::always_inline]] bool submit_at_home(strand_state& s, event& e, const worker& from) noexcept {
    auto& q = queue_of(s);
    if (&q == from.running_queue) {
      post_running(q, e);
      return true;
    }
    // A strand of another runtime may have an owner of the same number.
    if (line_pool::owner_of(&s) != from.owner || q.owner.load(std::memory_order_relaxed) != from.index) return false;
    home& h = homes_[from.index];
    const appended outcome = h.post(q, e);
    if (outcome == appended::activated) after_local(h);
    return outcome != appended::refused;
  }

  void submit(color where, event& e, worker* from) noexcept;
  void submit(strand_state& s, event& e, worker* from) noexcept;
  void submit_many(std::span<addressed_event> many, worker* from) noexcept;
  /// The strand's handle is gone: what was posted still runs, then the worker that finds the color queue empty frees
  /// it.
  void close_strand(strand_state& s, worker* from) noexcept;

  // For the other parts.

  /// After a color became runnable on the worker that runs the calling event: another worker must be there if the
  /// event lasts.
  [[gnu::always_inline]] void after_local(home& h) noexcept {
    const idle_view seen = life_.sleepers().view_by_worker();
    if (may_wake(h, seen)) [[unlikely]] wake_one(seen);
  }
  /// After a worker has taken a color queue from its home: another worker must be there for the rest if the first event
  /// lasts (covered).
  [[gnu::always_inline]] void after_pop(home& h) noexcept {
    const idle_view asleep = life_.sleepers().view_by_worker();
    if (may_wake(h, asleep) && h.has_loot()) [[unlikely]] wake_one(asleep);
  }
  /// After a color queue was linked into a worker's incoming chain.
  void after_link(unsigned owner, bool only_owner, worker* from) noexcept;
  /// Links the color queues of a chain, which were linked to the wrong worker, to the right one, with all that a link
  /// owes; in nobody's name, because it is no visit. Without a lock.
  void forward(color_queue* chain) noexcept;
  /// What waits at a worker that leaves, or has left, goes to others. Threads: that worker's, or any after it has left.
  void hand_over(unsigned worker_index) noexcept;

 private:
  class batch_links;
  struct singly;
  struct together;

  /// To the running color: no lock, nobody else touches its list.
  static void post_running(color_queue& q, event& e) noexcept {
    q.absorb_inbox();  // first-posted-first-run
    q.append(e);
  }
  /// Whether a worker may have to be woken for what waits here: not if all are awake, nor if one of them sleeps as
  /// watcher and will look by itself. Inline, as after_local, for every hop between two colors asks twice.
  [[nodiscard, gnu::always_inline]] static bool may_wake(const home& h, idle_view seen) noexcept {
    return !seen.quiet() && (!seen.is_watched() || h.runnable() >= post_urgent_backlog_colors);
  }
  void wake_one(idle_view seen) noexcept;

  template <class Duties>
  void post(color where, event& e, worker* from, Duties duties) noexcept;
  template <class Duties>
  void deliver(color_queue& q, event& e, worker* from, Duties duties) noexcept;
  template <class Duties>
  void post_by_value(color where, event& e, worker* from, Duties duties) noexcept;
  template <class Duties>
  void post_to_strand_color(color where, event& e, worker* from, Duties duties) noexcept;
  template <class Duties>
  void push_to_strand_color(color_queue& q, color where, event& e, worker* from, Duties duties) noexcept;
  template <class Duties>
  void post_unordered(event& e, worker* from, Duties duties) noexcept;
  template <class Duties>
  void reserve_line(worker* from, Duties duties) noexcept;
  void submit_from_worker(std::span<addressed_event> many, worker& from) noexcept;

  [[nodiscard]] bool is_pinned(const color_queue& q) const noexcept;
  [[nodiscard]] std::uint16_t sender_of(const worker* from) const noexcept;
  void link(color_queue& q, worker* from) noexcept;
  void after_append(const worker& from, appended outcome) noexcept;
  [[nodiscard]] bool close_owned(worker& from, color_queue& q) noexcept;

  // Batches from outside: default_poster_batch.cpp; what both kinds of batches owe: batch_links.h
  void submit_from_outside(std::span<addressed_event> many) noexcept;
  void push_run(color where, event& newest, event& oldest, batch_links& owed) noexcept;
  [[nodiscard]] bool push_to_strand_color(color where, event& newest, event& oldest, batch_links& owed) noexcept;
  void push_by_value(color where, event& newest, event& oldest, batch_links& owed) noexcept;
  void push_unordered(event& e, batch_links& owed) noexcept;
};

}  // namespace tartan::detail
