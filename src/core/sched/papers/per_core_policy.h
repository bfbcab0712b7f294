#pragma once
/// What per_worker and color_queues have in common: a queue for each worker, a map that says whose a color is, and thieves.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tartan/core/color.h>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/sched/papers/paper_policy.h"
#include "core/sched/papers/select_task.h"
#include "core/tuning.h"

namespace tartan::detail {

/// Base of a policy P, which has
///   drop_one(unsigned worker): a task that was queued there, or null. No worker runs.
///
/// Homes: two_part_homes or color_homes. Source: libasync-smp, section 3; Mely, II.B.
template <class P, class Homes>
class per_core_policy : public paper_policy<P> {
 public:
  void move_class_of(color where, unsigned worker_index) noexcept { homes_.give(class_of(where), worker_index); }

  bool search(worker& w) {
    summon_owners(w);
    const std::uint64_t begin = real_now_ns();
    for (;;) {
      if (life_.leaving(w) || (life_.hurried(w) ? life_.look(w) : life_.look_at_timers())) return true;
      if (homes_.size_seen(w.index) != 0 || (stealing_ && steal(w))) return true;
      // Who would block for readiness does so at once, if nobody is left who could make work.
      const bool last = life_.sleepers().view().awake() == 1;
      if (last || life_.hurried(w) || real_now_ns() - begin >= search_ns) return false;  // the papers' spin for ever
      for (int n = 0; n < 16; ++n) real_memory::relax();
    }
  }
  static void look_ahead(const worker& /*w*/) noexcept {}  // the papers' do not
  void cover(worker& w) noexcept {
    summon_owners(w);
    if (is_any_worth_a_visit()) life_.wake_any(&w);
  }
  [[nodiscard]] work_seen sources(const worker& w) noexcept {
    if (homes_.size_seen(w.index) != 0) return work_seen::found;
    summon_owners(w);
    return is_any_worth_a_visit() ? work_seen::declined : work_seen::none;
  }
  [[nodiscard]] polling polls_at_rest(const worker& w) const noexcept { return homes_.owner_of(0) == w.index ? polling::always : polling::never; }
  [[nodiscard]] std::size_t waiting(unsigned worker_index) const noexcept { return homes_.waiting(worker_index); }
  [[nodiscard]] bool any_left() noexcept {
    std::size_t tasks = 0;
    for (unsigned n = 0; n < workers_; ++n) tasks += homes_.size_seen(n);
    return tasks > (select_.is_polling() ? 1u : 0u);
  }
  std::size_t drop_all() noexcept {
    std::size_t dropped = 0;
    for (bool again = true; std::exchange(again, false);) {  // what is destroyed may post
      for (unsigned n = 0; n < workers_; ++n) {
        while (task* const t = self().drop_one(n)) {
          again = true;
          dropped += this->drop(*t, memory_, select_);
        }
      }
    }
    return dropped;
  }
  [[nodiscard]] scheduler_figures figures() const noexcept {
    scheduler_figures sum{.counted = figures_};
    for (unsigned n = 0; sum.counted && n < workers_; ++n) {
      const auto& own = homes_.at(n);
      const thief& of = thieves_[n];
      sum.lock_wait_ns += own.lock.waited_ns();
      sum.lock_held_ns += own.lock.held_ns();
      sum.longest_queue = std::max<std::uint64_t>(sum.longest_queue, own.longest);
      sum.steals += of.steals.get();
      sum.steal_ns += of.steal_ns.get();
      sum.vain_visits += of.vain_visits.get();
      sum.stolen_events += of.events.get();
      sum.stolen_run_ns += of.run_ns.get();
    }
    return sum;
  }

 protected:
  using base = paper_policy<P>;
  using base::life_;
  using base::workers_;

  template <class... Rules>
  per_core_policy(runtime_state& rt, const scheduler_choice& choice, Rules... rules)
      : base{rt},
        stealing_{choice.stealing && rt.workers() > 1},
        memory_{&rt, choice.free_lists},
        homes_{rt.workers(), rules...},
        figures_{choice.figures},
        thieves_{choice.figures || choice.measured_penalty ? std::make_unique<thief[]>(rt.workers()) : nullptr} {
    for (unsigned n = 0; figures_ && n < workers_; ++n) homes_.at(n).lock.count_time();
  }

  /// An unordered event gets the next class: there it may wait for others, but never for the default color.
  [[nodiscard]] std::uint32_t class_of(color where) noexcept {
    if (where != color::unordered) return static_cast<std::uint32_t>(where.value() % Homes::class_count);
    return 1 + last_unordered_.fetch_add(1, std::memory_order_relaxed) % (Homes::class_count - 1);
  }

  /// A task was queued there by this thread.
  void tell(unsigned owner, worker* from) noexcept {
    if (this->is_told(from)) return;
    if (life_.sleepers().is_asleep(owner)) return life_.summon(owner, from);
    if (stealing_ && homes_.may_be_worth_a_visit(owner)) life_.wake_any(from);
  }
  /// A worker has taken a task of its own. Is there more, for a thief?
  void took_task(worker& w) noexcept {
    life_.found_work(w);
    if (stealing_ && homes_.may_be_worth_a_visit(w.index) && life_.sleepers().view().sleeping() != 0) life_.wake_any(&w);
  }
  /// What an event took; 0: it was not timed.
  struct run_time {
    std::uint64_t took_ns = 0;
    bool is_stolen = false;
  };
  /// `timed`: the event is timed even if no steal has brought it.
  run_time run_task(worker& w, task& t, bool timed = false) {
    event& e = *t.what;
    const std::uint64_t color_value = t.color_value;
    const bool is_stolen = thieves_ != nullptr && thieves_[w.index].takes_loot(t.color_class);
    memory_.free(&t, &w.queue_lines);
    if (!is_stolen && !timed) [[likely]] {
      this->run_event(w, e, color_value);
      return {};
    }
    const std::uint64_t begin = real_now_ns();
    this->run_event(w, e, color_value);
    const std::uint64_t took_ns = real_now_ns() - begin;
    if (is_stolen) {
      thieves_[w.index].run_ns.add(took_ns);
      thieves_[w.index].events.add();
    }
    return {took_ns, is_stolen};
  }
  /// With the lock held of the worker's home: whether the select task is to be queued there.
  [[nodiscard]] bool wakes_select(worker& w) noexcept { return homes_.owner_of(0) == w.index && select_.wakes_up(w); }

  /// Victims: in the order that was set, or the fullest home, then by number, round.
  [[nodiscard]] bool steal(worker& w) noexcept {
    const auto visit = [&](unsigned victim) {
      return victim != w.index && homes_.may_be_worth_a_visit(victim) && steal_from(w, victim);
    };
    if (!victims_.empty()) {
      for (const unsigned victim : victims_[w.index]) {
        if (visit(victim)) return true;
      }
      return false;
    }
    if (!is_any_worth_a_visit()) return false;
    unsigned fullest = 0;
    for (unsigned n = 1; n < workers_; ++n) {
      if (homes_.size(n) > homes_.size(fullest)) fullest = n;
    }
    for (unsigned n = 0; n < workers_; ++n) {
      if (visit((fullest + n) % workers_)) return true;
    }
    return false;
  }

  [[nodiscard]] bool steal_from(worker& w, unsigned victim) noexcept {
    const bool learns = homes_.goes_by_price();
    const bool timed = learns || thieves_ != nullptr;
    const std::uint64_t begin = timed ? real_now_ns() : 0;
    typename Homes::loot taken;
    if (!homes_.take(w.index, victim, taken)) {
      if (thieves_ != nullptr) thieves_[w.index].vain_visits.add();
      return false;
    }
    homes_.put(w.index, taken);
    const std::uint64_t took_ns = timed ? real_now_ns() - begin : 0;
    if (learns) homes_.learn_price(took_ns);
    if (thieves_ != nullptr) thieves_[w.index].brings(taken.which, taken.count, took_ns);
    w.steals.add();
    w.stolen_colors.add();
    return true;
  }

  const bool stealing_;
  task_memory memory_;
  Homes homes_;
  std::vector<std::vector<unsigned>> victims_;  ///< of each worker, in the order in which it visits them; empty: by how much they have
  select_task select_;                          ///< guarded by the lock of whose class 0 is

 private:
  /// What a worker counts of its steals, for figures and for measured penalties.
  struct alignas(128) thief {
    counter steals;
    counter steal_ns;
    counter vain_visits;
    counter events;
    counter run_ns;
    std::uint32_t which = no_class;  ///< it has brought last
    std::uint32_t left = 0;          ///< events of it that have not run: of a class they are the first ones

    void brings(std::uint32_t number, std::uint32_t count, std::uint64_t took_ns) noexcept {
      steals.add();
      steal_ns.add(took_ns);
      which = number;
      left = count;
    }
    /// An event of its own is about to run. Gives whether it has brought that one.
    [[nodiscard]] bool takes_loot(std::uint32_t number) noexcept {
      if (left == 0 || number != which) return false;
      --left;
      return true;
    }
  };

  [[nodiscard]] P& self() noexcept { return static_cast<P&>(*this); }

  [[nodiscard]] bool is_any_worth_a_visit() const noexcept {
    for (unsigned n = 0; stealing_ && n < workers_; ++n) {
      if (homes_.may_be_worth_a_visit(n)) return true;
    }
    return false;
  }
  /// What came while nobody ran has woken nobody.
  void summon_owners(const worker& but) noexcept {
    if (life_.sleepers().view().paused()) return;
    for (unsigned n = 0; n < workers_; ++n) {
      if (n != but.index && homes_.size_seen(n) != 0 && life_.sleepers().is_asleep(n)) life_.summon(n, nullptr);
    }
  }

  const bool figures_;
  std::unique_ptr<thief[]> thieves_;  ///< null: neither figures nor penalties are measured
  real_memory::atomic<std::uint32_t> last_unordered_{0};  ///< relaxed: drawn
};

}  // namespace tartan::detail
