// Workers that search, sleep and are woken, in small: the real idle set, and around it what lifecycle_sleep.cpp and the default
// policy do with it in a runtime that waits for no descriptors. Work is a number on its owner's chain. Time passes only when
// nobody can go on: then watchers wake, and the other sleepers are done.
#pragma once

#include <array>
#include <cstdint>

#include "core/sleep/idle_set.h"
#include "core/tuning.h"
#include "model_memory.h"
#include "program.h"
#include "waiting.h"

namespace tartan::model {

/// How a worker begins; "searching" leads to all of these, but takes long to explore.
enum class begins : std::uint8_t { searching, asleep, running };

template <class Memory, unsigned Workers>
class sleepers {
 public:
  using idle_set = detail::idle_set<Memory>;
  using idle_view = detail::idle_view;

  explicit sleepers(std::array<begins, Workers> how) : begins_{how} {
    for (unsigned n = 0; n < Workers; ++n) {
      if (how[n] == begins::running) continue;
      idle.search();
      if (how[n] == begins::asleep) idle.rest(n);
    }
  }

  idle_set idle{Workers};
  std::array<typename Memory::template atomic<int>, Workers> posted;
  std::array<token, Workers> alarm;
  model_atomic<int> ran{0, "events that have run"};
  model_atomic<int> begun{0, "events that have begun"};
  ghost<int> chained{0, "events posted by events"};
  ghost<int> pending{0, "work that nobody has run"};
  bool declines = false;      // whether a thief may leave alone what an awake worker has
  bool watchers_wake = true;  // whether a watcher's time runs out
  bool asks = false;          // whether a worker that goes to rest asks if all is over, as in run_until_idle
  unsigned wakes_at_once = 1;  // a worker that has found what waits behind long events wakes more

  /// A foreign thread posts to a color of that worker.
  void post(unsigned owner) {
    publish(owner);
    after_link(owner, idle.view_after_publish());
  }
  /// The same in a worker's event.
  void post_by_worker(unsigned owner) {
    publish(owner);
    after_link(owner, idle.view_by_worker());
  }
  void publish(unsigned owner) {
    pending = pending + 1;
    posted[owner].fetch_add(1, std::memory_order_release);
  }
  /// As default_policy::after_link.
  void after_link(unsigned owner, idle_view seen) {
    if (seen.quiet() || seen.paused() || seen.searching() != 0) return;
    if (idle.is_asleep(owner)) {
      wake(owner);
    } else if (!seen.watching()) {
      wake_any();
    }
  }
  /// As default_policy::after_local: the event that made another color runnable goes on.
  void after_local() {
    const idle_view seen = idle.view_by_worker();
    if (seen.quiet() || seen.searching() != 0 || seen.watching()) return;
    wake_any();
  }
  void wake(unsigned worker) {
    if (idle.claim(worker)) alarm[worker].signal();
  }
  /// Unless more than `others` search already.
  bool wake_any(unsigned others = 0) {
    const unsigned claimed = idle.claim_any(others);
    if (claimed == idle_set::nobody) return false;
    alarm[claimed].signal();
    return true;
  }

  /// A worker's life until nothing happens any more; starts counted as a searcher. `in_event(worker)` is called in each event.
  template <class InEvent>
  void work(unsigned worker, InEvent in_event) {
    bool searching = begins_[worker] != begins::running;
    bool time_is_up = false;
    if (begins_[worker] == begins::asleep && sleep(worker, false) == slept::over) return;
    for (;;) {
      forget(mix(mix(searching, time_is_up), watch_left_[worker]));
      if (take(worker) || (searching && search(worker, time_is_up))) {
        // As default_policy::next: what runs now may last, and there is more.
        if (posted[worker].load(std::memory_order_relaxed) != 0) after_local();
        if (searching && idle_set::owes_cover(idle.end_search())) cover();
        searching = false;
        in_event(worker);
        pending = pending - 1;
        ran.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      if (!searching) idle.search();
      searching = true;
      const slept how = rest(worker);
      if (how == slept::over) return;
      time_is_up = how == slept::watched;
    }
  }
  void work(unsigned worker) {
    work(worker, [](unsigned) {});
  }
  /// An event that does not end before others have run so much: if nobody does, that is a deadlock.
  void wait_for_others(int events) {
    wait_until(ran, std::memory_order_relaxed, [=](int count) { return count >= events; });
  }
  /// An event that does not end before so many have begun.
  void wait_for_company(int events) {
    begun.fetch_add(1, std::memory_order_relaxed);
    wait_until(begun, std::memory_order_relaxed, [=](int count) { return count >= events; });
  }
  /// At the end, when nothing happens any more.
  void check_covered() {
    check(pending == 0, "covered: no work is left while all sleep");
    check(idle.view().searching_or_owed() == 0, "counted: nobody searches");
  }

  /// As default_policy::sources: found, declined or none.
  enum class seen_work : std::uint8_t { none, declined, found };
  seen_work sources(unsigned worker) {
    seen_work seen = seen_work::none;
    for (unsigned n = 0; n < Workers; ++n) {
      if (posted[n].load(std::memory_order_relaxed) == 0) continue;
      if (n == worker || idle.is_asleep(n)) return seen_work::found;
      seen = seen_work::declined;
    }
    return seen;
  }

 private:
  enum class slept : std::uint8_t { woken, watched, over };

  bool take(unsigned owner) {
    int count = posted[owner].load(std::memory_order_relaxed);
    while (count > 0) {
      if (posted[owner].compare_exchange_strong(count, count - 1, std::memory_order_acquire, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  // As default_policy::visit_others: an awake worker's little backlog may be left alone, but not if nothing moves.
  bool search(unsigned worker, bool time_is_up) {
    for (unsigned step = 1; step < Workers; ++step) {
      const unsigned victim = (worker + step) % Workers;
      if (posted[victim].load(std::memory_order_relaxed) == 0) continue;
      if (declines && !time_is_up && !idle.is_asleep(victim) && choose(2) == 0) continue;
      if (take(victim)) return true;
    }
    return false;
  }
  // As default_policy::cover: wakes as many as there is work for, but two at most.
  void cover() {
    if (idle.view().watching()) return;
    int loot = 0;
    for (auto& each : posted) loot += each.load(std::memory_order_relaxed);
    for (unsigned n = 0; n < wakes_at_once && static_cast<int>(n) < loot; ++n) {
      if (!wake_any(n)) return;
    }
  }
  // As lifecycle::rest. Searching before and after.
  slept rest(unsigned worker) {
    unsigned& left = watch_left_[worker];
    if (sources(worker) == seen_work::declined) left = watch_rests;
    bool watch = left != 0 && idle.start_watch();
    idle.rest(worker);
    const seen_work seen = sources(worker);
    if (seen == seen_work::found) {
      if (watch) idle.end_watch();
      idle.cancel(worker);
      return slept::woken;
    }
    if (asks && seen == seen_work::none && quiescent()) {
      check(pending == 0, "ended: a run until idle ends when nothing is left and nobody runs");
    }
    left = seen == seen_work::declined ? watch_rests : left - (left != 0);
    watch = watch || (left != 0 && idle.start_watch());
    return sleep(worker, watch);
  }
  // As lifecycle::quiescent.
  bool quiescent() {
    const idle_view before = idle.view_and_fence();
    if (before.awake() != 0) return false;
    for (const auto& each : posted) {
      if (each.load(std::memory_order_relaxed) != 0) return false;
    }
    return ((idle.fence_and_view().word ^ before.word) & ~(idle_view::watching_bit | idle_view::polling_bit)) == 0;
  }
  // As lifecycle::sleep.
  slept sleep(unsigned worker, bool watch) {
    const bool woken = alarm[worker].wait_for(timeout::when_quiet);
    if (watch) idle.end_watch();
    if (!woken && !(watch && watchers_wake)) return slept::over;
    idle.cancel(worker);
    return woken ? slept::woken : slept::watched;
  }

  static constexpr unsigned watch_rests = 1;  // lifecycle_sleep.cpp has 8

  std::array<begins, Workers> begins_;
  std::array<unsigned, Workers> watch_left_{};  // each the worker's own
};

}  // namespace tartan::model
