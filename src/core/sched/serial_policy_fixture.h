#pragma once
/// A second policy, in small: one queue, one worker at a time, polling as it likes. It shows that the interface suffices for one
/// that has nothing in common with the default, and writes down what it saw.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tartan/core/runtime.h>
#include <vector>

#include "core/lifecycle.h"
#include "core/line_pool.h"
#include "core/runtime_state.h"
#include "core/sched/scheduled.h"
#include "core/tuning.h"
#include "core/worker.h"
#include "tests/workers.h"

namespace tartan::test {

/// Worker 0 runs everything, one event at a time; the others only sleep. Of the colors that have events, the one with the highest
/// priority goes first, then the oldest. It polls after each third event, and when it has nothing to do; or, if the test says so, another
/// one does, in its sleep only.
class serial_policy {
 public:
  static constexpr int events_between_polls = 3;

  /// An event, as a policy sees it.
  struct sight {
    color where;
    detail::origin from;
    detail::handler_hints hints;
    bool can_be_looked_at;  ///< before its turn
  };

  explicit serial_policy(detail::runtime_state& rt) : rt_{rt}, strands_{&rt} {}

  // What it saw. Threads: while no worker runs.
  std::vector<sight> seen;
  int looks_ahead = 0;
  std::string steps;  ///< e: an event has run, p: polled
  /// Who takes readiness in its sleep. Threads: set before the first run.
  unsigned poller = 0;
  /// Whether the poller is polled because this policy says so, now.
  std::atomic<bool> polls{false};

  [[nodiscard]] std::size_t seen_from(detail::origin from) const {
    return static_cast<std::size_t>(std::count_if(seen.begin(), seen.end(), [=](const sight& each) { return each.from == from; }));
  }

  void submit(color where, detail::event& e, detail::worker* from) noexcept {
    {
      const std::lock_guard hold{lock_};
      queue_.push_back({where, &e, hints_of(e)});
      seen.push_back({where, e.ops->from, hints_of(e), e.ops->ask_ahead != nullptr});
    }
    const detail::idle_view view = rt_.life().sleepers().view_after_publish();
    if (view.paused() || view.forked()) return rt_.life().posted_outside(view);
    rt_.life().summon(0, from);
  }
  void submit(detail::strand_state& s, detail::event& e, detail::worker* from) noexcept { submit(color_of(s), e, from); }
  void submit_many(std::span<detail::addressed_event> many, detail::worker* from) noexcept {
    for (const detail::addressed_event& each : many) submit(each.where, *each.what, from);
  }

  [[nodiscard]] detail::strand_state* open_strand(detail::worker* /*from*/, bool named) {
    auto* const made = static_cast<strand_line*>(strands_.allocate_shared());
    const std::lock_guard hold{lock_};
    made->color_value = strand_bit | ++last_strand_;
    made->named = named;
    return reinterpret_cast<detail::strand_state*>(made);
  }
  void close_strand(detail::strand_state& s, detail::worker* /*from*/) noexcept {
    auto& line = reinterpret_cast<strand_line&>(s);
    if (line.named) rt_.forget_name(color_of(s));
    strands_.release_shared(&line);
  }
  [[nodiscard]] color color_of(const detail::strand_state& s) const noexcept {
    return detail::raw_color::make(reinterpret_cast<const strand_line&>(s).color_value);
  }
  void place(detail::strand_state& /*s*/, unsigned /*worker*/) noexcept {}

  bool turn(detail::worker& w) {
    if (w.index != 0) return false;
    if (since_poll_ == events_between_polls && poller == 0) (void)poll(w);
    const pending next = take();
    if (next.what == nullptr) return false;
    rt_.life().found_work(w);
    run(w, next);
    if (w.deferred_deadline != detail::never_ns) rt_.life().publish_deferred(w);
    return true;
  }
  bool search(detail::worker& w) {
    if (w.index == 0) return (poller == 0 && poll(w)) || waiting(0) != 0;
    // Whoever rests last may be the one who is awake for the next timer; but only worker 0 looks at timers.
    if (const detail::clockwork* const timers = rt_.timers(); timers != nullptr && timers->next_ns() < rt_.now_ns()) rt_.life().summon(0, &w);
    return false;
  }
  void look_ahead(const detail::worker& /*w*/) noexcept { ++looks_ahead; }
  void cover(detail::worker& w) noexcept {
    if (waiting(0) != 0) rt_.life().summon(0, &w);
  }
  [[nodiscard]] detail::work_seen sources(const detail::worker& w) noexcept {
    return w.index == 0 && waiting(0) != 0 ? detail::work_seen::found : detail::work_seen::none;
  }
  static void leave(const detail::worker& /*w*/) noexcept {}
  [[nodiscard]] static constexpr bool shares_polling() noexcept { return false; }
  [[nodiscard]] static constexpr bool may_lose_workers() noexcept { return false; }
  static void hand_over(unsigned /*worker_index*/) noexcept {}
  static void take_over(const detail::worker& /*w*/) noexcept {}
  [[nodiscard]] static constexpr bool has_loot(unsigned /*worker_index*/) noexcept { return false; }
  [[nodiscard]] static constexpr std::uint64_t first_watch_ns() noexcept { return detail::longest_watch_ns(2); }
  [[nodiscard]] static detail::work_seen watch_others(const detail::worker& /*w*/) noexcept { return detail::work_seen::found; }
  [[nodiscard]] static detail::scheduler_figures figures() noexcept { return {}; }
  [[nodiscard]] detail::polling polls_at_rest(const detail::worker& w) const noexcept {
    return w.index == poller ? detail::polling::always : detail::polling::never;
  }
  [[nodiscard]] std::size_t waiting(unsigned worker_index) const noexcept {
    const std::lock_guard hold{lock_};
    return worker_index == 0 ? queue_.size() : 0;
  }
  [[nodiscard]] bool any_left() noexcept { return waiting(0) != 0; }
  std::size_t drop_all() noexcept {
    std::size_t dropped = 0;
    for (pending next = take(); next.what != nullptr; next = take(), ++dropped) {
      const bool pooled = next.what->ops->pooled;
      next.what->ops->drop(*next.what);
      if (pooled) detail::free_event(rt_, *next.what);
    }
    return dropped;
  }

 protected:
  struct pending {
    color where;
    detail::event* what = nullptr;
    detail::handler_hints hints;
  };

  /// The event itself, with what a worker shows of it.
  void run_event(detail::worker& w, const pending& next) {
    const bool pooled = next.what->ops->pooled;
    w.running = next.where;
    w.site = next.what->site;
    w.inline_left = detail::lifecycle::inline_completions;
    w.in_event = true;
    try {
      next.what->ops->run(*next.what);
    } catch (...) {
      rt_.escaped(w.running, w.site);
    }
    w.in_event = false;
    w.running = color{};
    if (pooled) detail::free_event(rt_, *next.what);
    w.events.add();
    w.turns.add();
  }

  detail::runtime_state& rt_;
  mutable std::mutex lock_;  ///< guards queue_, seen and last_strand_
  std::deque<pending> queue_;

 private:
  static constexpr std::uint64_t strand_bit = std::uint64_t{1} << 63;

  /// In a line of the pool, behind what the pool uses itself, so that runtime_of finds the runtime.
  struct strand_line {
    detail::free_line of_the_pool;
    std::uint64_t color_value;
    bool named;
  };

  static detail::handler_hints hints_of(const detail::event& e) noexcept {
    detail::handler_hints hints;
    if (e.ops->hinted) std::memcpy(&hints, e.storage, sizeof(hints));
    return hints;
  }

  bool poll(detail::worker& w) {
    since_poll_ = 0;
    steps += 'p';
    polls.store(true);
    const bool posted = rt_.life().look(w);
    polls.store(false);
    return posted;
  }

  /// The first event of the color whose first event has the highest priority.
  pending take() noexcept {
    const std::lock_guard hold{lock_};
    auto best = queue_.end();
    for (auto each = queue_.begin(); each != queue_.end(); ++each) {
      const bool first = std::none_of(queue_.begin(), each, [&](const pending& other) { return other.where == each->where; });
      if (first && (best == queue_.end() || each->hints.priority > best->hints.priority)) best = each;
    }
    if (best == queue_.end()) return {};
    const pending taken = *best;
    queue_.erase(best);
    return taken;
  }

  void run(detail::worker& w, const pending& next) {
    run_event(w, next);
    ++since_poll_;
    steps += 'e';
  }

  detail::line_pool strands_;
  std::uint64_t last_strand_ = 0;
  int since_poll_ = 0;  ///< worker 0's
};

static_assert(detail::scheduling_policy<serial_policy>);

/// A runtime with that policy.
class with_a_serial_policy : public on_workers {
 protected:
  void use_policy(runtime& rt) {
    auto made = std::make_unique<detail::scheduled<serial_policy>>(rt.state());
    policy = &made->inner();
    rt.state().use(std::move(made));
  }

  serial_policy* policy = nullptr;
};

}  // namespace tartan::test
