#pragma once
// What the default policy shows to its tests and to nobody else.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/sched/default_policy.h"

namespace tartan::detail {

struct default_policy_probe {
  using thiefs_notes = default_thief::notes;
  using givers_notes = default_giver::notes;

  static thiefs_notes& thiefs_notes_of(default_policy& policy, const worker& w) { return policy.thief_.notes_[w.index]; }
  static givers_notes& givers_notes_of(default_policy& policy, const worker& w) { return policy.giver_.notes_[w.index]; }
  /// What w has seen of another worker.
  static glance& glance_of(default_policy& policy, const worker& w, unsigned other) { return policy.peers_.views_[w.index].others[other]; }
  static std::vector<unsigned>& order_of(default_policy& policy, const worker& w) { return policy.peers_.views_[w.index].order; }
  static void set_order(default_policy& policy, const std::string& root) { policy.peers_.set_order(root); }
  static bool visit_others(default_policy& policy, worker& w, std::uint64_t now_ns) { return policy.thief_.visit_others(w, now_ns); }
  static void use_clock(default_policy& policy, std::uint64_t (*now)() noexcept) { policy.thief_.now_ = now; }
  static bool steal_from(default_policy& policy, worker& w, unsigned victim) {
    return policy.thief_.steal_from(w, victim, ~std::size_t{0});
  }
  static bool may_answer(default_policy& policy, const worker& w, unsigned victim, std::uint64_t now_ns) {
    return policy.thief_.may_answer(w, victim, now_ns);
  }
  static home& home_of(default_policy& policy, const worker& w) { return policy.shared_.homes[w.index]; }
  static std::size_t urgent_at(default_policy& policy, const worker& w) { return home_of(policy, w).urgent.size(); }
  static void make_room(default_policy& policy, worker& w, std::uint64_t now_ns) { policy.giver_.make_room(w, now_ns); }
  static void even_out(default_policy& policy, worker& w, std::uint64_t now_ns) { policy.giver_.even_out(w, now_ns); }
};

}  // namespace tartan::detail
