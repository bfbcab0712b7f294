#pragma once
/// What one worker holds: its runnable color queues, those that were posted to from outside, and the lock over both; and each step
/// that its owner or a thief takes with them. See docs/design/color-queue.md.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/memory.h"
#include "core/sched/annotation.h"
#include "core/sched/biased_lock.h"
#include "core/sched/color_queue.h"
#include "core/sched/core_queue.h"
#include "core/sched/incoming.h"
#include "core/tuning.h"
#include "core/sched/urgent_queue.h"

namespace tartan::detail {

/// The lock and the bounds of a home; a model test has others.
struct home_traits {
  template <class Memory>
  using lock = biased_lock<Memory>;
  static constexpr std::size_t segment_slots = home_segment_slots;  ///< of a segment of the core queue, some 500 bytes
  static constexpr int taken_at_once = home_links_taken_at_once;  ///< links that are dealt with in one hold of the lock
  static constexpr unsigned picks_per_bypass = home_picks_per_bypass;  ///< of the urgent queue
  /// Whether there may be annotations: never false again.
  [[nodiscard]] static bool annotates() noexcept { return hints_in_use.load(std::memory_order_relaxed); }
  /// Under the owner's lock: what was told of the event that made a color queue runnable, or comes next in it.
  template <class Queue>
  [[nodiscard]] static annotation told_of(const Queue& q) noexcept {
    const auto* const next = q.first();
    return next != nullptr ? annotation_of(*next) : annotation{};
  }
  /// Under the owner's lock.
  template <class Node>
  static void ask_ahead(Node& first, unsigned step) noexcept {
    if (first.ops->ask_ahead != nullptr) first.ops->ask_ahead(first, step);
  }
  static constexpr unsigned last_step_ahead = event_ops::last_step_ahead;
  /// How many turns ahead the line of a color's first event is asked for. From another core it takes longer than one short turn.
  static constexpr std::uint32_t events_ahead = home_events_ahead_turns;
};

/// What became of a local append.
enum class appended : std::uint8_t {
  refused,    ///< not this worker's, or others came first: the event has to go by the inbox
  waits,      ///< the color was runnable already
  activated,  ///< the color has become runnable
};

/// What became of closing a strand at home.
enum class closed : std::uint8_t {
  refused,  ///< not this worker's, or others came first: it has to go by the inbox
  later,    ///< its turn ends it
  retired,  ///< the caller frees it
};

template <class Memory, class Node, class Traits = home_traits>
struct alignas(128) home_of {
  using color_queue = color_queue_of<Memory, Node>;
  static constexpr std::size_t segment_slots = Traits::segment_slots;

  typename Traits::template lock<Memory> lock;
  std::uint32_t index = 0;           ///< constant: the worker's number
  const color_queue* pin = nullptr;  ///< constant: what no other worker may run, or null
  core_queue<Memory, color_queue, Traits::segment_slots> queue;  ///< under lock
  /// Written under lock: the pinned color queue, if it is runnable.
  typename Memory::template atomic<color_queue*> pinned{nullptr, "pinned"};
  typename Memory::template plain<bool> pinned_next;  ///< under lock: takes turns with the others
  urgent_queue<Memory, color_queue, Traits::segment_slots, Traits::picks_per_bypass> urgent;  ///< under lock: those that were raised above the others
  typename Memory::template atomic<std::uint64_t> told_ns{0, "told"};  ///< written under lock: what the colors that wait are told to cost, by penalty
  alignas(64) incoming<Memory, color_queue> posted;

  /// Color queues that wait here; a hint. One that was linked although it runs or waits already counts once more.
  [[nodiscard]] std::size_t waiting() const noexcept {
    return runnable() + posted.size() + (pinned.load(std::memory_order_relaxed) != nullptr ? 1 : 0);
  }

  /// Those of them that a thief may take, the incoming ones aside.
  [[nodiscard]] std::size_t runnable() const noexcept { return std::size_t{queue.size()} + urgent.size(); }

  /// Whether there is anything for a thief.
  [[nodiscard]] bool has_loot() const noexcept { return runnable() != 0 || !posted.empty(); }

  /// Whether this worker has something to run; a hint for others, exact for who looks after a barrier.
  [[nodiscard]] bool has_work() const noexcept {
    return runnable() != 0 || pinned.load(std::memory_order_relaxed) != nullptr || !posted.empty();
  }

  // Under lock, or by the owner's own steps below.

  /// idle -> queued.
  [[gnu::always_inline]] void activate(color_queue& q) noexcept {
    q.state = queue_state::queued;
    if (&q == pin) {
      pinned.store(&q, std::memory_order_relaxed);
    } else if (Traits::annotates()) [[unlikely]] {
      q.told = Traits::told_of(q);
      enlist(q);
    } else {
      queue.push(q);
    }
  }

  /// Puts one that is queued into its line.
  [[gnu::always_inline]] void enlist(color_queue& q) noexcept {
    const annotation told = q.told;
    if (told.empty()) [[likely]] return queue.push(q);
    told_ns.store(told_ns.load(std::memory_order_relaxed) + told.worth_ns(), std::memory_order_relaxed);
    told.level() != 0 ? urgent.push(q, told.level()) : queue.push(q);
  }

  /// Has been taken out of its line.
  [[gnu::always_inline]] void delist(const color_queue& q) noexcept {
    const annotation told = q.told;
    if (told.empty()) [[likely]] return;
    told_ns.store(told_ns.load(std::memory_order_relaxed) - told.worth_ns(), std::memory_order_relaxed);
  }

  /// By the owner. first-posted-first-run: refuses if events wait in the inbox, which may be too many to be sorted under a lock.
  [[nodiscard, gnu::always_inline]] appended append(color_queue& q, Node& e) noexcept {
    // acquire: pairs with the release store of who made this worker the owner under another worker's lock
    if (q.owner.load(std::memory_order_acquire) != index) return appended::refused;
    const queue_state state = q.state;
    if (state == queue_state::running || !q.in.empty()) return appended::refused;
    q.append(e);
    if (state != queue_state::idle) return appended::waits;
    activate(q);
    return appended::activated;
  }

  /// By the owner: running -> queued or idle. A post that this look misses is linked, and will be found (no-orphan).
  [[gnu::always_inline]] void finish(color_queue& q) noexcept {
    q.state = queue_state::idle;
    if (q.needs_turn()) return activate(q);
    // Where its short visitors come from, a post costs a tenth. What is linked here meanwhile goes there as a stray.
    if (const std::uint16_t to = q.wants_to_move(index); to != no_worker && &q != pin) {
      q.owner.store(to, std::memory_order_release);  // pairs with take_incoming and append
    }
  }

  /// By the owner: the next color queue to run, or null. A pinned color takes turns with all others.
  [[nodiscard, gnu::always_inline]] color_queue* pop() noexcept {
    if (color_queue* const q = pinned.load(std::memory_order_relaxed); q != nullptr) [[unlikely]] {
      pinned_next = !pinned_next;
      if (pinned_next || runnable() == 0) {
        pinned.store(nullptr, std::memory_order_relaxed);
        return q;
      }
    }
    color_queue* const q = urgent.size() != 0 ? urgent.pick(queue) : queue.pop();
    if (q != nullptr) delist(*q);
    // The color queue's line has been asked for before, so that its first event can be by now: also one that waits in its inbox.
    if (const color_queue* const following = queue.behind(Traits::events_ahead)) {
      if (const Node* const first = following->first()) Memory::prefetch(first);
    }
    return q;
  }

  /// By the owner or a thief: color queues that were posted to become runnable, a bounded number of them. Gives a chain of those
  /// that are another's since, for who left the lock to link.
  [[nodiscard, gnu::noinline]] color_queue* take_incoming() noexcept {
    color_queue* strays = nullptr;
    if (posted.empty()) return strays;
    for (int n = 0; n < Traits::taken_at_once; ++n) {
      color_queue* const q = posted.take();
      if (q == nullptr) break;
      // acquire: pairs with the release store of who made this worker the owner under another worker's lock
      if (q->owner.load(std::memory_order_acquire) != index) {
        q->linked_next = strays;  // stays LINKED
        strays = q;
        continue;
      }
      const bool idle = q->state == queue_state::idle;
      if (idle) q->note_link();
      q->in.unlink();           // last-touch: if it runs, its runner may free it from now on
      if (idle) activate(*q);  // also without events: then it was linked to be closed, and its turn does that
    }
    return strays;
  }

  /// queued, and in no list any more -> idle and another's; a link that is owed for it goes into the room, before those that follow.
  void pass_to(unsigned other, color_queue& q, std::span<color_queue*> room, std::size_t& owed) noexcept {
    delist(q);
    q.state = queue_state::idle;  // in no list
    // last-touch: before the other may run it, and so before the owner changes
    if (q.in.claim_link() == pushed::owes_link) room[owed++] = &q;
    q.owner.store(other, std::memory_order_release);  // pairs as in finish
  }

  // Steps of this worker, each with one hold of the lock.

  /// Posts to a color queue that may be this worker's.
  [[nodiscard, gnu::always_inline]] appended post(color_queue& q, Node& e) noexcept {
    lock.enter();
    const appended outcome = append(q, e);
    lock.leave();
    return outcome;
  }

  /// The same for a strand that may be gone: `generation` says which one was meant. Only its runner retires it, and if it is this
  /// worker's, that is us.
  [[nodiscard, gnu::always_inline]] appended post_if(std::uint64_t generation, color_queue& q, Node& e) noexcept {
    appended outcome = appended::refused;
    lock.enter();
    // acquire: pairs with the release store of who made the next generation and gave it this owner
    if (q.owner.load(std::memory_order_acquire) == index && q.in.generation() == generation) outcome = append(q, e);
    lock.leave();
    return outcome;
  }

  /// Puts back what has run, if anything, and takes the next color queue, now running. Adds to `strays` as take_incoming.
  [[nodiscard, gnu::always_inline]] color_queue* next(color_queue* done, color_queue*& strays) noexcept {
    lock.enter();
    if (done != nullptr) finish(*done);
    if (!posted.empty()) [[unlikely]] strays = take_incoming();
    color_queue* const q = pop();
    if (q != nullptr) q->state = queue_state::running;
    lock.leave();
    return q;
  }

  /// Puts back what has run.
  void put_back(color_queue& done) noexcept {
    lock.enter();
    finish(done);
    lock.leave();
  }

  /// Asks for the cache lines that those who come next will touch, of each a step further than a turn ago: the color queue, its first event, and what
  /// that leads to. For long turns, which are some dozens of times what a line from memory takes; short ones would be over before. While a thief is
  /// there it does nothing. Of those above level 0 nothing is asked.
  void look_ahead() noexcept {
    constexpr unsigned event_at = Traits::last_step_ahead + 1;
    if (queue.size() <= event_at) return;  // all that waits was touched not long ago
    if (!lock.try_enter()) return;  // a thief is there
    if (const color_queue* const q = queue.behind(event_at + 1)) Memory::prefetch(q);
    if (const color_queue* const q = queue.behind(event_at)) {
      if (const Node* const first = q->first()) Memory::prefetch(first);
    }
    for (unsigned n = 0; n < event_at; ++n) {
      const color_queue* const q = queue.behind(n);
      if (q == nullptr) break;
      if (Node* const first = q->first()) Traits::ask_ahead(*first, Traits::last_step_ahead - n);
    }
    lock.leave();
  }

  /// The strand's handle is gone.
  [[nodiscard]] closed close(color_queue& q) noexcept {
    closed outcome = closed::refused;
    lock.enter();
    if (q.owner.load(std::memory_order_acquire) == index) {  // acquire: as append
      if (q.state != queue_state::idle) {
        q.closing = true;
        outcome = closed::later;
      } else if (!q.has_events() && q.in.retire()) {
        outcome = closed::retired;
      }
    }
    lock.leave();
    return outcome;
  }

  /// Takes over what another home was robbed of.
  void receive(std::span<color_queue* const> loot) noexcept {
    lock.enter();
    for (color_queue* const q : loot) enlist(*q);
    lock.leave();
  }

  /// Takes color queues of one event each, from the end of the line, to be another worker's. queued -> idle and linked: the caller pays the
  /// links that are left in `room`, and wakes the other; what others have linked already is a stray for who takes it. Gives how many links.
  [[nodiscard]] std::size_t part_with(unsigned to, std::span<color_queue*> room) noexcept {
    std::size_t owed = 0;
    lock.enter();
    const std::size_t count = queue.take_last(room, [](const color_queue& q) { return q.is_short(); });
    for (std::size_t n = 0; n < count; ++n) pass_to(to, *room[n], room, owed);
    lock.leave();
    return owed;
  }

  // Steps of a thief.

  /// What a thief went away with.
  struct robbed {
    std::size_t count = 0;
    color_queue* strays = nullptr;
    thief_entry entry = thief_entry::refused;
    bool pinned = false;  ///< the owner must be awake: nobody else may run what is left behind
  };

  /// Takes half of the runnable color queues, the incoming ones included: else work behind a long event is stuck.
  /// They are the thief's, which has to receive() them. `may_answer`: as the lock has it. Calls `on_entered` with the lock held.
  template <class F>
  [[nodiscard]] robbed rob(unsigned thief, std::span<color_queue*> room, F on_entered, bool may_answer) noexcept {
    robbed outcome;
    outcome.entry = lock.try_enter_as_thief(may_answer);
    if (outcome.entry == thief_entry::refused) return outcome;
    on_entered();
    outcome.strays = take_incoming();
    if (urgent.size() != 0) outcome.count = urgent.take_half(room);
    outcome.count += queue.take_half(room.subspan(outcome.count));
    outcome.pinned = pinned.load(std::memory_order_relaxed) != nullptr;
    for (std::size_t n = 0; n < outcome.count; ++n) Memory::prefetch(room[n]);
    // release: the owner's part of the color queue goes over; pairs with take_incoming and append
    for (std::size_t n = 0; n < outcome.count; ++n) {
      delist(*room[n]);
      room[n]->owner.store(thief, std::memory_order_release);
    }
    lock.leave_as_thief();
    return outcome;
  }

  /// What has to be done with what a worker that leaves had.
  struct evicted {
    std::size_t owed = 0;            ///< links, in the room
    color_queue* strays = nullptr;   ///< as in robbed
    bool entered = false;
  };
  /// Takes half of what is runnable here, or one, to be another worker's, as part_with. Threads: any, of a home whose owner has left or is about to.
  [[nodiscard]] evicted evict(unsigned to, std::span<color_queue*> room) noexcept {
    evicted outcome;
    if (lock.try_enter_as_thief(false) == thief_entry::refused) return outcome;
    outcome = {0, take_incoming(), true};
    std::size_t count = urgent.size() != 0 ? urgent.take_half(room) : 0;
    count += queue.take_half(room.subspan(count));
    for (std::size_t n = 0; n < count; ++n) pass_to(to, *room[n], room, outcome.owed);
    lock.leave_as_thief();
    return outcome;
  }

  /// Gives an idle color queue to another worker. Threads: as a thief.
  void give(color_queue& q, unsigned to) noexcept {
    // acquire: as append; it may have been away and back since the caller looked for its owner
    if (q.owner.load(std::memory_order_acquire) == index && q.state == queue_state::idle) {
      q.owner.store(to, std::memory_order_release);  // pairs as in finish
    }
  }
};

/// Pays a link that a push owes: puts the color queue on its owner's chain. Gives the owner's number; a worker that takes it off
/// although it was robbed of it meanwhile links it anew. Threads: who owes the link.
template <class Home>
unsigned link_to_owner(Home* homes, typename Home::color_queue& q, std::uint16_t from = no_worker) noexcept {
  q.linked_by = from;
  const unsigned owner = q.owner.load(std::memory_order_relaxed);
  homes[owner].posted.push(q, q, 1);  // last-touch
  return owner;
}

/// Links to one owner that the same thread owes, to be paid with one push. Not for long: until then nobody finds the color queues.
template <class Home>
class owed_links {
 public:
  using color_queue = typename Home::color_queue;

  [[nodiscard]] bool empty() const noexcept { return newest_ == nullptr; }
  /// Of all of them, unless it is empty; as link_to_owner, a hint.
  [[nodiscard]] unsigned owner() const noexcept { return owner_; }

  /// Threads: who owes the link.
  void add(color_queue& q, unsigned owner, std::uint16_t from = no_worker) noexcept {
    owner_ = owner;
    q.linked_by = from;
    q.linked_next = newest_;
    if (newest_ == nullptr) oldest_ = &q;
    newest_ = &q;
    ++count_;
  }
  void pay(Home* homes) noexcept {
    homes[owner_].posted.push(*newest_, *oldest_, count_);  // last-touch
    newest_ = nullptr;
    count_ = 0;
  }

 private:
  unsigned owner_ = 0;
  unsigned count_ = 0;
  color_queue* newest_ = nullptr;
  color_queue* oldest_ = nullptr;
};

}  // namespace tartan::detail
