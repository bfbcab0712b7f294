#include <tartan/time/sleep.h>

#include <gtest/gtest.h>

#include <chrono>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/when_all.h>
#include <tartan/core/yield.h>
#include <tartan/time/interval.h>
#include <tartan/time/with_timeout.h>
#include <vector>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class sleeping_coroutine : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, sleeping_coroutine, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(sleeping_coroutine, wakes_when_its_time_has_come_in_its_own_color) {
  spawn_in(rt(), color{3}, [&]() -> task<> {
    const auto begin = rt().now();
    EXPECT_TRUE(co_await sleep(50ms));
    EXPECT_GE(rt().now() - begin, 50ms);
    EXPECT_LE(rt().now() - begin, 51ms);
    EXPECT_EQ(current_color(), color{3});
    EXPECT_TRUE(co_await sleep_until(begin + 80ms));
    EXPECT_GE(rt().now() - begin, 80ms);
    co_await on(color::unordered);
    EXPECT_TRUE(co_await sleep(1ms));
  });
  run();
}

TEST_P(sleeping_coroutine, counts_as_one_if_a_drain_destroys_it) {
  for (int n = 0; n < 5; ++n) {
    spawn_in(rt(), color{n}, []() -> task<> { EXPECT_TRUE(co_await sleep(1h)); });
  }
  spawn_in(rt(), color{9}, []() -> task<> {
    static_cast<void>(co_await with_timeout(2h, when_all(sleep(1h), sleep(3h))));  // three timers, three branches
  });
  static_cast<void>(rt().run_for(1ms));
  EXPECT_EQ(coroutines_left(), 6u);
  expect_suspended = true;
  EXPECT_EQ(rt().drain(0s).destroyed, 6u);
}

TEST_P(sleeping_coroutine, goes_on_at_once_but_never_inside_the_call_if_the_time_has_passed) {
  std::vector<int> order;
  rt().post(color{1}, [&] {
    spawn_in(color{1}, [&]() -> task<> {
      EXPECT_TRUE(co_await sleep(0ms));
      EXPECT_TRUE(co_await sleep(-5ms));
      EXPECT_TRUE(co_await sleep_until(rt().now() - 1h));
      order.push_back(2);
    });
    post(color{1}, [&] { order.push_back(1); });
  });
  run();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_P(sleeping_coroutine, lets_thousands_sleep_side_by_side_and_wake_in_order) {
  std::vector<int> order;
  for (int n = 0; n < 1000; ++n) {
    spawn_in(rt(), color{1}, [&, n]() -> task<> {
      EXPECT_TRUE(co_await sleep(std::chrono::milliseconds{(n * 7) % 1000 + 1}));
      order.push_back((n * 7) % 1000);
    });
  }
  run();
  EXPECT_EQ(order.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(sleeping_coroutine, wakes_as_canceled_when_it_is_asked_to_end) {
  std::error_code error;
  const auto begin = rt().now();
  auto handle = spawn_in(rt(), color{1}, [&]() -> task<> {
    error = (co_await sleep(1h)).error();
    EXPECT_LE(rt().now() - begin, 11ms);
    EXPECT_EQ((co_await sleep(1h)).error(), errc::canceled) << "from now on every wait";
  });
  spawn_in(rt(), color{2}, [&]() -> task<> {
    EXPECT_TRUE(co_await sleep(10ms));
    handle.cancel();
  });
  run();
  EXPECT_EQ(error, errc::canceled);
}

TEST_P(sleeping_coroutine, wakes_as_canceled_when_the_runtime_stops) {
  std::atomic<int> canceled{0};
  for (int n = 0; n < 20; ++n) {
    spawn_in(rt(), color{n}, [&]() -> task<> {
      if (!co_await sleep(1h)) ++canceled;
      if (!co_await sleep(1h)) ++canceled;
    });
  }
  spawn(rt(), [&]() -> task<> {
    EXPECT_TRUE(co_await sleep(1ms));
    rt().stop();
  });
  EXPECT_EQ(rt().run(), 0);
  EXPECT_EQ(canceled.load(), 40);
}

TEST_P(sleeping_coroutine, may_be_canceled_at_the_very_moment_it_wakes) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> ended{0};
    auto handle = spawn_in(rt(), color{1}, [&]() -> task<> {
      static_cast<void>(co_await sleep(1ms));
      ++ended;
    });
    spawn_in(rt(), color{2}, [&]() -> task<> {
      static_cast<void>(co_await sleep(1ms));
      handle.cancel();
    });
    run();
    EXPECT_EQ(ended.load(), 1);
  }
}

TEST_P(sleeping_coroutine, goes_down_with_its_runtime) {
  std::atomic<int> alive{0};
  for (int n = 0; n < 20; ++n) {
    spawn_in(rt(), color{n}, [&]() -> task<> {
      const test::counted local{alive};
      static_cast<void>(co_await sleep(1h));
      ADD_FAILURE();
    });
  }
  static_cast<void>(rt().run_for(1ms));
  EXPECT_EQ(alive.load(), 20);
  expect_suspended = true;
  end_runtime();
  EXPECT_EQ(alive.load(), 0);
}

class an_interval : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, an_interval, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(an_interval, ticks_on_its_grid_from_when_it_was_made) {
  spawn_in(rt(), color{1}, [&]() -> task<> {
    interval every{10ms};
    const auto begin = rt().now();
    for (int n = 1; n <= 5; ++n) {
      EXPECT_EQ(*co_await every.next(), 1u);
      EXPECT_GE(rt().now() - begin, n * 10ms);
      EXPECT_LE(rt().now() - begin, n * 10ms + 1ms);
    }
  });
  run();
}

TEST_P(an_interval, tells_how_many_ticks_were_missed_and_keeps_to_its_grid) {
  spawn_in(rt(), color{1}, [&]() -> task<> {
    interval every{10ms};
    const auto begin = rt().now();
    EXPECT_TRUE(co_await sleep(35ms));
    EXPECT_EQ(*co_await every.next(), 3u);
    EXPECT_LE(rt().now() - begin, 36ms);
    EXPECT_EQ(*co_await every.next(), 1u);
    EXPECT_GE(rt().now() - begin, 40ms);
    EXPECT_LE(rt().now() - begin, 41ms);
  });
  run();
}

TEST_P(an_interval, ends_when_its_coroutine_is_asked_to_end) {
  int ticks = 0;
  join_handle<> handle;
  handle = spawn_in(rt(), color{1}, [&]() -> task<> {
    interval every{1s};
    while (auto passed = co_await every.next()) {
      ticks += static_cast<int>(*passed);
      if (ticks == 5) handle.cancel();
    }
  });
  run();
  EXPECT_EQ(ticks, 5);
}

TEST_P(an_interval, ends_its_wait_when_it_is_asked_to_end_meanwhile) {
  std::error_code error;
  const auto begin = rt().now();
  auto handle = spawn_in(rt(), color{1}, [&]() -> task<> {
    interval every{1h};
    error = (co_await every.next()).error();
    EXPECT_LE(rt().now() - begin, 11ms);
    EXPECT_EQ(current_color(), color{1});
  });
  spawn_in(rt(), color{2}, [&]() -> task<> {
    EXPECT_TRUE(co_await sleep(10ms));
    handle.cancel();
  });
  run();
  EXPECT_EQ(error, errc::canceled);
}

TEST(an_interval_made_wrongly, ends_the_program) {
  EXPECT_DEATH(interval{1ms}, "tartan::interval was called outside of any event");
  EXPECT_DEATH(
      {
        options with;
        with.workers = 1;
        runtime rt{with};
        rt.post([] { const interval never{0ms}; });
        rt.run_until_idle();
      },
      "an interval of no time at all, at .*sleep_test");
}

}  // namespace
}  // namespace tartan
