#pragma once
/// What tests see of the papers' schedulers, and do in their stead: steps of any worker, on the calling thread, while nobody runs.

#include <cstdint>
#include <functional>
#include <tartan/core/runtime.h>
#include <utility>

#include "core/runtime_state.h"
#include "core/sched/papers/color_queues_policy.h"
#include "core/sched/papers/per_worker_policy.h"
#include "core/sched/scheduled.h"

namespace tartan::detail {

template <class Policy>
struct policy_probe {
  using policy = Policy;
  static policy& of(runtime& rt) { return dynamic_cast<scheduled<policy>&>(rt.state().policy()).inner(); }
  static bool steal_from(policy& p, worker& thief, unsigned victim) { return p.steal_from(thief, victim); }
  static bool steal(policy& p, worker& thief) { return p.steal(thief); }
  static void between(policy& p, std::function<void()> f) { p.between_ = std::move(f); }
  static unsigned owner(const policy& p, std::uint32_t number) { return p.owner_of(number); }
  static auto& lock_of(policy& p, unsigned worker) { return p.cores_[worker].lock; }
};

using per_worker_probe = policy_probe<per_worker_policy>;

struct color_queues_probe : policy_probe<color_queues_policy> {
  static bool is_worth_a_visit(const policy& p, unsigned victim) { return p.may_be_worth_a_visit(victim); }
  static bool has_color_queue(const policy& p, std::uint32_t number) { return p.queue_[number] != nullptr; }
  static void learn_price(policy& p, std::uint64_t took_ns) { p.learn_price(took_ns); }
  static std::uint64_t price_ns(const policy& p) { return p.price_ns(); }
};

}  // namespace tartan::detail
