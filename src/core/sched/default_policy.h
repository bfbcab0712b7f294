#pragma once
/// The default scheduler; docs/design/scheduler.md is its map.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/lifecycle.h"
#include "core/memory.h"
#include "core/sched/color_table.h"
#include "core/sched/home.h"
#include "core/sched/policy.h"
#include "core/sched/tuning.h"
#include "core/spin_lock.h"
#include "core/strand_color.h"
#include "core/worker.h"

namespace tartan::detail {

using color_queue = color_queue_of<real_memory, event>;
using home = home_of<real_memory, event>;
static_assert(sizeof(color_queue) == 64);

/// Owner's lists without locks, inboxes for everybody else, stealing of whole color queues.
class default_policy {
 public:
  explicit default_policy(runtime_state& rt);
  ~default_policy();

  /// By a worker within an event: false, and nothing is done, unless the strand is at home on that worker. Inline, for it is
  /// what most events do.
  [[nodiscard, gnu::always_inline]] bool submit_at_home(strand_state& s, event& e, const worker& from) noexcept {
    auto& q = reinterpret_cast<color_queue&>(s);
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
  [[nodiscard]] strand_state* open_strand(worker* from, bool named);
  void close_strand(strand_state& s, worker* from) noexcept;
  [[nodiscard]] color color_of(const strand_state& s) const noexcept;
  void place(strand_state& s, unsigned worker_index) noexcept;

  bool turn(worker& w);
  bool search(worker& w);
  /// A run has ended: until the next one nothing is run, whatever was stolen.
  void leave(const worker& w) noexcept;
  void cover(worker& w) noexcept;
  void look_ahead(const worker& w) noexcept { homes_[w.index].look_ahead(); }
  [[nodiscard]] work_seen sources(const worker& w) noexcept;
  [[nodiscard]] work_seen watch_others(const worker& w) noexcept;
  [[nodiscard]] static constexpr std::uint64_t first_watch_ns() noexcept { return detail::first_watch_ns; }
  [[nodiscard]] static constexpr bool polls_at_rest(const worker& /*w*/) noexcept { return true; }
  /// Without stealing, what is ready for its own colors waits for it alone.
  [[nodiscard]] bool may_stand_by() const noexcept { return stealing_; }
  [[nodiscard]] bool any_left() noexcept;
  [[nodiscard]] std::size_t waiting(unsigned worker_index) const noexcept;
  [[nodiscard]] bool has_loot(unsigned worker_index) const noexcept { return homes_[worker_index].has_loot(); }
  std::size_t drop_all() noexcept;
  [[nodiscard]] scheduler_figures figures() const noexcept;

 private:
  friend struct default_policy_probe;  // a test's

  // A strand's color: bit 63 | generation | the runtime's mark | number of the color queue's line.
  static constexpr unsigned line_bits = strand_color::upper_shift;
  static constexpr std::uint64_t strand_bit = strand_color::bit;
  static constexpr std::uint64_t line_mask = (std::uint64_t{1} << line_bits) - 1;
  static constexpr std::uint64_t generation_mask = inbox<real_memory, event>::last_generation;
  [[nodiscard]] static constexpr std::uint64_t generation_of(color strands) noexcept { return (strands.value() >> line_bits) & generation_mask; }

  /// Of a strand of this runtime, which may be gone; null for a strand of another one: with the wrong mark the number
  /// is too large.
  [[nodiscard]] color_queue* queue_of_strand(color strands) const noexcept {
    return static_cast<color_queue*>(queues_.line_of((strands.value() ^ mark_) & line_mask));
  }
  [[nodiscard]] bool close_owned(worker& from, color_queue& q) noexcept;

  /// What a worker that looks for work has seen of another one: how many turns it had made at some time.
  struct glance {
    std::uint64_t turns = 0;
    std::uint64_t since_ns = 0;
    std::uint64_t follow_ups = 0;  ///< how many of them had made a color runnable
    bool suspected = false;  ///< its backlog seemed worth a theft, for which it is watched once more
  };
  struct alignas(64) watch {
    std::vector<glance> others;
    std::vector<unsigned> victims;         ///< all others, nearest first
    std::uint64_t price_ns;                ///< of a steal, both sides together, as measured
    std::uint64_t stole_at_ns = 0;         ///< the last steal, until it is judged
    bool took_at_once = false;             ///< it was not a matter of price
    std::uint64_t keeps_off_ns = 0;        ///< for how long, after the last one that did not pay
    std::uint64_t keeps_off_until_ns = 0;
    std::uint64_t hot_turn_ns = 0;         ///< when it last began to serve a long backlog
    glance own;                            ///< of its own turns, when it last compared its long line with the others; since 0: it has been idle
    unsigned shorter = ~0u;                ///< whose line was shorter then
    std::size_t compare_next = 0;          ///< of the victims: with whom and those that follow it is compared next
    unsigned looks_put_off = 0;            ///< in a row, for what is more urgent
    scheduler_figures figures{.counted = true};

    void judge_loot(std::uint64_t now_ns) noexcept;
    void learn_price(std::uint64_t entering_ns) noexcept;
  };

  // Posting: default_policy_post.cpp
  /// To the running color: no lock, nobody else touches its list.
  static void post_running(color_queue& q, event& e) noexcept {
    q.absorb_inbox();  // first-posted-first-run
    q.append(e);
  }
  [[nodiscard]] bool is_pinned(const color_queue& q) const noexcept;
  class batch_links;
  struct singly;
  struct together;
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
  void submit_from_worker(std::span<addressed_event> many, worker& from) noexcept;
  using bucket_hold = color_table<real_memory, color_queue>::hold;
  [[nodiscard]] color_queue& find_or_make(bucket_hold& bucket, color where, const event& e, worker* from, bool& crowded) noexcept;
  template <class Duties>
  void reserve_line(worker* from, Duties duties) noexcept;
  [[nodiscard]] color_queue& new_queue_for(queue_kind kind, color where, const event& e, worker* from) noexcept;
  void link(color_queue& q, worker* from) noexcept;
  [[nodiscard]] std::uint16_t sender_of(const worker* from) const noexcept;
  void after_append(const worker& from, appended outcome) noexcept;
  /// Whether a worker may have to be woken for what waits here: not if all are awake, nor if one of them sleeps as watcher and
  /// will look by itself. Inline, as after_local, for every hop between two colors asks twice.
  [[nodiscard, gnu::always_inline]] static bool may_wake(const home& h, idle_view seen) noexcept {
    return !seen.quiet() && (!seen.is_watched() || h.runnable() >= post_urgent_backlog_colors);
  }
  /// After a color became runnable on the worker that runs the calling event: another worker must be there if the event lasts.
  [[gnu::always_inline]] void after_local(home& h) noexcept {
    const idle_view seen = life_.sleepers().view_by_worker();
    if (may_wake(h, seen)) [[unlikely]] wake_one(seen);
  }
  void wake_one(idle_view seen) noexcept;
  void after_link(unsigned owner, bool only_owner, worker* from) noexcept;
  [[nodiscard]] strand_state* new_strand(worker* from, bool named);
  [[nodiscard]] queue_kind kind_of(const color_queue& q) noexcept;
  void forget_other_lines() noexcept;
  [[nodiscard]] line_cache* lines_of(worker* from) noexcept;
  [[nodiscard]] color_queue& new_queue(queue_kind kind, std::uint64_t value, worker* from);
  void free_queue(color_queue& q, worker* from) noexcept;
  [[nodiscard]] unsigned owner_for(std::uint64_t value, const worker* from) noexcept;

  // Batches from outside: default_policy_batch.cpp; what both kinds of batches owe: batch_links.h
  void submit_from_outside(std::span<addressed_event> many) noexcept;
  void push_run(color where, event& newest, event& oldest, batch_links& owed) noexcept;
  [[nodiscard]] bool push_to_strand_color(color where, event& newest, event& oldest, batch_links& owed) noexcept;
  void push_by_value(color where, event& newest, event& oldest, batch_links& owed) noexcept;
  void push_unordered(event& e, batch_links& owed) noexcept;

  // Running: default_policy_run.cpp
  void forward(color_queue* chain) noexcept;
  [[nodiscard]] color_queue* next(home& h, color_queue* done) noexcept;
  void look(worker& w);
  class backlog;
  void run_batch(worker& w, color_queue& q, backlog& seen, unsigned most);
  [[nodiscard]] unsigned run_events(worker& w, color_queue& q, backlog& seen, unsigned left);
  static void step_out(worker& w) noexcept;
  void serve_backlog(worker& w, color_queue& q, backlog& seen);
  [[nodiscard]] bool ended(worker& w, color_queue& q) noexcept;

  // Giving: default_policy_give.cpp
  void make_room(worker& w, std::uint64_t now_ns) noexcept;
  void even_out(worker& w, std::uint64_t now_ns) noexcept;
  struct shorter_line {
    unsigned worker;
    std::uint64_t wait_ns;
    std::uint64_t turn_ns;
    bool some_unknown;  ///< of those that were looked at: they are counted from here on
  };
  /// Of a worker's victims, round.
  struct some_others {
    std::size_t first;
    std::size_t count;
    [[nodiscard]] std::size_t following(std::size_t all) const noexcept { return (first + count) % all; }
  };
  enum class sleepers : std::uint8_t { too, left_out };
  [[nodiscard]] shorter_line shortest_line(const worker& w, std::uint64_t now_ns, some_others whom, sleepers which) noexcept;
  void give(worker& w, unsigned to, std::size_t most) noexcept;

  // Stealing: default_policy_steal.cpp
  void set_victims(const std::string& root = "/sys");
  [[nodiscard]] bool may_answer(const watch& own, unsigned victim, std::uint64_t now_ns) const noexcept;
  bool steal_from(worker& w, unsigned victim, std::size_t most) noexcept;
  void wake_owners() noexcept;
  [[nodiscard]] glance glance_at(unsigned other, std::uint64_t now_ns) const noexcept;
  [[nodiscard]] std::size_t worth_taking(watch& own, unsigned victim, std::uint64_t now_ns) const noexcept;
  [[nodiscard]] bool watch_closely(const worker& w, std::uint64_t for_ns) noexcept;
  [[nodiscard]] bool visit_others(worker& w, std::uint64_t now_ns) noexcept;

  runtime_state& rt_;
  lifecycle& life_;
  unsigned workers_;
  unsigned batch_;          ///< of events, in a turn
  unsigned longest_batch_;  ///< of those that were there when the turn began
  unsigned poll_level_;
  std::uint64_t mark_;      ///< of this runtime's strands
  bool stealing_;
  std::uint64_t (*now_)() noexcept = real_now_ns;  ///< a watcher's clock; tests have another
  unsigned most_searchers_;  ///< beyond it a worker without work sleeps at once; two that play ping-pong must both be awake
  spin_lock late_lock_;  ///< guards kinds when the runtime is over: strands are opened, and every color queue is looked at
  line_pool queues_;
  color_table<real_memory, color_queue> table_;
  std::unique_ptr<home[]> homes_;
  std::vector<watch> watches_;  ///< each its worker's own
  color_queue* default_color_ = nullptr;
};

}  // namespace tartan::detail
