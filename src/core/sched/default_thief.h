#pragma once
/// Stealing, by the default scheduler: who steals what from whom, and when it does not.
///
/// Source: Mely, section III: steal only where it pays. There the programmer tells what events cost; here an idle
/// thief, which has nothing better to do, watches the victim's turns.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/clock.h"
#include "core/sched/default_poster.h"
#include "core/sched/default_state.h"
#include "core/sched/peer_view.h"
#include "core/sched/policy.h"
#include "core/tuning.h"

namespace tartan::detail {

/// What an idle worker does before it sleeps, and while it sleeps as watcher. Uses the poster, for links that a steal
/// leaves to the thief, and the peer view.
///
/// Threads: worker w. The members without comments are those of scheduling_policy.
class default_thief : default_part {
 public:
  default_thief(default_state& shared, default_poster& poster, peer_view& peers);

  bool search(worker& w);
  void leave(const worker& w) noexcept;
  void cover(worker& w) noexcept;
  void take_over(worker& w) noexcept;
  [[nodiscard]] work_seen sources(const worker& w) noexcept;
  [[nodiscard]] work_seen watch_others(const worker& w) noexcept;
  [[nodiscard]] scheduler_figures figures() const noexcept;

 private:
  friend struct default_policy_probe;  // a test's

  struct alignas(64) notes {
    std::uint64_t price_ns = steal_first_price_ns;  ///< of a steal, both sides together, as measured
    std::uint64_t stole_at_ns = 0;        ///< the last steal, until it is judged
    bool took_at_once = false;            ///< it was not a matter of price
    std::uint64_t keeps_off_ns = 0;       ///< for how long, after the last steal that did not pay
    std::uint64_t keeps_off_until_ns = 0;
    scheduler_figures figures{.counted = true};

    void judge_loot(std::uint64_t now_ns) noexcept;
    void learn_price(std::uint64_t entering_ns) noexcept;
  };

  [[nodiscard]] bool visit_others(worker& w, std::uint64_t now_ns) noexcept;
  [[nodiscard]] std::size_t worth_taking(const worker& w, unsigned victim, std::uint64_t now_ns) noexcept;
  [[nodiscard]] bool watch_closely(const worker& w, std::uint64_t for_ns) noexcept;
  [[nodiscard]] bool may_answer(const worker& w, unsigned victim, std::uint64_t now_ns) const noexcept;
  bool steal_from(worker& w, unsigned victim, std::size_t most) noexcept;
  void wake_owners() noexcept;

  default_poster& poster_;
  peer_view& peers_;
  /// Beyond it a worker without work sleeps at once. Two workers that play ping-pong must both stay awake.
  const unsigned most_searchers_;
  std::uint64_t (*now_)() noexcept = real_now_ns;  ///< a watcher's clock; tests have another
  std::vector<notes> notes_;                       ///< each its worker's own
};

}  // namespace tartan::detail
