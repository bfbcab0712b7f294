#pragma once
/// What each worker has seen of the turns of the others.

#include <cstdint>
#include <string>
#include <vector>

#include "core/sched/default_state.h"

namespace tartan::detail {

/// What a worker has seen of another one: how many turns that one had made at some time.
struct glance {
  std::uint64_t turns = 0;
  std::uint64_t since_ns = 0;
  std::uint64_t follow_ups = 0;  ///< how many of them had made a color runnable
  bool suspected = false;        ///< a thief's: the backlog seemed worth a theft, and is watched once more
};

/// Counts turns between two looks, for the thief and the giver in each worker; and knows in which order a worker
/// visits the others.
///
/// Threads: the records of a worker are its own. Whoever looks at `other` reads counters that `other` writes in every
/// turn.
class peer_view : default_part {
 public:
  explicit peer_view(default_state& shared);

  /// The latest look of worker `by` at worker `other`.
  [[nodiscard]] const glance& of(unsigned by, unsigned other) const noexcept { return views_[by].others[other]; }
  /// A new look, from which the turns of `other` are counted from here on. `suspected` is false then.
  void look_again(unsigned by, unsigned other, std::uint64_t now_ns) noexcept;
  void suspect(unsigned by, unsigned other, bool suspected) noexcept { views_[by].others[other].suspected = suspected; }
  /// All other workers, in the order in which worker `by` visits them.
  [[nodiscard]] const std::vector<unsigned>& order(unsigned by) const noexcept { return views_[by].order; }

 private:
  friend struct default_policy_probe;  // a test's

  struct alignas(64) view {
    std::vector<glance> others;   ///< by worker
    std::vector<unsigned> order;  ///< all others, nearest first
  };
  void set_order(const std::string& root = "/sys");

  std::vector<view> views_;  ///< each its worker's own
};

}  // namespace tartan::detail
