#include "core/root_registry.h"

#include <gtest/gtest.h>

#include <chrono>
#include <tartan/core/await_blocking.h>
#include <tartan/core/channel.h>
#include <tartan/core/in.h>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/task_group.h>
#include <tartan/core/when_all.h>
#include <tartan/core/yield.h>
#include <thread>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class the_end_of_a_runtime : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, the_end_of_a_runtime, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(the_end_of_a_runtime, destroys_suspended_coroutines_on_the_callers_thread_and_never_resumes_them) {
  std::atomic<int> alive{0};
  std::atomic<int> resumed{0};
  const std::thread::id caller = std::this_thread::get_id();
  struct told {
    std::thread::id expected;
    ~told() { EXPECT_EQ(std::this_thread::get_id(), expected); }
  };
  channel<int> never{capacity{1}};
  for (int n = 0; n < 30; ++n) {
    spawn_in(rt(), color{n}, [&, n](test::counted) -> task<> {
      const told at_end{caller};
      const test::counted local{alive};
      const auto inner = [&](test::counted) -> task<> {
        co_await on(color{n + 100});
        static_cast<void>(co_await never.receive());
      };
      co_await when_all(inner(local), inner(local));
      ++resumed;
    }, test::counted{alive});
  }
  run();
  EXPECT_EQ(coroutines_left(), 30u);
  EXPECT_GE(alive.load(), 30 * 4);
  expect_suspended = true;
  end_runtime();
  EXPECT_EQ(alive.load(), 0);
  EXPECT_EQ(resumed.load(), 0);
}

TEST_P(the_end_of_a_runtime, asks_every_coroutine_to_end_and_resumes_those_that_do) {
  std::atomic<int> canceled{0};
  channel<int> never{capacity{1}};
  for (int n = 0; n < 30; ++n) {
    spawn_in(rt(), color{n}, [&]() -> task<> {
      if (!co_await never.receive()) ++canceled;
      if (!co_await never.receive()) ++canceled;
    });
  }
  run();
  const drained outcome = rt().drain(1s);
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(outcome.destroyed, 0u);
  EXPECT_EQ(canceled.load(), 60);
}

TEST_P(the_end_of_a_runtime, cancels_from_the_start_what_is_spawned_after_stop) {
  int canceled = 0;
  spawn(rt(), [&]() -> task<> {
    co_await stop_requested();
    auto late = spawn([&]() -> task<> {
      co_await stop_requested();
      ++canceled;
    });
    co_await late.join();
    ++canceled;
  });
  run();
  EXPECT_TRUE(rt().drain(1s).complete);
  EXPECT_EQ(canceled, 2);
}

TEST_P(the_end_of_a_runtime, counts_a_coroutine_that_never_ends_once) {
  std::atomic<int> turns{0};
  spawn(rt(), [&]() -> task<> {
    for (;;) {
      ++turns;
      co_await yield();
    }
  });
  spawn(rt(), [&]() -> task<> {
    co_await stop_requested();
    co_await [](void) -> task<> {
      for (;;) co_await yield();
    }();
  });
  expect_suspended = true;
  const drained outcome = rt().drain(0s);
  EXPECT_FALSE(outcome.complete);
  EXPECT_EQ(outcome.destroyed, 2u);
  EXPECT_EQ(turns.load(), 0);
}

TEST_P(the_end_of_a_runtime, takes_coroutines_that_were_never_started_and_what_they_were_given) {
  std::atomic<int> alive{0};
  for (int n = 0; n < 10; ++n) spawn_in(rt(), color{n}, [](test::counted) -> task<> { co_return; }, test::counted{alive});
  EXPECT_EQ(alive.load(), 10);
  expect_suspended = true;
  end_runtime();
  EXPECT_EQ(alive.load(), 0);
}

TEST_P(the_end_of_a_runtime, refuses_what_a_destructor_spawns) {
  struct spawns {
    runtime& in;
    ~spawns() { EXPECT_FALSE(spawn(in, []() -> task<> { co_return; })); }
  };
  spawn(rt(), [&]() -> task<> {
    const spawns at_end{rt()};
    co_await [](void) -> task<> {
      for (;;) co_await yield();
    }();
  });
  clock.advance(1s);
  static_cast<void>(rt().run_for(0s));
  expect_suspended = true;
  static_cast<void>(rt().drain(0s));
}

TEST_P(the_end_of_a_runtime, waits_for_a_blocking_job_before_it_destroys_the_frame) {
  std::atomic<bool> entered{false};
  std::atomic<bool> go_on{false};
  std::atomic<int> alive{0};
  spawn(rt(), [&]() -> task<> {
    const test::counted local{alive};
    co_await blocking([&] {
      entered = true;
      test::spin_until([&] { return go_on.load(); });
      EXPECT_EQ(alive.load(), 1);
    });
  });
  std::thread other{[&] {
    test::spin_until([&] { return entered.load(); });
    rt().stop();
    go_on = true;
  }};
  rt().run();
  other.join();
  EXPECT_EQ(alive.load(), 0);
}

class a_stop_token : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, a_stop_token, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(a_stop_token, tells_whether_the_coroutine_was_asked_to_end) {
  int steps = 0;
  auto handle = spawn(rt(), [&]() -> task<> {
    const stop_token token = co_await get_stop_token();
    EXPECT_FALSE(token.stop_requested());
    while (!token.stop_requested()) {
      if (++steps == 5) rt().stop();
      co_await yield();
    }
  });
  static_cast<void>(rt().run());
  EXPECT_GE(steps, 5);
}

TEST_P(a_stop_token, can_be_carried_off_the_workers) {
  auto handle = spawn(rt(), []() -> task<int> {
    const stop_token token = co_await get_stop_token();
    co_return co_await blocking([token] {
      test::spin_until([&] { return token.stop_requested(); });
      return 3;
    });
  });
  int got = 0;
  spawn_in(rt(), color{1}, [&]() -> task<> {
    handle.cancel();
    got = co_await handle.join();
  });
  run();
  EXPECT_EQ(got, 3);
}

TEST_P(a_stop_token, belongs_to_one_branch_alone) {
  int asked = 0;
  spawn(rt(), [&]() -> task<> {
    const stop_token outer = co_await get_stop_token();
    const auto branch = [&]() -> task<> {
      const stop_token own = co_await get_stop_token();
      co_await stop_requested();
      EXPECT_TRUE(own.stop_requested());
      ++asked;
    };
    const auto fails = []() -> task<> {
      co_await yield();
      throw 1;
    };
    try {
      co_await when_all(branch(), fails());
    } catch (int) {
      EXPECT_FALSE(outer.stop_requested());
    }
  });
  run();
  EXPECT_EQ(asked, 1);
}

class cancellation : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, cancellation, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(cancellation, finds_a_coroutine_wherever_it_has_moved) {
  for (int round = 0; round < 100; ++round) {
    channel<int> never{capacity{1}};
    std::atomic<int> ended{0};
    auto handle = spawn_in(rt(), color{1}, [&]() -> task<> {
      for (int n = 0; n < 20; ++n) {
        co_await on(color{n % 3});
        const color before = current_color();
        if (n % 4 == 3 && !co_await never.receive()) {
          EXPECT_EQ(current_color(), before);
          ++ended;
          co_return;
        }
      }
    });
    spawn_in(rt(), color{7}, [&]() -> task<> {
      for (int n = 0; n < round % 10; ++n) co_await yield();
      handle.cancel();
    });
    run();
    EXPECT_EQ(ended.load(), 1);
  }
}

TEST_P(cancellation, asked_for_many_times_by_many_threads_is_one) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ended{0};
    auto handle = spawn_in(rt(), color{1}, [&]() -> task<> {
      co_await stop_requested();
      ++ended;
    });
    spawn_in(rt(), color{2}, [&]() -> task<> {
      std::thread first{[&] { handle.cancel(); }};
      std::thread second{[&] { handle.cancel(); }};
      first.join();
      second.join();
      handle.cancel();
      co_return;
    });
    run();
    EXPECT_EQ(ended.load(), 1);
  }
}

}  // namespace
}  // namespace tartan
