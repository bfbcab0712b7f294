// One of two workers stands by, with an alarm that the other one sets ahead; docs/design/idle-set.md, part 9.

#include <gtest/gtest.h>

#include <cstdint>

#include "core/sleep/guard_word.h"
#include "core/sleep/idle_set.h"
#include "model_memory.h"
#include "program.h"
#include "waiting.h"

namespace tartan::model {
namespace {

using enum std::memory_order;

// What may be left out, to see that it is needed.
struct ways {
  bool begins_with_alarm = true;   // who stands by sets its own alarm first
  bool pushes_when_woken = true;   // who wakes sets it before it runs anything
  bool pushes_when_found = true;   // and who finds something on its way to sleep
  bool sets_again = true;          // who stands by, if an earlier alarm has gone off
  bool asks_anew = true;           // who stands by, whether the other one sleeps
  bool comes = true;               // who stands by gets up if nobody looks
};

// As lifecycle_standby.cpp. Two things become ready, the second one when the first one is being run. If that is worker 0's, its event lasts until
// the second one was run.
template <class Memory>
class two_workers {
 public:
  explicit two_workers(ways how) : how_{how} {
    idle.search();
    idle.search();
  }

  detail::idle_set<Memory> idle{2};
  detail::guard_word<Memory> guard;

  // The kernel.
  void outside() {
    if (choose(2) != 0) (void)later.wait_for(timeout::when_quiet);
    edge.signal();
    first_runs.wait();
    edge.signal();
  }

  // Sleeps where readiness wakes it.
  void worker_0() {
    (void)idle.end_search();
    time_passes();
    const bool found = edge.wait_for(timeout::any_time);
    push();
    if (found) run(0);
    while (!over_) {
      idle.search();
      idle.rest(0);
      if (taken_ == 0 && choose(2) != 0) {  // it finds something else before it sleeps, which is a long event
        idle.cancel(0);
        if (how_.pushes_when_found) push();
        (void)idle.end_search();
        run(0);
        continue;
      }
      edge.wait();
      idle.cancel(0);
      if (over_) break;
      time_passes();
      if (how_.pushes_when_woken) push();
      (void)idle.end_search();
      run(0);
    }
    edge.signal();  // to who else waits for one
  }

  // Has nothing to do but what becomes ready, and stands by if it may.
  void worker_1() {
    int vain = 0;  // the code waits for readiness after the first time already; by the second one, more can go wrong
    while (!over_) {
      const bool stands = vain < 2 && idle.view().sleeping() == 0 && idle.start_watch();
      if (stands) begin();
      idle.rest(1);
      if (stands) {
        sleep_standing_by();
        guard.end();
        idle.end_watch();
      } else {
        edge.wait();
      }
      idle.cancel(1);
      const bool in_vain = !over_ && stands && !edge.wait_for(timeout::any_time);
      vain = in_vain ? vain + 1 : 0;
      if (!over_ && !in_vain) run(1);
    }
    edge.signal();
  }

 private:
  void begin() {
    time_passes();
    guard.begin(now_, [this](std::uint64_t at) {
      if (how_.begins_with_alarm) armed_ = at;
    });
  }
  void push() {
    guard.push(now_, now_, [this](std::uint64_t at) {
      armed_ = at;
      bell.signal();  // the wait goes on, with another time: the kernel's part
    });
  }
  void time_passes() { now_ = now_ + 400'000 * choose(3); }

  void run(unsigned worker) {
    const bool is_first = taken_ == 0;
    taken_ = taken_ + 1;
    if (!is_first) {
      over_ = true;
      second_ran.signal();
      return bell.signal();
    }
    first_runs.signal();
    if (worker == 0) second_ran.wait();  // attended: else this is a deadlock
  }

  void sleep_standing_by() {
    for (;;) {
      if (over_) return;
      if (armed_ == 0) {
        bell.wait();
        continue;
      }
      if (bell.wait_for(now_ < armed_ ? timeout::when_quiet : timeout::any_time)) continue;
      if (now_ < armed_) now_ = static_cast<std::uint64_t>(armed_);
      armed_ = 0;
      if (const std::uint64_t at = guard.still_ahead(now_); at != 0) {
        if (how_.sets_again) armed_ = at;
        continue;
      }
      if ((how_.asks_anew ? idle.latest_view() : idle.view()).sleeping() == 2) continue;
      if (how_.comes) return;
    }
  }

  ways how_;
  token edge{"edge"};
  token bell{"bell"};
  token later{"later"};
  token first_runs{"first runs"};
  token second_ran{"second ran"};
  ghost<int> taken_{0, "taken"};
  ghost<bool> over_{false, "both were taken"};
  ghost<std::uint64_t> now_{1'000'000, "time"};
  ghost<std::uint64_t> armed_{0, "kernel's timer"};
};

result one_stands_by(const options& bounds, ways how = {}) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<two_workers<model_memory>>(how);
    p.thread("worker 1", [=] { s->worker_1(); });  // first: when all is quiet its alarm goes off before the world goes on
    p.thread("outside", [=] { s->outside(); });
    p.thread("worker 0", [=] { s->worker_0(); });
  });
}

TEST(standby, leaves_nothing_that_becomes_ready_to_who_does_not_look) {
  const result found = one_stands_by({.name = "standby", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(standby, leaves_nothing_either_where_only_sleepers_pay_for_barriers) {
  const result found = one_stands_by({.name = "standby_membarrier", .preemption_bound = 1});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(standby, needs_an_alarm_of_its_own) {
  EXPECT_FALSE(one_stands_by({.name = "standby_no_begin", .preemption_bound = 2, .symmetric_barriers = true}, {.begins_with_alarm = false}).passed);
}

TEST(standby, needs_who_wakes_to_set_the_alarm) {
  EXPECT_FALSE(one_stands_by({.name = "standby_no_push", .preemption_bound = 2, .symmetric_barriers = true}, {.pushes_when_woken = false}).passed);
}

TEST(standby, needs_who_does_not_sleep_after_all_to_set_the_alarm) {
  EXPECT_FALSE(one_stands_by({.name = "standby_no_push_when_found", .preemption_bound = 2, .symmetric_barriers = true}, {.pushes_when_found = false}).passed);
}

TEST(standby, needs_an_early_alarm_to_be_set_again) {
  EXPECT_FALSE(one_stands_by({.name = "standby_early_alarm", .preemption_bound = 2, .symmetric_barriers = true}, {.sets_again = false}).passed);
}

TEST(standby, needs_the_last_word_on_whether_the_other_one_sleeps) {
  EXPECT_FALSE(one_stands_by({.name = "standby_stale", .preemption_bound = 2, .symmetric_barriers = true}, {.asks_anew = false}).passed);
}

TEST(standby, needs_to_come) {
  EXPECT_FALSE(one_stands_by({.name = "standby_stays", .preemption_bound = 2, .symmetric_barriers = true}, {.comes = false}).passed);
}

}  // namespace
}  // namespace tartan::model
