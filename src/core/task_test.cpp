#include <tartan/core/task.h>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <tartan/core/yield.h>
#include <vector>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

class a_task : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, a_task, testing::ValuesIn(test::worker_counts()), test::worker_name);

task<int> twice(int x) { co_return 2 * x; }
task<color> where_now() { co_return current_color(); }
task<color> moved_to(color c) {
  co_await on(c);
  co_return current_color();
}

TEST_P(a_task, starts_when_it_is_awaited_and_not_before) {
  std::vector<std::string> order;
  spawn(rt(), [&]() -> task<> {
    auto inner = [&]() -> task<> {
      order.push_back("inner");
      co_return;
    };
    task<> later = inner();
    order.push_back("made");
    co_await std::move(later);
    order.push_back("awaited");
  });
  run();
  EXPECT_EQ(order, (std::vector<std::string>{"made", "inner", "awaited"}));
}

TEST_P(a_task, that_is_never_awaited_never_runs_and_destroys_its_arguments) {
  std::atomic<int> alive{0};
  bool ran = false;
  spawn(rt(), [&]() -> task<> {
    auto inner = [&ran](test::counted) -> task<> {
      ran = true;
      co_return;
    };
    {
      const task<> dropped = inner(test::counted{alive});
      EXPECT_EQ(alive.load(), 1);
    }
    EXPECT_EQ(alive.load(), 0);
    co_return;
  });
  run();
  EXPECT_FALSE(ran);
}

TEST_P(a_task, runs_in_its_awaiters_color) {
  spawn_in(rt(), color{7}, [&]() -> task<> { EXPECT_EQ(co_await where_now(), color{7}); });
  run();
}

TEST_P(a_task, that_has_moved_resumes_its_awaiter_in_the_awaiters_own_color) {
  int reached = 0;
  spawn_in(rt(), color{7}, [&]() -> task<> {
    EXPECT_EQ(co_await moved_to(color{8}), color{8});
    EXPECT_EQ(current_color(), color{7});
    const auto outer = []() -> task<> {
      co_await on(color{9});
      EXPECT_EQ(co_await moved_to(color{10}), color{10});
      EXPECT_EQ(current_color(), color{9});
    };
    co_await outer();
    EXPECT_EQ(current_color(), color{7});
    ++reached;
  });
  run();
  EXPECT_EQ(reached, 1);
}

TEST_P(a_task, gives_values_references_and_things_that_only_move) {
  int object = 5;
  spawn(rt(), [&]() -> task<> {
    EXPECT_EQ(co_await twice(21), 42);
    int& same = co_await [](int& x) -> task<int&> { co_return x; }(object);
    EXPECT_EQ(&same, &object);
    std::unique_ptr<int> owned = co_await []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); }();
    EXPECT_EQ(*owned, 3);
    const std::array<int, 100> large = co_await []() -> task<std::array<int, 100>> {
      std::array<int, 100> filled{};
      filled[99] = 9;
      co_return filled;
    }();
    EXPECT_EQ(large[99], 9);
  });
  run();
}

TEST_P(a_task, that_throws_throws_in_its_awaiter_in_the_awaiters_color) {
  bool caught = false;
  spawn_in(rt(), color{3}, [&]() -> task<> {
    const auto fails = []() -> task<int> {
      co_await on(color{4});
      throw std::runtime_error{"inner"};
    };
    try {
      static_cast<void>(co_await fails());
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "inner");
      EXPECT_EQ(current_color(), color{3});
      caught = true;
    }
  });
  run();
  EXPECT_TRUE(caught);
}

TEST_P(a_task, leaves_its_color_free_while_it_waits) {
  std::vector<int> order;
  rt().post(color{2}, [&] {
    spawn_in(color{2}, [&]() -> task<> {
      order.push_back(1);
      co_await yield();
      order.push_back(3);
    });
    post(color{2}, [&] { order.push_back(2); });
  });
  run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST_P(a_task, does_not_use_the_stack_for_what_has_ended) {
  std::uint64_t sum = 0;
  spawn(rt(), [&]() -> task<> {
    for (int n = 0; n < 300'000; ++n) sum += static_cast<std::uint64_t>(co_await twice(1));
  });
  run();
  EXPECT_EQ(sum, 600'000u);
}

task<int> depth(int n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await depth(n - 1);
}

TEST_P(a_task, may_await_ten_thousand_deep) {
  spawn(rt(), [&]() -> task<> { EXPECT_EQ(co_await depth(10'000), 10'000); });
  run();
}

TEST_P(a_task, destroys_each_argument_temporary_and_result_once) {
  std::atomic<int> alive{0};
  spawn(rt(), [&]() -> task<> {
    const auto passes = [](test::counted by_value) -> task<test::counted> {
      co_await yield();
      co_return by_value;
    };
    {
      const test::counted given = co_await passes(test::counted{alive});
      EXPECT_EQ(alive.load(), 1);
    }
    if (const test::counted in_condition = co_await passes(test::counted{alive}); alive.load() != 1) ADD_FAILURE();
    const auto optional = [&](int n) -> task<std::unique_ptr<test::counted>> {
      co_await yield();
      co_return n > 0 ? std::make_unique<test::counted>(alive) : nullptr;
    };
    int left = 3;
    while (const auto some = co_await optional(left--)) EXPECT_EQ(alive.load(), 1);
    EXPECT_EQ(alive.load(), 0);
  });
  run();
  EXPECT_EQ(alive.load(), 0);
}

TEST_P(a_task, keeps_what_it_was_given_until_the_end_of_the_awaiting_expression_and_no_longer) {
  std::atomic<int> alive{0};
  spawn(rt(), [&]() -> task<> {
    const auto holds = [](test::counted) -> task<> { co_await yield(); };
    co_await holds(test::counted{alive});
    EXPECT_EQ(alive.load(), 0);
    task<> kept = holds(test::counted{alive});
    co_await std::move(kept);
    EXPECT_FALSE(kept);
    EXPECT_EQ(alive.load(), 0);
  });
  run();
}

TEST_P(a_task, works_with_the_color_of_a_strand) {
  strand s{rt(), "page cache"};
  spawn_in(rt(), s, [&]() -> task<> {
    s.assert_here();
    EXPECT_EQ(co_await moved_to(color{1}), color{1});
    s.assert_here();
  });
  run();
}

/// gcc before 13 compiles it wrongly (GCC bug 106188).
task<bool> without_a_variable_that_awaits_in_a_condition() {
  if (co_await twice(1) != 2) co_return false;
  co_return true;
}

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
TEST(a_misplaced_frame, ends_the_program_where_its_coroutine_is_made) {
  EXPECT_DEATH(static_cast<void>(without_a_variable_that_awaits_in_a_condition()), "GCC bug 106188.*give the awaited value a name first");
}
#else
TEST_P(a_task, may_await_in_a_condition) {
  bool went = false;
  spawn(rt(), [&]() -> task<> { went = co_await without_a_variable_that_awaits_in_a_condition(); });
  run();
  EXPECT_TRUE(went);
}
#endif

TEST(a_task_that_was_moved_from, ends_the_program_when_it_is_awaited) {
  EXPECT_DEATH(
      {
        options settings;
        settings.workers = 1;
        runtime rt{settings};
        spawn(rt, []() -> task<> {
          task<int> t = twice(1);
          static_cast<void>(co_await std::move(t));
          static_cast<void>(co_await std::move(t));
        });
        rt.run_until_idle();
      },
      "a task that was moved from, or was awaited before, is awaited in an event that was posted at .*task_test");
}

}  // namespace
}  // namespace tartan
