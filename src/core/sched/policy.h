#pragma once
/// What a scheduling policy is: the small interface behind which every scheduler lies.
///
/// A policy owns all event queues and decides which event a worker runs next, who is woken, and who polls for I/O and when. An
/// event shows it its origin (post, I/O, timer, signal) and, if the programmer gave them, cost, penalty and priority: see
/// event_ops. Readiness is taken by nobody but who calls sleep_control::look, look_before_rest, or rest as one that polls. The default lets any
/// worker look every so many events and any idle one wait. The papers' policies queue an event of color 0 that polls, or blocks
/// when it is alone: such an event calls look, or begin_search and then rest, itself, and all others rest without polling
/// (polling_event_policy_fixture.h). Who goes to rest is taken off the count of searchers, and so must be on it.
///
/// For the stall watch a policy keeps, in the worker that runs an event: `in_turn`, `running` and `site` (both written whole), and then
/// `left_in_batch` with `turns`, which together are another number for each event. One that does not is watched by turns only.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tartan/core/color.h>
#include <tartan/core/event.h>

#include "core/sleep/idle_set.h"
#include "core/sleep/work_view.h"
#include "core/worker.h"

namespace tartan::detail {

class runtime_state;

/// What the papers' evaluations print beside events per second. Times are sums over all threads.
///
/// The papers' schedulers count them if somebody asks for them. The default always does, as its thieves see them: of locks, only thieves'
/// time; the run time of what a steal brought until the thief looked for work again; as the longest queue, the most colors that a thief
/// saw waiting; no stolen events.
struct scheduler_figures {
  bool counted = false;              ///< else all are 0
  std::uint64_t lock_wait_ns = 0;    ///< until threads had one of the policy's locks
  std::uint64_t lock_held_ns = 0;    ///< while they had it
  std::uint64_t steals = 0;
  std::uint64_t steal_ns = 0;        ///< of thieves that found something, from the victim's lock to their own queue
  std::uint64_t vain_visits = 0;     ///< of thieves that locked a victim and found nothing
  std::uint64_t answered = 0;        ///< visits that the default's victim let in by itself: no membarrier was needed
  std::uint64_t stolen_events = 0;   ///< that have run
  std::uint64_t stolen_run_ns = 0;   ///< what they took
  std::uint64_t longest_queue = 0;   ///< events that waited in one queue, at most
};

/// Requirements of a policy. `from` is the calling worker, null on a foreign thread. None is optional: nobody would notice that an optional one
/// is misspelled, and so never called.
template <class P>
concept scheduling_policy = requires(P p, const P& c, worker& w, worker* from, color where, event& e, strand_state& s,
                                     std::span<addressed_event> many, unsigned n) {
  { p.submit(where, e, from) } noexcept;        // any thread
  { p.submit(s, e, from) } noexcept;            // any thread
  { p.submit_many(many, from) } noexcept;       // any thread
  { p.open_strand(from, true) } -> std::same_as<strand_state*>;  // true: it will be named, and its name forgotten at its end
  { p.close_strand(s, from) } noexcept;         // any thread; what was posted before still runs
  { c.color_of(s) } noexcept -> std::same_as<color>;
  { p.place(s, n) } noexcept;                   // tests and benchmarks: where an idle strand's next event shall run
  { p.turn(w) } -> std::same_as<bool>;          // runs some events, a bounded number; false: found none
  { p.search(w) } -> std::same_as<bool>;        // nothing of its own: looks elsewhere for a bounded time; true: turn again
  { p.leave(w) } noexcept -> std::same_as<void>;  // a run has ended for this worker: until the next one it runs nothing
  { p.look_ahead(w) } noexcept -> std::same_as<void>;  // from within an event: may ask for the cache lines of what this worker runs next
  { p.cover(w) } noexcept;                      // the last searcher found work: is there more, for another worker?
  { p.sources(w) } noexcept -> std::same_as<work_seen>;  // the look before sleeping, after a barrier; posts nothing (alone-awake)
  { c.first_watch_ns() } noexcept -> std::same_as<std::uint64_t>;  // how long a watcher sleeps before that; each further time twice as long
  { p.watch_others(w) } noexcept -> std::same_as<work_seen>;  // a watcher's look, asleep, when its time is up; posts nothing; found: it gets up, and searches
  { c.polls_at_rest(w) } noexcept -> std::same_as<polling>;  // found nothing: how it takes readiness in its sleep
  { c.shares_polling() } noexcept -> std::same_as<bool>;  // whether that is ever polling::shared
  { p.take_over(w) } noexcept -> std::same_as<void>;  // what waits at workers that sleep, and that this one has left there
  { c.waiting(n) } noexcept -> std::same_as<std::size_t>;  // runnable colors held by a worker, roughly
  { c.has_loot(n) } noexcept -> std::same_as<bool>;        // whether there are any among them that another one may take; asked where polling is shared
  { c.may_lose_workers() } noexcept -> std::same_as<bool>;  // whether their number may change in a run
  { p.hand_over(n) } noexcept -> std::same_as<void>;        // by a worker that leaves, and after it has left by whoever finds something there: to others
  { p.any_left() } noexcept -> std::same_as<bool>;
  { p.drop_all() } noexcept -> std::same_as<std::size_t>;  // no worker runs: destroys every event; gives how many
  { c.figures() } noexcept -> std::same_as<scheduler_figures>;  // no worker runs
};

/// A policy as the rest of the runtime sees it, chosen when the runtime is made.
class scheduler : public work_view {
 public:

  virtual void submit(color where, event& e, worker* from) noexcept = 0;
  virtual void submit(strand_state& s, event& e, worker* from) noexcept = 0;
  virtual void submit_many(std::span<addressed_event> many, worker* from) noexcept = 0;
  [[nodiscard]] virtual strand_state* open_strand(worker* from, bool named) = 0;
  virtual void close_strand(strand_state& s, worker* from) noexcept = 0;
  [[nodiscard]] virtual color color_of(const strand_state& s) const noexcept = 0;
  virtual void place(strand_state& s, unsigned worker_index) noexcept = 0;
  /// By an event that takes some microseconds: event_ops::ask_ahead of those that come next, if the policy does so. Threads: w's, within an event.
  virtual void look_ahead(const worker& w) noexcept = 0;
  /// For a worker that rests in a pause; within a run its loop asks the policy itself.
  [[nodiscard]] virtual polling polls_at_rest(const worker& w) const noexcept = 0;
  /// Whether any event waits, on any worker. Threads: no worker runs.
  [[nodiscard]] virtual bool any_left() noexcept = 0;
  [[nodiscard]] virtual bool may_lose_workers() const noexcept = 0;
  /// Threads: any; the worker's own, or any after it has left.
  virtual void hand_over(unsigned worker_index) noexcept = 0;
  virtual std::size_t drop_all() noexcept = 0;
  /// Threads: no worker runs.
  [[nodiscard]] virtual scheduler_figures figures() const noexcept = 0;

  /// A worker's loop; comes and goes counted as a searcher. Returns when the worker is to leave.
  virtual void run(worker& w) = 0;
};

/// What the runtime's options and environment have chosen.
[[nodiscard]] std::unique_ptr<scheduler> make_scheduler(runtime_state& rt);

}  // namespace tartan::detail
