#pragma once
/// A third policy, in small: as in the papers, polling is an event of color 0 that lies in the queue among all others.

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <span>
#include <tartan/core/color.h>
#include <vector>

#include "core/lifecycle.h"
#include "core/sched/scheduled.h"
#include "core/sched/serial_policy_fixture.h"
#include "core/worker.h"

namespace tartan::test {

/// One queue for all workers, oldest first, one event of a color at a time. The polling event looks outside and goes to the end of the
/// queue; if there is nothing else to run, it blocks until something is ready, and its worker is the only one whom readiness wakes.
///
/// Without timers. Source: libasync-mp, section 3 (select as an event of the default color).
class polling_event_policy : public serial_policy {
 public:
  explicit polling_event_policy(detail::runtime_state& rt) : serial_policy{rt} { queue_.push_back({}); }

  // What it did. Threads: while no worker runs.
  unsigned looks = 0;   ///< as the polling form
  unsigned blocks = 0;  ///< as the blocking form

  /// The number of the blocking form that a worker has now; 0: none has. Threads: any.
  [[nodiscard]] unsigned block_now() noexcept {
    const std::lock_guard hold{lock_};
    return blocked_ != nobody ? blocks : 0;
  }

  void submit(color where, detail::event& e, detail::worker* from) noexcept {
    unsigned held_by = nobody;
    {
      const std::lock_guard hold{lock_};
      queue_.push_back({where, &e, {}});
      if (where == color{}) held_by = blocked_;
    }
    const detail::idle_view view = rt_.life().sleepers().view_after_publish();
    if (view.paused() || view.forked()) return rt_.life().posted_outside(view);
    // The polling event has color 0, too, and while it blocks it is in the way of this one.
    if (held_by != nobody) return rt_.life().summon(held_by, from);
    rt_.life().wake_any(from);
  }
  void submit(detail::strand_state& s, detail::event& e, detail::worker* from) noexcept { submit(color_of(s), e, from); }
  void submit_many(std::span<detail::addressed_event> many, detail::worker* from) noexcept {
    for (const detail::addressed_event& each : many) submit(each.where, *each.what, from);
  }

  bool turn(detail::worker& w) {
    bool alone = false;
    pending next;
    {
      const std::lock_guard hold{lock_};
      const auto found = runnable();
      if (found == queue_.end()) return false;
      next = *found;
      queue_.erase(found);
      running_.push_back(next.where);
      alone = next.what == nullptr && runnable() == queue_.end() && !has_default();
      if (next.what == nullptr) ++(alone ? blocks : looks);
      if (alone) blocked_ = w.index;
    }
    if (next.what != nullptr) {
      rt_.life().found_work(w);
      run_event(w, next);
    } else if (alone) {
      rt_.life().begin_search(w);
      rt_.life().rest(w, detail::polling::always);
    } else {
      (void)rt_.life().look(w);
    }
    const std::lock_guard hold{lock_};
    running_.erase(std::find(running_.begin(), running_.end(), next.where));
    if (next.what == nullptr) queue_.push_back(next);
    if (alone) blocked_ = nobody;
    return true;
  }
  bool search(detail::worker& /*w*/) noexcept { return false; }
  static void look_ahead(const detail::worker& /*w*/) noexcept {}
  void cover(detail::worker& w) noexcept {
    if (sources(w) == detail::work_seen::found) rt_.life().wake_any(&w);
  }
  [[nodiscard]] detail::work_seen sources(const detail::worker& w) noexcept {
    const std::lock_guard hold{lock_};
    const bool in_its_way = w.index == blocked_ && has_default();
    return in_its_way || runnable() != queue_.end() ? detail::work_seen::found : detail::work_seen::none;
  }
  /// Who has not got the polling event sleeps until it is called.
  [[nodiscard]] static constexpr detail::polling polls_at_rest(const detail::worker& /*w*/) noexcept { return detail::polling::never; }
  [[nodiscard]] bool any_left() noexcept {
    const std::lock_guard hold{lock_};
    return std::any_of(queue_.begin(), queue_.end(), [](const pending& each) { return each.what != nullptr; });
  }

 private:
  static constexpr unsigned nobody = detail::lifecycle::idle::nobody;
  using place_in_queue = std::deque<pending>::iterator;

  // With the lock held.
  [[nodiscard]] place_in_queue runnable() {
    return std::find_if(queue_.begin(), queue_.end(), [this](const pending& each) {
      return std::find(running_.begin(), running_.end(), each.where) == running_.end();
    });
  }
  [[nodiscard]] bool has_default() const {
    return std::any_of(queue_.begin(), queue_.end(), [](const pending& each) { return each.where == color{}; });
  }

  std::vector<color> running_;  ///< guarded by lock_, as blocked_
  unsigned blocked_ = nobody;   ///< whose polling event blocks
};

static_assert(detail::scheduling_policy<polling_event_policy>);

}  // namespace tartan::test
