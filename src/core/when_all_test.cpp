#include <tartan/core/when_all.h>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <tartan/core/in.h>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/when_any.h>
#include <tartan/core/yield.h>
#include <vector>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

class when_all_of : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, when_all_of, testing::ValuesIn(test::worker_counts()), test::worker_name);

task<int> after(int turns, int value) {
  for (int n = 0; n < turns; ++n) co_await yield();
  co_return value;
}
task<int> elsewhere(int value) {
  co_await on(color{100 + value});
  co_await yield();
  co_return value;
}
task<> fails(int turns, const char* what) {
  for (int n = 0; n < turns; ++n) co_await yield();
  throw std::runtime_error{what};
}
task<> fails_never() { co_await yield(); }
task<> until_canceled(int& canceled) {
  co_await stop_requested();
  ++canceled;
}

TEST_P(when_all_of, gives_all_results_in_the_order_of_the_arguments) {
  spawn(rt(), []() -> task<> {
    auto [a, b, c, d] = co_await when_all(after(5, 1), after(0, 2), [](std::string s) -> task<std::string> { co_return s; }("three"), fails_never());
    EXPECT_EQ(a, 1);
    EXPECT_EQ(b, 2);
    EXPECT_EQ(c, "three");
    EXPECT_EQ(d, std::monostate{});
  });
  run();
}

TEST_P(when_all_of, runs_them_in_the_awaiters_color_in_turns) {
  std::vector<int> order;
  spawn_in(rt(), color{4}, [&]() -> task<> {
    const auto steps = [&](int who) -> task<> {
      for (int n = 0; n < 3; ++n) {
        EXPECT_EQ(current_color(), color{4});
        order.push_back(who);
        co_await yield();
      }
    };
    co_await when_all(steps(1), steps(2));
    EXPECT_EQ(current_color(), color{4});
  });
  run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 1, 2, 1, 2}));
}

TEST_P(when_all_of, resumes_in_the_awaiters_color_though_they_have_moved) {
  spawn_in(rt(), color{4}, []() -> task<> {
    auto [a, b, c] = co_await when_all(elsewhere(1), elsewhere(2), in(color{9}, [] { return 3; }));
    EXPECT_EQ(a + b + c, 6);
    EXPECT_EQ(current_color(), color{4});
  });
  run();
}

TEST_P(when_all_of, a_vector_gives_a_vector) {
  spawn(rt(), []() -> task<> {
    std::vector<task<int>> many;
    for (int n = 0; n < 50; ++n) many.push_back(n % 2 == 0 ? after(n % 7, n) : elsewhere(n));
    const std::vector<int> all = co_await when_all(std::move(many));
    EXPECT_EQ(all.size(), 50u);
    for (int n = 0; n < 50; ++n) EXPECT_EQ(all[static_cast<std::size_t>(n)], n);
    EXPECT_TRUE((co_await when_all(std::vector<task<int>>{})).empty());
    co_await when_all(std::vector<task<>>{});
  });
  run();
}

TEST_P(when_all_of, throws_the_first_exception_after_the_others_were_canceled_and_have_ended) {
  int canceled = 0;
  int caught = 0;
  spawn(rt(), [&]() -> task<> {
    try {
      co_await when_all(until_canceled(canceled), fails(2, "first"), fails(5, "second"), until_canceled(canceled));
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "first");
      EXPECT_EQ(canceled, 2);
      ++caught;
    }
    try {
      std::vector<task<>> many;
      many.push_back(until_canceled(canceled));
      many.push_back(fails(1, "in a vector"));
      co_await when_all(std::move(many));
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "in a vector");
      EXPECT_EQ(canceled, 3);
      ++caught;
    }
  });
  run();
  EXPECT_EQ(caught, 2);
}

TEST_P(when_all_of, passes_a_request_to_cancel_on_also_to_those_that_have_moved) {
  int canceled = 0;
  auto handle = spawn_in(rt(), color{4}, [&]() -> task<> {
    const auto away = [&]() -> task<int> {
      co_await on(color{5});
      co_await stop_requested();
      co_return 1;
    };
    auto [a, b] = co_await when_all(away(), until_canceled(canceled));
    canceled += a;
  });
  run();
  EXPECT_EQ(canceled, 0);
  handle.cancel();
  run();
  EXPECT_EQ(canceled, 2);
}

TEST_P(when_all_of, started_by_a_canceled_coroutine_starts_canceled_tasks) {
  int canceled = 0;
  auto handle = spawn(rt(), [&]() -> task<> {
    co_await stop_requested();
    co_await when_all(until_canceled(canceled), until_canceled(canceled));
  });
  handle.cancel();
  run();
  EXPECT_EQ(canceled, 2);
}

class when_any_of : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, when_any_of, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(when_any_of, gives_the_first_and_waits_for_the_others_that_it_cancels) {
  int canceled = 0;
  spawn_in(rt(), color{4}, [&]() -> task<> {
    const auto first = co_await when_any(until_canceled(canceled), after(3, 7), until_canceled(canceled));
    EXPECT_EQ(first.index, 1u);
    EXPECT_EQ(std::get<1>(first.value), 7);
    EXPECT_EQ(canceled, 2);
    EXPECT_EQ(current_color(), color{4});
  });
  run();
  EXPECT_EQ(canceled, 2);
}

TEST_P(when_any_of, a_vector_gives_one_value) {
  spawn(rt(), []() -> task<> {
    std::vector<task<int>> many;
    for (int n = 0; n < 10; ++n) many.push_back(after(20 - n, n));
    const auto first = co_await when_any(std::move(many));
    EXPECT_EQ(first.index, 9u);
    EXPECT_EQ(first.value, 9);
    std::vector<task<>> without_value;
    without_value.push_back(fails_never());
    EXPECT_EQ((co_await when_any(std::move(without_value))).index, 0u);
  });
  run();
}

TEST_P(when_any_of, throws_an_exception_of_the_first_and_drops_those_of_the_others) {
  bool caught = false;
  spawn(rt(), [&]() -> task<> {
    const auto fails_when_canceled = []() -> task<> {
      co_await stop_requested();
      throw std::logic_error{"dropped"};
    };
    EXPECT_EQ((co_await when_any(fails_when_canceled(), after(1, 1))).index, 1u);
    try {
      static_cast<void>(co_await when_any(fails_when_canceled(), fails(2, "first")));
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "first");
      caught = true;
    }
  });
  run();
  EXPECT_TRUE(caught);
}

TEST_P(when_any_of, passes_a_request_to_cancel_on_and_waits_for_all) {
  std::atomic<int> canceled{0};
  bool gone_on = false;
  auto handle = spawn_in(rt(), color{4}, [&]() -> task<> {
    const auto here = [&]() -> task<int> {
      co_await stop_requested();
      co_await yield();  // asked to end, it takes its time
      ++canceled;
      co_return 1;
    };
    const auto away = [&]() -> task<int> {
      co_await on(color{5});
      co_return co_await here();
    };
    static_cast<void>(co_await when_any(here(), away(), here()));
    EXPECT_EQ(canceled.load(), 3);
    EXPECT_EQ(current_color(), color{4});
    gone_on = true;
  });
  run();
  EXPECT_EQ(canceled.load(), 0);
  handle.cancel();
  run();
  EXPECT_TRUE(gone_on);
}

TEST_P(when_any_of, does_not_start_those_behind_one_that_ends_without_waiting) {
  bool started = false;
  spawn(rt(), [&]() -> task<> {
    const auto late = [&]() -> task<int> {
      started = true;
      co_return 2;
    };
    EXPECT_EQ((co_await when_any(after(0, 1), late())).index, 0u);
  });
  run();
  EXPECT_FALSE(started);
}

TEST_P(when_any_of, several_that_end_in_other_colors_at_once_has_one_first) {
  spawn_in(rt(), color{4}, []() -> task<> {
    for (int round = 0; round < 100; ++round) {
      std::vector<task<int>> many;
      for (int n = 0; n < 4; ++n) many.push_back(elsewhere(n));
      const auto first = co_await when_any(std::move(many));
      EXPECT_EQ(first.value, static_cast<int>(first.index));
    }
  });
  run();
}

TEST(when_any_of_nothing, ends_the_program) {
  EXPECT_DEATH(
      {
        options with;
        with.workers = 1;
        runtime rt{with};
        spawn(rt, []() -> task<> { co_await when_any(std::vector<task<>>{}); });
        rt.run_until_idle();
      },
      "when_any of no tasks would never end");
}

}  // namespace
}  // namespace tartan
