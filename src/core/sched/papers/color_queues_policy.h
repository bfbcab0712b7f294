#pragma once
/// Mely: a queue for each color, and workstealing by what a color is worth.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tartan/core/color.h>
#include <tartan/core/event.h>

#include "core/memory.h"
#include "core/sched/papers/color_homes.h"
#include "core/sched/papers/handler_penalties.h"
#include "core/sched/papers/per_core_policy.h"

namespace tartan::detail {

/// Each worker has a doubly linked list of color queues under one spin lock, and serves ten events of one at most before it goes to the end.
///
/// Limits: 256 workers; memory.
/// Source: Mely (Gaud, Geneves, Lachaize, Lepers, Mottet, Muller, Quema: efficient workstealing for multicore event-driven systems),
/// III and IV. Its three heuristics are flags: time-left (IV.B: thieves take the color whose events are worth more than a steal costs, and
/// the longest first), penalty (III.C: an event counts time / penalty), locality (III.A: nearest caches first); base is without. Instead of penalty,
/// measured-penalty (VII, future work): told penalties are ignored, and a handler's penalty is measured by the clock (handler_penalties.h). Cost: two
/// clock reads for each event that a steal has brought, and for one in 17 of the others.
/// Differences:
/// - A color is a class of 65536; the map of 64 KB says whose it is. The paper's colors are 16 bits wide. The class moves whole, and not
///   while any color of it runs.
/// - no-overtaking while moving: the color queue is linked nowhere on its way, but posts find it (color_homes.h).
/// - An event whose cost nobody told counts 1 us, and the select callback nothing, so that nobody comes for it alone. penalty implies
///   time-left. time / penalty is cut to whole ns: 80 ns with a penalty of 1000 are nothing, however many there are.
/// - The stealing queue is without the color that runs and without one that is pinned, which no thief may take; and also with time-left two
///   colors must be queued at a victim, as in the base. Its three intervals end at 4 and at 16 prices of a steal: the paper tells no bounds.
/// - The price of a steal is for a color queue, not for each event: here it costs the same however many there are. It is 2 us at first, then
///   the mean of the last eight or so; no steal counts for more than twice the price. Without time-left nobody asks for it, nor times a steal.
/// - Thieves lock only who offers something, a flag that they read without the lock; Mely's figure 2 locks each victim to see.
/// - The distance is the level of the first shared cache, then the NUMA node, then the number; of workers that are not bound, as if they were.
/// - A look at I/O ends a batch. The select callback, unordered events and a worker's 50 us of search before it sleeps: as in
///   per_worker_policy.h. Priorities are not looked at: Mely knows none.
class color_queues_policy : public per_core_policy<color_queues_policy, color_homes<real_memory, task>> {
 public:
  static constexpr unsigned most_workers = color_homes<real_memory, task>::most_workers;

  color_queues_policy(runtime_state& rt, const scheduler_choice& choice);

  using paper_policy::submit;
  void submit(color where, event& e, worker* from) noexcept;
  bool turn(worker& w);

 private:
  template <class P, class Homes>
  friend class per_core_policy;
  template <class>
  friend struct policy_probe;  // tests'

  [[nodiscard]] std::uint32_t worth_of(const task& t) const noexcept;
  [[nodiscard]] bool run_next(worker& w);
  void run_and_learn(worker& w, task& t);
  [[nodiscard]] task* drop_one(unsigned worker_index) noexcept;
  void queue_select(color_home<real_memory, task, color_traits>& own) noexcept;
  [[nodiscard]] class_queue* new_queue(line_cache* lines, color where, const event& what) noexcept;
  void free_queue(class_queue* q, line_cache* lines) noexcept;

  const bool penalty_;
  const std::unique_ptr<handler_penalties> penalties_;  ///< null: they are not measured
};

static_assert(scheduling_policy<color_queues_policy>);

}  // namespace tartan::detail
