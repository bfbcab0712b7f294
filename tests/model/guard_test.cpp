// The guard: one that sleeps at an alarm, which those that run set ahead when they look; docs/design/sleeping.md. Time is the test's: the
// kernel's timer goes off in time, and every worker is on time with a look that the code says it makes.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "core/sleep/guard_word.h"
#include "core/sleep/idle_set.h"
#include "model_memory.h"
#include "program.h"
#include "waiting.h"

namespace tartan::model {
namespace {

using enum std::memory_order;

constexpr std::uint64_t far_ns = 600;
constexpr std::uint64_t never = ~std::uint64_t{0};

// What may be left out, to see that it is needed.
struct ways {
  bool begins_with_alarm = true;    // the guard sets its own alarm first
  bool pushes_when_woken = true;    // a worker that wakes sets it before it runs anything
  bool sets_again = true;           // the guard, if an alarm has gone off that was set for an earlier time
  bool asks_anew = true;            // the guard, by a read-modify-write, whether all sleep
  bool comes = true;                // the guard gets up if nobody looks
  bool asks_the_oldest = true;      // a worker that sets the alarm, since when something waits elsewhere

};

// As lifecycle_guard.cpp, for one guard, number 0, and others that run, look and wake up. `waits_since` is the truth about each of them, which
// nobody reads but the checks.
template <class Memory, unsigned Workers>
class guarded {
 public:
  explicit guarded(ways how) : how_{how} {
    for (auto& each : loot) each.store(false, relaxed);
    for (unsigned n = 0; n < Workers; ++n) waits_since_[n] = never;
  }

  detail::idle_set<Memory> idle{Workers};
  detail::guard_word<Memory> guard{far_ns};
  std::array<typename Memory::template atomic<std::uint64_t>, Workers> oldest;
  std::array<typename Memory::template atomic<std::uint64_t>, Workers> looked;
  std::array<typename Memory::template atomic<bool>, Workers> loot;
  ghost<std::uint64_t> now{1'000, "time"};
  ghost<bool> over{false, "the guard was needed, and has come"};

  void begin() {
    check(idle.start_watch(), "one guard");
    begun_ = static_cast<std::uint64_t>(now);
    guard.begin(now, [this](std::uint64_t at) {
      if (how_.begins_with_alarm) armed_ = at;
    });
  }
  /// Time passes, but no further than the timer of a guard that sleeps. What was stored is seen by then: hence the barriers.
  void time_passes(std::uint64_t ns) {
    if (ns == 0) return;
    yield_point();
    const std::uint64_t to = now + ns;
    now = armed_ != 0 ? std::max<std::uint64_t>(now, std::min<std::uint64_t>(to, armed_)) : to;
    if (now == armed_) bell_.signal();
    Memory::full_barrier();
  }
  /// From here on something waits at that worker, which runs: it has come later than the worker's last look.
  void gets_loot(unsigned worker) {
    loot[worker].store(true, relaxed);
    Memory::full_barrier();
    waits_since_[worker] = static_cast<std::uint64_t>(now);
  }
  // As lifecycle::attend.
  void attend(unsigned worker, bool has_slept) {
    if (!guard.is_on()) return;
    const std::uint64_t seen = now;
    looked[worker].store(seen, relaxed);
    if (has_slept || !loot[worker].load(relaxed)) oldest[worker].store(seen, relaxed);
    if (has_slept && !how_.pushes_when_woken) return;
    guard.push(
        seen, [&] { return due(worker, seen); }, [&](std::uint64_t at) { set(at); });
  }
  // As lifecycle::guard_due.
  std::uint64_t due(unsigned by, std::uint64_t looked_at) {
    std::uint64_t first = looked_at;
    for (unsigned n = 1; n < Workers; ++n) {
      if (!how_.asks_the_oldest || (n != by && idle.is_asleep(n)) || !loot[n].load(relaxed)) continue;
      first = std::min(first, std::max(oldest[n].load(relaxed), guard.begun_ns()));
    }
    return first + far_ns;
  }
  // As lifecycle::sleep, by the guard; returns when it gets up.
  void sleep_as_guard() {
    for (;;) {
      if (armed_ == 0) {
        if (!bell_.wait_for(timeout::when_quiet)) return;
        continue;
      }
      if (bell_.wait_for(now < armed_ ? timeout::when_quiet : timeout::any_time)) continue;
      now = std::max<std::uint64_t>(now, armed_);
      armed_ = 0;
      if (is_attended()) continue;
      over = true;
      return;
    }
  }
  void check_attended() {
    for (unsigned n = 1; n < Workers; ++n) {
      if (waits_since_[n] == never) continue;
      check(over, "attended: the guard comes for what waits behind a long event");
      check(now <= std::max<std::uint64_t>(waits_since_[n], begun_) + far_ns, "attended: and in time");
    }
  }

 private:
  void set(std::uint64_t at) {
    yield_point();  // a worker that is slow here
    armed_ = at;
    bell_.signal();  // the wait goes on, with another time: the kernel's part
  }
  bool is_attended() {
    if (const std::uint64_t at = guard.still_ahead(now); at != 0) {
      if (how_.sets_again) armed_ = at;
      return true;
    }
    if ((how_.asks_anew ? idle.latest_view() : idle.view()).awake() == 0) return true;
    Memory::full_barrier();  // as in time_passes
    std::uint64_t last = guard.begun_ns();
    for (unsigned n = 1; n < Workers; ++n) {
      if (!idle.is_asleep(n)) last = std::max(last, looked[n].load(relaxed));
    }
    if (const std::uint64_t at = due(0, last); at > now) {
      guard.put_off(at, [this](std::uint64_t when) { armed_ = when; });
      return true;
    }
    return !how_.comes;
  }

  ways how_;
  std::array<ghost<std::uint64_t>, Workers> waits_since_;
  ghost<std::uint64_t> begun_{0, "the guard has begun"};
  ghost<std::uint64_t> armed_{0, "kernel's timer"};
  token bell_{"timer set"};
};

using three = guarded<model_memory, 3>;

void goes_to_rest(three* s, unsigned worker) {
  s->idle.search();
  (void)s->idle.rest(worker, worker == 0 ? detail::bed::guard : detail::bed::token);
}

// Two run and look, at the same time and in any order with the alarm; after its last look, each is in an event that does not end.
result two_look(const options& bounds, bool second_has_loot, ways how = {}) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<three>(how);
    p.thread("guard", [=] {
      s->begin();
      goes_to_rest(s, 0);
      s->sleep_as_guard();
    });
    p.thread("looks", [=] {
      for (int looks = 0; looks < 2; ++looks) {
        s->time_passes(400 * choose(2));
        s->attend(1, false);
      }
      if (!second_has_loot) s->gets_loot(1);
    });
    p.thread("in a long event", [=] {
      s->time_passes(500 * choose(2));
      s->attend(2, false);
      if (second_has_loot) s->gets_loot(2);
    });
    p.finally([=] { s->check_attended(); });
  });
}

TEST(guard, comes_in_time_for_what_waits_behind_the_last_look) {
  const result found = two_look({.name = "guard_two_look", .preemption_bound = 2, .symmetric_barriers = true}, false);
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(guard, comes_in_time_for_what_waits_behind_a_long_event_although_another_worker_looks) {
  const result found = two_look({.name = "guard_oldest", .preemption_bound = 2, .symmetric_barriers = true}, true);
  EXPECT_TRUE(found.proved()) << found.report;
  EXPECT_FALSE(two_look({.name = "guard_no_oldest", .preemption_bound = 2, .symmetric_barriers = true}, true, {.asks_the_oldest = false}).passed);
}

TEST(guard, needs_an_early_alarm_to_be_set_again) {
  EXPECT_FALSE(two_look({.name = "guard_early", .preemption_bound = 3, .symmetric_barriers = true}, false, {.sets_again = false}).passed);
}

TEST(guard, needs_an_alarm_of_its_own_and_to_come) {
  const options bounds{.name = "guard_parts", .preemption_bound = 2, .symmetric_barriers = true};
  EXPECT_FALSE(two_look(bounds, false, {.begins_with_alarm = false}).passed);
  EXPECT_FALSE(two_look(bounds, false, {.comes = false}).passed);
}

// All sleep: the guard does so whatever its alarm says, and a worker that is woken sets it.
result all_sleep(const options& bounds, ways how = {}) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<three>(how);
    s->begin();
    for (unsigned n = 0; n < 3; ++n) goes_to_rest(s, n);
    p.thread("guard", [=] { s->sleep_as_guard(); });
    for (const unsigned n : {1u, 2u}) {
      p.thread("is woken " + std::to_string(n), [=] {
        s->time_passes(700 * choose(2));
        (void)s->idle.cancel(n);
        s->attend(n, true);
        (void)s->idle.end_search();
        if (n == 2) s->gets_loot(n);
      });
    }
    p.finally([=] { s->check_attended(); });
  });
}

// Two are woken at once, each with something that waits behind its event: neither has noted yet, for the other one, that it is old by its last rest.
// (gone-off: the alarm is set whatever is due.)
result two_wake_with_loot(const options& bounds) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<three>(ways{});
    for (unsigned n = 0; n < 3; ++n) s->idle.search();
    s->begin();
    for (unsigned n = 0; n < 3; ++n) (void)s->idle.rest(n, n == 0 ? detail::bed::guard : detail::bed::token);
    for (const unsigned n : {1u, 2u}) s->loot[n].store(true, relaxed);
    p.thread("guard", [=] { s->sleep_as_guard(); });
    for (const unsigned n : {1u, 2u}) {
      p.thread("is woken " + std::to_string(n), [=] {
        if (n == 1) s->time_passes(700);
        (void)s->idle.cancel(n);
        s->attend(n, true);
        s->gets_loot(n);
      });
    }
    p.finally([=] { s->check_attended(); });
  });
}

TEST(guard, is_set_by_two_that_wake_at_once_with_something_that_waits) {
  const result found = two_wake_with_loot({.name = "guard_two_wake", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(guard, sleeps_while_all_do_and_is_set_by_one_that_wakes) {
  const result found = all_sleep({.name = "guard_all_sleep", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = all_sleep({.name = "guard_all_sleep_membarrier", .preemption_bound = 1});
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
}

TEST(guard, needs_one_that_wakes_to_set_the_alarm_and_the_last_word_on_whether_all_sleep) {
  EXPECT_FALSE(all_sleep({.name = "guard_not_set", .preemption_bound = 2, .symmetric_barriers = true}, {.pushes_when_woken = false}).passed);
  EXPECT_FALSE(all_sleep({.name = "guard_old_word", .preemption_bound = 2, .symmetric_barriers = true}, {.asks_anew = false}).passed);
}

}  // namespace
}  // namespace tartan::model
