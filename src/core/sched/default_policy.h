#pragma once
/// The default scheduler; docs/design/scheduler.md is its map.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/sched/default_giver.h"
#include "core/sched/default_poster.h"
#include "core/sched/default_runner.h"
#include "core/sched/default_state.h"
#include "core/sched/default_thief.h"
#include "core/sched/peer_view.h"
#include "core/sched/policy.h"
#include "core/tuning.h"
#include "core/worker.h"

namespace tartan::detail {

/// Owner's lists without locks, inboxes for everybody else, stealing of whole color queues.
///
/// Each part does one thing and owns what it notes for it; this class hands each call to its part. A part calls only
/// parts that come before it:
///
///     poster    posts, links and wakes
///     peers     what a worker has seen of the others' turns
///     giver     gives colors away                             uses poster, peers
///     thief     searches, watches and steals                  uses poster, peers
///     runner    turns                                         uses poster, giver
class default_policy {
 public:
  explicit default_policy(runtime_state& rt)
      : shared_{rt},
        poster_{shared_},
        peers_{shared_},
        giver_{shared_, poster_, peers_},
        thief_{shared_, poster_, peers_},
        runner_{shared_, poster_, giver_} {}

  void submit(color where, event& e, worker* from) noexcept { poster_.submit(where, e, from); }
  void submit(strand_state& s, event& e, worker* from) noexcept { poster_.submit(s, e, from); }
  void submit_many(std::span<addressed_event> many, worker* from) noexcept { poster_.submit_many(many, from); }
  [[nodiscard]] strand_state* open_strand(worker* from, bool named) { return shared_.queues.open_strand(from, named); }
  void close_strand(strand_state& s, worker* from) noexcept { poster_.close_strand(s, from); }
  [[nodiscard]] color color_of(const strand_state& s) const noexcept;
  void place(strand_state& s, unsigned worker_index) noexcept;

  bool turn(worker& w) { return runner_.turn(w); }
  bool search(worker& w) {
    giver_.was_idle(w);  // or the time of the search would count for the worker's own turns
    return thief_.search(w);
  }
  void leave(const worker& w) noexcept { thief_.leave(w); }
  void cover(worker& w) noexcept { thief_.cover(w); }
  void look_ahead(const worker& w) noexcept { shared_.homes[w.index].look_ahead(); }
  [[nodiscard]] work_seen sources(const worker& w) noexcept { return thief_.sources(w); }
  [[nodiscard]] work_seen watch_others(const worker& w) noexcept { return thief_.watch_others(w); }
  [[nodiscard]] static constexpr std::uint64_t first_watch_ns() noexcept { return detail::first_watch_ns; }
  [[nodiscard]] static constexpr polling polls_at_rest(const worker& /*w*/) noexcept { return polling::shared; }
  [[nodiscard]] static constexpr bool shares_polling() noexcept { return true; }
  void take_over(worker& w) noexcept { thief_.take_over(w); }
  [[nodiscard]] bool may_lose_workers() const noexcept { return shared_.stealing || shared_.workers == 1; }
  void hand_over(unsigned worker_index) noexcept { poster_.hand_over(worker_index); }
  [[nodiscard]] bool any_left() noexcept;
  [[nodiscard]] std::size_t waiting(unsigned index) const noexcept { return shared_.homes[index].waiting(); }
  [[nodiscard]] bool has_loot(unsigned index) const noexcept { return shared_.homes[index].has_loot(); }
  std::size_t drop_all() noexcept;
  [[nodiscard]] scheduler_figures figures() const noexcept { return thief_.figures(); }

 private:
  friend struct default_policy_probe;  // a test's

  default_state shared_;
  default_poster poster_;
  peer_view peers_;
  default_giver giver_;
  default_thief thief_;
  default_runner runner_;
};

}  // namespace tartan::detail
