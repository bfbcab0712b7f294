#pragma once
/// libasync-smp: a queue for each worker, and stealing.

#include <cstddef>
#include <tartan/core/color.h>
#include <tartan/core/event.h>

#include "core/memory.h"
#include "core/sched/papers/per_core_policy.h"
#include "core/sched/papers/two_part_homes.h"

namespace tartan::detail {

/// Each worker has a queue in two parts under a spin lock; a color's home is in a map of 1024 classes, into which colors fold.
///
/// Limits: memory; as many workers as a runtime may have.
/// Source: libasync-smp (USENIX 2003), section 3; what it does not tell of stealing is from Mely, II.B: victims from the fullest queue on,
/// by number; only where two colors are queued; the first color that does not run and has less than half of the queue's events; the scan
/// ends by the color's count; lock the victim, take, unlock, lock oneself, add. Differences:
/// - Stealing goes by classes, the map's entries: two of them queued, one that does not run and has less than half.
/// - Thieves lock only who offers two classes, a flag that they read without the lock; Mely's figure 2 locks each victim to see.
/// - one-place: what moves is a class, whole, and not while any color of it runs. If one color moved, a congruent one would stay behind,
///   and its later posts would go to the thief: two workers would have one class, and the map could not say whose it is.
/// - no-overtaking while moving: see two_part_homes.h.
/// - CPU and I/O events and unordered ones: as in shared_queue_policy.h. So are the weights: which part priorities have the paper does not say.
/// - The select callback goes where class 0 goes. Its worker blocks for it only with an empty queue, and after it has searched; any post to
///   that worker ends it, and it polls again after a rest, a move, and 64 events (select_task.h).
/// - A worker without work looks for some for 50 us, then sleeps until somebody wakes it; looks at timers meanwhile.
/// - Its locks are padded, its memory and its poller are those of all schedulers here (Mely, IV.C). `no-freelists` is about the queues'
///   entries: events themselves stay pooled.
class per_worker_policy : public per_core_policy<per_worker_policy, two_part_homes<real_memory, task>> {
 public:
  per_worker_policy(runtime_state& rt, const scheduler_choice& choice);

  using paper_policy::submit;
  void submit(color where, event& e, worker* from) noexcept;
  bool turn(worker& w);

 private:
  template <class P, class Homes>
  friend class per_core_policy;
  template <class>
  friend struct policy_probe;  // tests'

  [[nodiscard]] bool run_next(worker& w);
  [[nodiscard]] task* drop_one(unsigned worker_index) noexcept { return homes_.drop(worker_index); }

  const unsigned first_;
};

static_assert(scheduling_policy<per_worker_policy>);

}  // namespace tartan::detail
