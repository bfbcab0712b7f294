#pragma once
/// A policy compiled into a worker's loop.

#include <utility>

#include "core/sleep/sleep_control.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"

namespace tartan::detail {

template <scheduling_policy P>
class scheduled final : public scheduler {
 public:
  template <class... Args>
  explicit scheduled(runtime_state& rt, Args&&... args) : rt_{rt}, policy_{rt, std::forward<Args>(args)...} {}

  [[nodiscard]] P& inner() noexcept { return policy_; }  // for tests

  void submit(color where, event& e, worker* from) noexcept override { policy_.submit(where, e, from); }
  void submit(strand_state& s, event& e, worker* from) noexcept override { policy_.submit(s, e, from); }
  void submit_many(std::span<addressed_event> many, worker* from) noexcept override { policy_.submit_many(many, from); }
  strand_state* open_strand(worker* from, bool named) override { return policy_.open_strand(from, named); }
  void close_strand(strand_state& s, worker* from) noexcept override { policy_.close_strand(s, from); }
  color color_of(const strand_state& s) const noexcept override { return policy_.color_of(s); }
  void place(strand_state& s, unsigned worker_index) noexcept override { policy_.place(s, worker_index); }
  work_seen sources(const worker& w) noexcept override { return policy_.sources(w); }
  work_seen watch_others(const worker& w) noexcept override { return policy_.watch_others(w); }
  std::uint64_t first_watch_ns() const noexcept override { return policy_.first_watch_ns(); }
  void cover(worker& w) noexcept override { policy_.cover(w); }
  void look_ahead(const worker& w) noexcept override { policy_.look_ahead(w); }
  polling polls_at_rest(const worker& w) const noexcept override { return policy_.polls_at_rest(w); }
  bool shares_polling() const noexcept override { return policy_.shares_polling(); }
  void take_over(worker& w) noexcept override { policy_.take_over(w); }
  bool any_left() noexcept override { return policy_.any_left(); }
  std::size_t waiting(unsigned worker_index) const noexcept override { return policy_.waiting(worker_index); }
  bool has_loot(unsigned worker_index) const noexcept override { return policy_.has_loot(worker_index); }
  bool may_lose_workers() const noexcept override { return policy_.may_lose_workers(); }
  void hand_over(unsigned worker_index) noexcept override { policy_.hand_over(worker_index); }
  std::size_t drop_all() noexcept override { return policy_.drop_all(); }
  scheduler_figures figures() const noexcept override { return policy_.figures(); }

  void run(worker& w) override {
    sleep_control& life = rt_.sleep();
    while (!life.leaving(w)) {
      if (policy_.turn(w)) continue;
      life.begin_search(w);
      if (!policy_.search(w) && !life.leaving(w)) life.rest(w, policy_.polls_at_rest(w));
    }
    life.begin_search(w);
    policy_.leave(w);
  }

 private:
  runtime_state& rt_;
  P policy_;
};

}  // namespace tartan::detail
