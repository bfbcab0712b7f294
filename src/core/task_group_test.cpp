#include <tartan/core/task_group.h>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/yield.h>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

class a_task_group : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, a_task_group, testing::ValuesIn(test::worker_counts()), test::worker_name);

task<> turns(int n, std::atomic<int>& ended) {
  for (; n > 0; --n) co_await yield();
  ++ended;
}
task<> fails(int n, const char* what) {
  for (; n > 0; --n) co_await yield();
  throw std::runtime_error{what};
}
task<> until_canceled(std::atomic<int>& ended) {
  co_await stop_requested();
  ++ended;
}

TEST_P(a_task_group, joins_all_its_coroutines_of_all_colors) {
  std::atomic<int> ended{0};
  spawn_in(rt(), color{3}, [&]() -> task<> {
    task_group group;
    co_await group.join();
    for (int n = 0; n < 100; ++n) group.spawn_in(color{n}, turns, n % 7, std::ref(ended));
    group.spawn([&]() -> task<> {
      EXPECT_EQ(current_color(), color{});
      ++ended;
      co_return;
    });
    co_await group.join();
    EXPECT_EQ(ended.load(), 101);
    EXPECT_EQ(group.size(), 0u);
    EXPECT_EQ(current_color(), color{3});
    group.spawn(turns, 1, std::ref(ended));
    co_await group.join();
    EXPECT_EQ(ended.load(), 102);
  });
  run();
  EXPECT_EQ(ended.load(), 102);
}

TEST_P(a_task_group, may_be_used_again_after_it_was_joined) {
  std::atomic<int> ended{0};
  int rounds = 0;
  spawn_in(rt(), color{3}, [&]() -> task<> {
    task_group group;
    for (int round = 1; round <= 20; ++round) {
      for (int n = 0; n < 5; ++n) group.spawn_in(color{n}, turns, n, std::ref(ended));
      co_await group.join();
      EXPECT_EQ(ended.load(), 5 * round);
      EXPECT_EQ(group.size(), 0u);
      ++rounds;
    }
  });
  run();
  EXPECT_EQ(rounds, 20);
}

TEST_P(a_task_group, also_joins_what_its_coroutines_spawn_into_it) {
  std::atomic<int> ended{0};
  spawn(rt(), [&]() -> task<> {
    task_group group;
    struct crawler {
      static task<> visit(task_group& g, std::atomic<int>& count, int depth) {
        ++count;
        if (depth == 0) co_return;
        for (int n = 0; n < 3; ++n) g.spawn_in(color{n + depth * 10}, visit, std::ref(g), std::ref(count), depth - 1);
      }
    };
    group.spawn(crawler::visit, std::ref(group), std::ref(ended), 4);
    co_await group.join();
    EXPECT_EQ(ended.load(), 1 + 3 + 9 + 27 + 81);
  });
  run();
}

TEST_P(a_task_group, throws_the_first_exception_at_join_after_the_others_were_canceled) {
  std::atomic<int> ended{0};
  bool caught = false;
  spawn(rt(), [&]() -> task<> {
    task_group group;
    for (int n = 0; n < 20; ++n) group.spawn_in(color{n}, until_canceled, std::ref(ended));
    group.spawn_in(color{50}, fails, 3, "first");
    try {
      co_await group.join();
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "first");
      EXPECT_EQ(ended.load(), 20);
      caught = true;
    }
    group.spawn(until_canceled, std::ref(ended));  // canceled from the start
    co_await group.join();
    EXPECT_EQ(ended.load(), 21);
  });
  run();
  EXPECT_TRUE(caught);
}

TEST_P(a_task_group, asks_all_to_end) {
  std::atomic<int> ended{0};
  spawn(rt(), [&]() -> task<> {
    task_group group;
    for (int n = 0; n < 20; ++n) group.spawn_in(color{n}, until_canceled, std::ref(ended));
    EXPECT_EQ(group.size(), 20u);
    group.cancel();
    co_await group.join();
    EXPECT_EQ(ended.load(), 20);
  });
  run();
}

TEST_P(a_task_group, passes_a_request_to_cancel_on_from_who_joins) {
  std::atomic<int> ended{0};
  auto handle = spawn(rt(), [&]() -> task<> {
    task_group group;
    for (int n = 0; n < 5; ++n) group.spawn_in(color{n}, until_canceled, std::ref(ended));
    co_await group.join();
    EXPECT_EQ(ended.load(), 5);
  });
  run();
  EXPECT_EQ(ended.load(), 0);
  handle.cancel();
  run();
  EXPECT_EQ(ended.load(), 5);
}

TEST_P(a_task_group, may_be_joined_while_its_coroutines_end) {
  std::atomic<int> ended{0};
  for (int n = 0; n < 100; ++n) {
    spawn_in(rt(), color{n}, [&, n]() -> task<> {
      task_group group;
      for (int m = 0; m < 4; ++m) group.spawn_in(color{1000 + 10 * n + m}, turns, 0, std::ref(ended));
      for (int m = n % 4; m > 0; --m) co_await yield();
      co_await group.join();
    });
  }
  run();
  EXPECT_EQ(ended.load(), 400);
}

class with_a_task_group : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, with_a_task_group, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(with_a_task_group, a_function_gives_its_result_when_all_have_ended) {
  std::atomic<int> ended{0};
  spawn(rt(), [&]() -> task<> {
    const int given = co_await with_task_group([&](task_group& group) -> task<int> {
      for (int n = 0; n < 10; ++n) group.spawn_in(color{n}, turns, 2, std::ref(ended));
      co_return 4;
    });
    EXPECT_EQ(given, 4);
    EXPECT_EQ(ended.load(), 10);
  });
  run();
}

TEST_P(with_a_task_group, an_exception_of_the_function_cancels_the_others_and_is_thrown_when_they_have_ended) {
  std::atomic<int> ended{0};
  int caught = 0;
  spawn(rt(), [&]() -> task<> {
    try {
      co_await with_task_group([&](task_group& group) -> task<> {
        for (int n = 0; n < 10; ++n) group.spawn_in(color{n}, until_canceled, std::ref(ended));
        throw std::logic_error{"body"};
        co_return;
      });
    } catch (const std::logic_error&) {
      EXPECT_EQ(ended.load(), 10);
      ++caught;
    }
    try {
      co_await with_task_group([&](task_group& group) -> task<> {
        group.spawn(fails, 1, "member");
        co_return;
      });
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "member");
      ++caught;
    }
  });
  run();
  EXPECT_EQ(caught, 2);
}

TEST_P(a_task_group, goes_down_with_its_runtime_without_being_joined) {
  std::atomic<int> ended{0};
  spawn(rt(), [&]() -> task<> {
    task_group group;
    for (int n = 0; n < 20; ++n) group.spawn_in(color{n}, until_canceled, std::ref(ended));
    co_await group.join();
  });
  run();
  expect_suspended = true;
  end_runtime();
  EXPECT_EQ(ended.load(), 0) << "destroyed, not resumed";
}

TEST(a_task_group_with_two_joiners, ends_the_program) {
  EXPECT_DEATH(
      {
        options with;
        with.workers = 1;
        runtime rt{with};
        spawn(rt, []() -> task<> {
          task_group group;
          group.spawn([]() -> task<> { co_await stop_requested(); });
          auto second = spawn([&group]() -> task<> { co_await group.join(); });
          co_await group.join();
          co_await second.join();
        });
        rt.run_until_idle();
      },
      "a task group is joined by two coroutines at once; it was made at .*task_group_test");
}

TEST(a_task_group_that_is_not_joined, ends_the_program) {
  EXPECT_DEATH(
      {
        options with;
        with.workers = 1;
        runtime rt{with};
        spawn(rt, []() -> task<> {
          task_group group;
          group.spawn([]() -> task<> { co_await yield(); });
          co_return;
        });
        rt.run_until_idle();
      },
      "a task group that was made at .*task_group_test.* was destroyed with 1 coroutines in it; co_await its join");
}

TEST(a_task_group_that_is_joined_from_another_runtime, ends_the_program) {
  EXPECT_DEATH(
      {
        options with;
        with.workers = 1;
        runtime one{with};
        runtime other{with};
        task_group group{one};
        group.spawn([]() -> task<> { co_return; });
        spawn_in(other, color{3}, [&]() -> task<> { co_await group.join(); });
        other.run_until_idle();
      },
      "a task group of another runtime was joined, in color 3, by a coroutine that was spawned at .*task_group_test.*; it was made at "
      ".*task_group_test");
}

}  // namespace
}  // namespace tartan
