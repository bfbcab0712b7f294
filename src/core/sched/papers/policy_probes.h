#pragma once
/// What tests see of the papers' schedulers, and do in their stead: steps of any worker, on the calling thread, while nobody runs.

#include <tartan/core/runtime.h>

#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/papers/color_queues_policy.h"
#include "core/sched/papers/per_worker_policy.h"
#include "core/sched/papers/shared_queue_policy.h"
#include "core/sched/scheduled.h"

namespace tartan::detail {

template <class Policy>
struct policy_probe {
  using policy = Policy;
  static policy& of(runtime& rt) { return dynamic_cast<scheduled<policy>&>(rt.state().policy()).inner(); }
  static auto& homes_of(runtime& rt) { return of(rt).homes_; }
  static handler_penalties& penalties_of(runtime& rt) { return *of(rt).penalties_; }
  static bool steal(runtime& rt, unsigned thief) { return of(rt).steal(rt.state().life().at(thief)); }
  /// One task of its own, if there is one.
  static bool run_next(runtime& rt, unsigned worker) { return of(rt).run_next(rt.state().life().at(worker)); }
  static bool turn(runtime& rt, unsigned worker) { return of(rt).turn(rt.state().life().at(worker)); }
  static bool search(runtime& rt, unsigned worker) { return of(rt).search(rt.state().life().at(worker)); }
  static work_seen sources(runtime& rt, unsigned worker) { return of(rt).sources(rt.state().life().at(worker)); }
  static polling polls_at_rest(runtime& rt, unsigned worker) { return of(rt).polls_at_rest(rt.state().life().at(worker)); }
};

}  // namespace tartan::detail
