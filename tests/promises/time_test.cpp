// Contract 11: no timer fires early, timers of one color fire by deadline, cancel is exact, a long handler delays only timers of its own color.
//
// What must not wait for a handler is waited for in that handler: without the promise the test would not end.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/time/post_after.h>
#include <tartan/time/timer.h>
#include <thread>
#include <vector>

#include "tests/seed.h"
#include "tests/still_clock.h"
#include "tests/virtual_time.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using test::rounds;
using test::spin_until;

class timers : public test::on_workers {};
class timers_beside_a_long_handler : public test::on_workers {};

TEST_P(timers, never_fire_early_and_at_most_1_ms_late_while_a_worker_is_idle) {
  std::mt19937_64 random{test::seed()};
  test::virtual_poller time;
  options with = settings();
  with.poller = &time;
  runtime rt{with};
  std::atomic<unsigned> early{0};
  std::atomic<unsigned> late{0};
  std::atomic<unsigned> fired{0};
  const unsigned count = rounds(300);
  for (unsigned n = 0; n < count; ++n) {
    const std::chrono::nanoseconds wait{random() % 10'000'000'000};
    const auto deadline = rt.now() + wait;
    EXPECT_TRUE(post_after(rt, color{n % 7 + 1}, wait, [&, deadline] {
      fired.fetch_add(1);
      if (rt.now() < deadline) early.fetch_add(1);
      if (rt.now() > deadline + 1ms) late.fetch_add(1);
    }));
  }
  rt.run_until_idle();
  EXPECT_EQ(fired.load(), count);
  EXPECT_EQ(early.load(), 0u);
  EXPECT_EQ(late.load(), 0u);
}

TEST_P(timers, of_one_color_fire_by_deadline_and_ties_in_the_order_set) {
  test::virtual_poller time;
  options with = settings();
  with.poller = &time;
  runtime rt{with};
  std::vector<unsigned> fired;
  rt.post(color{1}, [&] {
    for (const unsigned ms : {30u, 10u, 20u}) {
      for (unsigned n = 0; n < 3; ++n)
        post_after(color{1}, std::chrono::milliseconds{ms}, [&fired, ms, n] { fired.push_back(ms + n); });
    }
  });
  rt.run_until_idle();
  EXPECT_EQ(fired, (std::vector<unsigned>{10, 11, 12, 20, 21, 22, 30, 31, 32}));
}

/// Of timers that are due at once each calls off the next one, which may be queued behind it already.
TEST_P(timers, that_are_canceled_in_their_own_color_do_not_fire_also_if_they_are_due_and_queued) {
  test::virtual_poller time;
  options with = settings();
  with.poller = &time;
  runtime rt{with};
  constexpr unsigned per_color = 100;
  struct book {
    std::vector<timer> all;
    std::vector<unsigned> fired;
  };
  std::vector<book> colors(8);
  for (unsigned k = 0; k < colors.size(); ++k) {
    rt.post(color{k + 1}, [&rt, k, mine = &colors[k]] {
      for (unsigned n = 0; n < per_color; ++n) mine->all.emplace_back(rt, color{k + 1});
      const auto at = rt.now() + 5ms;
      for (unsigned n = 0; n < per_color; ++n) {
        mine->all[n].set(at, [mine, n] {
          mine->fired.push_back(n);
          EXPECT_TRUE(n + 1 == per_color || mine->all[n + 1].cancel());
        });
      }
      mine->all[0].cancel();  // not yet due
    });
  }
  rt.run_until_idle();
  std::vector<unsigned> every_second;
  for (unsigned n = 1; n < per_color; n += 2) every_second.push_back(n);
  for (const book& each : colors) EXPECT_EQ(each.fired, every_second);
}

TEST_P(timers, set_by_a_foreign_thread_wake_a_runtime_that_sleeps) {
  runtime rt{settings()};
  std::thread outside{[&] {
    for (unsigned n = 0; n < rounds(20); ++n) {
      std::atomic<bool> fired{false};
      EXPECT_TRUE(post_after(rt, color{n % 3 + 1}, 50us, [&] { fired = true; }));
      spin_until([&] { return fired.load(); });
    }
    rt.stop();
  }};
  EXPECT_EQ(rt.run(), 0);
  outside.join();
}

TEST_P(timers_beside_a_long_handler, of_other_colors_fire_also_if_that_handler_set_them) {
  runtime rt{settings()};
  for (unsigned round = 0; round < rounds(20); ++round) {
    std::atomic<bool> fired{false};
    rt.post(color{1}, [&] {
      post_after(color{2}, std::chrono::microseconds{10 * round}, [&] { fired = true; });
      spin_until([&] { return fired.load(); });
    });
    rt.run_until_idle();
    ASSERT_TRUE(fired);
  }
}

TEST_P(timers_beside_a_long_handler, of_other_colors_fire_also_if_they_were_set_before_it_began) {
  runtime rt{settings()};
  for (unsigned round = 0; round < rounds(20); ++round) {
    std::atomic<bool> fired{false};
    EXPECT_TRUE(post_after(rt, color{2}, std::chrono::microseconds{200 + 10 * round}, [&] { fired = true; }));
    rt.post(color{1}, [&] { spin_until([&] { return fired.load(); }); });
    rt.run_until_idle();
    ASSERT_TRUE(fired);
  }
}

/// A sleeper whose time is up between two runs must not pass for one that will be awake for a timer of the next run.
TEST_P(timers_beside_a_long_handler, fire_in_a_run_after_others_that_left_timers_behind) {
  test::still_poller clock;
  options with = settings();
  with.poller = &clock;
  with.pin_default_color = true;  // the long handlers are worker 0's
  runtime rt{with};
  for (unsigned round = 0; round < rounds(3); ++round) {
    std::atomic<bool> left_fired{false};
    EXPECT_TRUE(post_after(rt, color{3}, 300us, [&] { left_fired = true; }));
    rt.post([&] { spin_until([&] { return clock.any_asleep_for_a_time(); }); });
    rt.run_for(0ns);
    EXPECT_FALSE(left_fired);
    clock.advance(1ms);  // beyond the end of the tick that the timer is in
    spin_until([&] { return clock.others_asleep_until_called(); });
    std::atomic<bool> fired{false};
    rt.post([&] {
      spin_until([&] { return left_fired.load(); });
      post_after(color{2}, 50us, [&] { fired = true; });
      spin_until([&] {
        clock.advance(10us);
        return fired.load();
      });
    });
    rt.run_until_idle();
    ASSERT_TRUE(fired);
  }
}

INSTANTIATE_TEST_SUITE_P(workers, timers, testing::ValuesIn(test::worker_counts()), test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, timers_beside_a_long_handler, testing::ValuesIn(test::several_workers()),
                         test::worker_name);

}  // namespace
}  // namespace tartan
