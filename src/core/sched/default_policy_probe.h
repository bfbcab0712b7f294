#pragma once
// What the default policy shows to its tests and to nobody else.

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/sched/default_policy.h"

namespace tartan::detail {

struct default_policy_probe {
  using watch = default_policy::watch;

  static watch& watch_of(default_policy& policy, const worker& w) { return policy.watches_[w.index]; }
  static bool visit_others(default_policy& policy, worker& w, std::uint64_t now_ns) { return policy.visit_others(w, now_ns); }
  static void use_clock(default_policy& policy, std::uint64_t (*now)() noexcept) { policy.now_ = now; }
  static void set_victims(default_policy& policy, const std::string& root) { policy.set_victims(root); }
  static bool steal_from(default_policy& policy, worker& w, unsigned victim) { return policy.steal_from(w, victim, ~std::size_t{0}); }
  static bool may_answer(default_policy& policy, const worker& w, unsigned victim, std::uint64_t now_ns) {
    return policy.may_answer(policy.watches_[w.index], victim, now_ns);
  }
  static home& home_of(default_policy& policy, const worker& w) { return policy.homes_[w.index]; }
  static std::size_t urgent_at(default_policy& policy, const worker& w) { return policy.homes_[w.index].urgent.size(); }
  static void make_room(default_policy& policy, worker& w, std::uint64_t now_ns) { policy.make_room(w, now_ns); }
  static void even_out(default_policy& policy, worker& w, std::uint64_t now_ns) { policy.even_out(w, now_ns); }
};

}  // namespace tartan::detail
