#pragma once
/// Giving colors away, by the default scheduler: colors that wait beside a hot color, or in a line that is much
/// longer than another one, move to the worker whose line is shorter.
///
/// Nobody steals while nobody is idle. A worker with a hot color would serve it half of its time, and the others that
/// it happens to hold the other half; then the hot color, which no second worker can help, comes last (W6: at 0.65 of
/// the bound).

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/sched/default_poster.h"
#include "core/sched/default_state.h"
#include "core/sched/peer_view.h"

namespace tartan::detail {

/// Uses the poster, which pays the links of the colors that move, and the peer view.
///
/// Threads: worker w.
class default_giver : default_part {
 public:
  default_giver(default_state& shared, default_poster& poster, peer_view& peers)
      : default_part{shared}, poster_{poster}, peers_{peers}, notes_(shared.workers) {}

  /// At the beginning of a hot color's turn: gives away what waits here for longer than it would elsewhere.
  void make_room(worker& w, std::uint64_t now_ns) noexcept;
  /// By a worker with a long line: gives a part of it to a worker whose line is shorter.
  void even_out(worker& w, std::uint64_t now_ns) noexcept;
  /// The worker has run out of work: the time since its last turn says nothing about its turns.
  void was_idle(const worker& w) noexcept { notes_[w.index].own.since_ns = 0; }

 private:
  friend struct default_policy_probe;  // a test's

  struct alignas(64) notes {
    std::uint64_t hot_turn_ns = 0;  ///< when it last began to serve a long backlog
    glance own;                     ///< of its own turns, at its last comparison; since 0: it has been idle
    unsigned shorter = ~0u;         ///< whose line was shorter then
    std::size_t compare_next = 0;   ///< in its order of visits: the first worker of the next comparison
  };
  struct shorter_line {
    unsigned worker;
    std::uint64_t wait_ns;
    std::uint64_t turn_ns;
    bool some_unknown;  ///< of those that were looked at: they are counted from here on
  };
  /// Of a worker's order of visits, round.
  struct some_others {
    std::size_t first;
    std::size_t count;
    [[nodiscard]] std::size_t following(std::size_t all) const noexcept { return (first + count) % all; }
  };
  enum class sleepers : std::uint8_t { too, left_out };

  [[nodiscard]] shorter_line shortest_line(const worker& w, std::uint64_t now_ns, some_others whom,
                                           sleepers which) noexcept;
  void give(worker& w, unsigned to, std::size_t most) noexcept;

  default_poster& poster_;
  peer_view& peers_;
  std::vector<notes> notes_;  ///< each its worker's own
};

}  // namespace tartan::detail
