// The default policy in small, for model tests: the real homes, color queues and inboxes with room for two of everything, and
// around them what the parts of default_policy do, without wake-ups, clocks and callables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/sched/home.h"
#include "model_memory.h"
#include "program.h"

namespace tartan::model {

/// An event that knows who posted it, and as his which one.
struct alignas(16) small_event {
  small_event(int by, int which) : producer{by}, number{which} {}

  model_plain<small_event*> next{nullptr, "next of event"};
  model_plain<int> content{0, "content of event"};
  ghost<int> runs{0, "runs of event"};
  ghost<const small_event*> after{nullptr, "what was posted before"};  // must have run, if it is known to have been posted
  ghost<int> generation{0, "strand that was meant"};
  model_plain<detail::annotation> told{{}, "told of event"};
  int producer;
  int number;
};

/// What home_traits::told_of asks of the event that it has found.
inline detail::annotation annotation_of(const small_event& e) {
  return e.told;
}

/// What a home needs of its lock, and no more: exclusion, and that what was done inside happens before the next entry. That the
/// biased lock gives that is a test of its own; with it, these would be too large.
template <class Memory>
class one_word_lock {
 public:
  void enter() noexcept {
    while (!try_enter()) Memory::pause();
  }
  [[nodiscard]] bool try_enter() noexcept {
    int expected = 0;
    return word_.compare_exchange_strong(expected, 1, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void leave() noexcept { word_.store(0, std::memory_order_release); }
  [[nodiscard]] detail::thief_entry try_enter_as_thief(bool /*may_answer*/) noexcept {
    return try_enter() ? detail::thief_entry::past_barrier : detail::thief_entry::refused;
  }
  void leave_as_thief() noexcept { leave(); }

 private:
  model_atomic<int> word_{0, "lock"};
};

/// Room for two of everything.
struct small_traits {
  template <class Memory>
  using lock = one_word_lock<Memory>;
  static constexpr std::size_t segment_slots = 2;
  static constexpr std::uint32_t events_ahead = 1;
  static constexpr int taken_at_once = 2;
  static constexpr unsigned picks_per_bypass = 2;
  static bool annotates() { return false; }
  template <class Queue>
  static detail::annotation told_of(const Queue& /*q*/) {
    return {};
  }
};

/// What the events of one color share, and what is noted of them.
struct small_ledger {
  static constexpr int producers = 4;

  model_plain<int> data{0, "data of the color"};
  ghost<int> running{0, "events that run"};
  ghost<int> ran{0, "events that have run"};
  std::array<ghost<int>, producers> last;  // number of each producer's latest event
};

/// A color queue, and where its color keeps its books: by value, several color queues in turn have the same.
template <class Memory>
struct small_color {
  using color_queue = detail::color_queue_of<Memory, small_event>;

  explicit small_color(small_ledger& of) : ledger{&of} {
    queue.kind = detail::queue_kind::strand;
    queue.linked_by = detail::no_worker;
  }
  small_color(small_ledger& of, std::uint64_t value, unsigned owner) : ledger{&of} {
    queue.kind = detail::queue_kind::by_value;
    queue.linked_by = detail::no_worker;
    queue.color_value = value;
    queue.owner.store(owner, std::memory_order_release);
  }

  color_queue queue;
  ghost<int> generation{0, "times retired"};
  small_ledger* ledger;
};

/// For policies without colors by value.
struct no_table {
  template <class Queue>
  bool remove_if_untouched(Queue& /*queue*/) {
    return false;
  }
};

template <class Memory, unsigned Workers, class Traits = small_traits, class Table = no_table>
struct small_policy {
  using home = detail::home_of<Memory, small_event, Traits>;
  using color_queue = typename home::color_queue;
  using color = small_color<Memory>;

  std::array<home, Workers> homes;
  std::array<color_queue*, Workers> running{};  // each the worker's own
  std::array<std::uint64_t, Workers> past{};    // each the worker's own: what else matters of what its thread has done
  Table table;

  small_policy() {
    for (unsigned n = 0; n < Workers; ++n) homes[n].index = n;
  }

  // In the queue's own allocation: the queue is the color's first member.
  static color& color_of(color_queue& q) { return *reinterpret_cast<color*>(&q); }

  /// As default_poster::sender_of; other numbers are those of foreign threads.
  static std::uint16_t sender_of(unsigned worker) { return worker < Workers ? static_cast<std::uint16_t>(worker) : detail::no_worker; }
  void link(color_queue& q, std::uint16_t from = detail::no_worker) { link_to_owner(homes.data(), q, from); }

  /// As default_poster::deliver, from outside.
  void post(color& c, small_event& e, std::uint16_t from = detail::no_worker) {
    e.content = 1;
    if (c.queue.in.push(e, e) == detail::pushed::owes_link) link(c.queue, from);
  }
  /// As default_poster::deliver, by a worker.
  void post_as(unsigned worker, color& c, small_event& e) {
    e.content = 1;
    if (&c.queue == running[worker]) {
      c.queue.absorb_inbox();
      c.queue.append(e);
      return;
    }
    if (c.queue.owner.load(std::memory_order_relaxed) == worker &&
        homes[worker].post(c.queue, e) != detail::appended::refused) {
      return;
    }
    post(c, e, static_cast<std::uint16_t>(worker));
  }
  /// As default_poster::post_to_strand_color. False: the strand is gone.
  bool post_late(unsigned worker, color& c, std::uint64_t generation, small_event& e) {
    e.content = 1;
    if (worker < Workers && c.queue.owner.load(std::memory_order_relaxed) == worker &&
        homes[worker].post_if(generation, c.queue, e) != detail::appended::refused) {
      return true;
    }
    const detail::pushed outcome = c.queue.in.push_if(generation, e, e);
    if (outcome == detail::pushed::owes_link) link(c.queue, sender_of(worker));
    return outcome != detail::pushed::refused;
  }
  /// As default_poster::close_strand, from outside.
  void close(color& c, std::uint16_t from = detail::no_worker) {
    if (c.queue.in.close() == detail::pushed::owes_link) link(c.queue, from);
  }
  /// The same by a worker. True: retired at once.
  bool close_as(unsigned worker, color& c) {
    if (c.queue.owner.load(std::memory_order_relaxed) == worker) {
      const detail::closed outcome = homes[worker].close(c.queue);
      if (outcome == detail::closed::retired) retire(c);
      if (outcome != detail::closed::refused) return outcome == detail::closed::retired;
    }
    close(c, sender_of(worker));
    return false;
  }

  /// As queue_store::make on a line that was used before, and open_strand.
  void reopen(color& c, unsigned owner) {
    c.queue.head = nullptr;
    c.queue.tail = nullptr;
    c.queue.linked_next = nullptr;
    c.queue.state = detail::queue_state::idle;
    c.queue.closing = false;
    c.queue.linked_by = detail::no_worker;
    c.queue.sender = detail::no_worker;
    c.queue.visits = 0;
    c.queue.was_sent = false;
    c.queue.owner.store(owner, std::memory_order_release);
  }

  void forward(color_queue* chain) {
    while (chain != nullptr) {
      color_queue* const q = chain;
      chain = q->linked_next;
      link(*q);
    }
  }
  /// Turns of one event each; gives how many it ran. `in_event(color)` is called in each event.
  template <class InEvent>
  int work(unsigned worker, int turns, InEvent in_event) {
    home& h = homes[worker];
    color_queue* done = nullptr;
    int ran = 0;
    for (int n = 0; n < turns; ++n) {
      forget(mix(mix(mix(static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(ran)), bits_of(done)), past[worker]));
      color_queue* strays = nullptr;
      color_queue* const q = h.next(done, strays);
      forward(strays);
      done = nullptr;
      if (q == nullptr) continue;
      running[worker] = q;
      if (small_event* const e = q->take(); e != nullptr) {
        run(*q, *e, in_event);
        ++ran;
      }
      if (q->was_sent) q->note_visit(true);
      running[worker] = nullptr;
      if (!ended(*q)) done = q;
    }
    if (done != nullptr) h.put_back(*done);
    return ran;
  }
  int work(unsigned worker, int turns) {
    return work(worker, turns, [](color&) {});
  }
  /// As default_thief::steal_from.
  bool steal(unsigned thief, unsigned victim) {
    std::array<color_queue*, Traits::segment_slots> room{};
    const typename home::robbed got = homes[victim].rob(thief, room, [] {}, false);
    forward(got.strays);
    if (got.count == 0) return false;
    homes[thief].receive({room.data(), got.count});
    return true;
  }
  /// As default_giver::give.
  void give(unsigned worker, unsigned to) {
    std::array<color_queue*, Traits::segment_slots> room{};
    const std::size_t owed = homes[worker].part_with(to, room);
    detail::owed_links<home> links;
    for (std::size_t n = 0; n < owed; ++n) links.add(*room[n], to);
    if (owed != 0) links.pay(homes.data());
  }
  /// As default_policy::place, which comes again where it is refused.
  void place(color& c, unsigned to) {
    const unsigned owner = c.queue.owner.load(std::memory_order_acquire);
    if (owner == to || homes[owner].lock.try_enter_as_thief(false) == detail::thief_entry::refused) return;
    homes[owner].give(c.queue, to);
    homes[owner].lock.leave_as_thief();
  }
  /// When all threads have ended: runs what is left, and nothing may be.
  void settle() {
    for (int rounds = 0; rounds < 8; ++rounds) {
      for (unsigned n = 0; n < Workers; ++n) work(n, 4);
    }
    for (const home& h : homes) {
      check(!h.has_work(), "what is left runs to an end");
      check(h.told_ns.load(std::memory_order_relaxed) == 0, "told-of-waiting: where nothing waits, nothing is told to cost");
    }
  }

 private:
  template <class InEvent>
  void run(color_queue& q, small_event& e, InEvent in_event) {
    color& c = color_of(q);
    small_ledger& book = *c.ledger;
    check(e.generation == c.generation, "no event of a strand that has ended runs in the next one");
    check(book.running == 0, "one-runner: two events of one color never run at the same time");
    book.running = 1;
    check(e.runs == 0, "an event runs once");
    e.runs = 1;
    check(e.content == 1, "visibility: what happened before the post");
    auto& last = book.last[static_cast<std::size_t>(e.producer)];
    check(e.number == last + 1, "order: each producer's events in turn");
    last = e.number;
    const small_event* const earlier = e.after;
    check(earlier == nullptr || earlier->runs == 1, "first-posted-first-run");
    const int seen = book.data;
    in_event(c);
    book.data = seen + 1;
    book.ran = book.ran + 1;
    book.running = 0;
  }
  // As default_runner::ended.
  bool ended(color_queue& q) {
    const bool by_value = q.kind == detail::queue_kind::by_value;
    if (by_value ? q.has_events() || !table.remove_if_untouched(q) : !q.retire_if_closed()) return false;
    retire(color_of(q));
    return true;
  }
  void retire(color& c) {
    c.generation = c.generation + 1;
    if (poisons) poison(c.queue);
  }

 public:
  bool poisons = true;  // whoever touches a retired color queue is caught; off where late posts may look at it
};

}  // namespace tartan::model
