#include <tartan/time/with_timeout.h>

#include <gtest/gtest.h>

#include <chrono>
#include <coroutine>
#include <memory>
#include <stdexcept>
#include <tartan/core/abandonable_blocking.h>
#include <tartan/core/await_blocking.h>
#include <tartan/core/channel.h>
#include <tartan/core/in.h>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/when_all.h>
#include <tartan/core/when_any.h>
#include <tartan/core/yield.h>
#include <tartan/time/sleep.h>
#include <thread>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class a_time_limit : public test::coroutines {
 protected:
  /// Runs a coroutine in color 1 and gives how long it took.
  template <class F>
  std::chrono::nanoseconds timed(F body) {
    const auto begin = rt().now();
    auto ended = begin;
    spawn_in(rt(), color{1}, [&]() -> task<> {
      co_await body();
      ended = rt().now();
      EXPECT_EQ(current_color(), color{1});
    });
    run();
    return ended - begin;
  }
};
INSTANTIATE_TEST_SUITE_P(on, a_time_limit, testing::ValuesIn(test::worker_counts()), test::worker_name);

task<int> slow(std::chrono::milliseconds takes) {
  static_cast<void>(co_await sleep(takes));
  co_return 7;
}
task<result<int>> slow_result(std::chrono::milliseconds takes) {
  if (auto slept = co_await sleep(takes); !slept) co_return slept.error();
  co_return 7;
}

static_assert(!detail::foreign_awaitable<decltype(sleep(1ms))>);

/// An awaitable of another library, resumed by a thread of its own.
struct foreign {
  std::thread& resumes;
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    resumes = std::thread{[waiting] { waiting.resume(); }};
  }
  int await_resume() {
    resumes.join();
    return 7;
  }
};

TEST_P(a_time_limit, may_be_set_for_an_awaitable_of_another_library) {
  with.poller = nullptr;  // the virtual clock would pass the time as soon as the workers sleep
  std::thread resumes;
  timed([&]() -> task<> {
    const result<int> in_time = co_await with_timeout(1h, foreign{resumes});
    EXPECT_EQ(in_time.value_or(0), 7);
  });
}

TEST_P(a_time_limit, lets_through_what_is_done_in_time) {
  EXPECT_LE(timed([]() -> task<> {
              const result<int> plain = co_await with_timeout(1s, slow(5ms));
              EXPECT_EQ(*plain, 7);
              const result<int> flat = co_await with_timeout(1s, slow_result(5ms));
              EXPECT_EQ(*flat, 7);
              const result<> nothing = co_await with_timeout(1s, []() -> task<> { co_await yield(); }());
              EXPECT_TRUE(nothing);
            }),
            11ms);
}

TEST_P(a_time_limit, ends_what_is_not_done_in_time_as_timed_out) {
  EXPECT_LE(timed([]() -> task<> {
              EXPECT_EQ((co_await with_timeout(5ms, slow(1h))).error(), errc::timed_out);
              EXPECT_EQ((co_await with_timeout(5ms, slow_result(1h))).error(), errc::timed_out);
              EXPECT_EQ((co_await with_timeout(5ms, [](void) -> task<> { co_await stop_requested(); }())).error(), errc::timed_out);
            }),
            17ms);
}

TEST_P(a_time_limit, works_on_anything_that_can_be_awaited) {
  channel<int> empty{capacity{1}};
  timed([&]() -> task<> {
    EXPECT_EQ((co_await with_timeout(5ms, empty.receive())).error(), errc::timed_out);
    EXPECT_EQ((co_await with_timeout(5ms, sleep(1h))).error(), errc::timed_out);
    EXPECT_EQ(*co_await with_timeout(5ms, in(color{2}, [] { return 3; })), 3);
    auto never = spawn_in(color{3}, []() -> task<int> {
      co_await stop_requested();
      co_return 1;
    });
    EXPECT_EQ((co_await with_timeout(5ms, never.join())).error(), errc::timed_out);
    EXPECT_EQ((co_await with_timeout(5ms, when_all(slow(1h), slow(1ms)))).error(), errc::timed_out);
    EXPECT_EQ((co_await with_timeout(5ms, with_timeout(1h, slow_result(1h)))).error(), errc::timed_out);
    EXPECT_EQ((co_await with_timeout(1h, with_timeout(5ms, slow_result(1h)))).error(), errc::timed_out);
    EXPECT_EQ((co_await with_deadline(rt().now() + 5ms, slow(1h))).error(), errc::timed_out);
  });
}

TEST_P(a_time_limit, waits_until_the_operation_has_ended) {
  bool over = false;
  timed([&]() -> task<> {
    const auto stubborn = [&]() -> task<int> {
      co_await stop_requested();
      for (int n = 0; n < 10; ++n) co_await yield();
      over = true;
      co_return 1;
    };
    EXPECT_EQ((co_await with_timeout(5ms, stubborn())).error(), errc::timed_out);
    EXPECT_TRUE(over);
  });
}

TEST_P(a_time_limit, loses_no_result_that_came_although_the_time_was_up) {
  timed([]() -> task<> {
    const auto late = []() -> task<result<int>> {
      co_await stop_requested();
      co_return 9;
    };
    EXPECT_EQ(*co_await with_timeout(5ms, late()), 9);
    const auto broken = []() -> task<result<int>> {
      co_await stop_requested();
      co_return errc::closed;
    };
    EXPECT_EQ((co_await with_timeout(5ms, broken())).error(), errc::closed);
  });
}

TEST_P(a_time_limit, throws_what_the_task_throws) {
  int caught = 0;
  timed([&]() -> task<> {
    const auto fails = [](bool late) -> task<int> {
      if (late) co_await stop_requested();
      throw std::runtime_error{"inside"};
    };
    for (const bool late : {false, true}) {
      try {
        static_cast<void>(co_await with_timeout(5ms, fails(late)));
      } catch (const std::runtime_error&) {
        ++caught;
      }
    }
  });
  EXPECT_EQ(caught, 2);
}

TEST_P(a_time_limit, cannot_cut_blocking_work_short) {
  timed([this]() -> task<> {
    bool ended = false;
    const auto work = [&]() -> task<int> {
      const stop_token token = co_await get_stop_token();
      auto job = [&, token] {
        while (!token.stop_requested()) clock.advance(1ms);
        ended = true;
        return 4;
      };
      co_return co_await blocking(job);
    };
    EXPECT_EQ((co_await with_timeout(0ms, work())).error(), errc::timed_out);
    EXPECT_TRUE(ended);
  });
}

TEST_P(a_time_limit, leaves_blocking_work_behind_that_owns_what_it_uses) {
  const auto open = std::make_shared<std::atomic<bool>>(false);
  timed([this, open]() -> task<> {
    auto job = [open, time = &clock] {
      while (!*open) time->advance(1s);
      return 4;
    };
    EXPECT_EQ((co_await with_timeout(10s, abandonable_blocking(job))).error(), errc::timed_out);
    EXPECT_FALSE(*open) << "the job goes on";
    *open = true;
    auto quick = [] { return 4; };
    const result<int> in_time = co_await with_timeout(1h, abandonable_blocking(quick));
    EXPECT_EQ(in_time.value_or(0), 4);
  });
}

TEST_P(a_time_limit, of_no_time_still_lets_pass_what_needs_no_wait) {
  channel<int> full{capacity{1}};
  timed([&]() -> task<> {
    EXPECT_TRUE(full.try_send(1));
    EXPECT_EQ(*co_await with_timeout(0ms, full.receive()), 1);
    EXPECT_EQ((co_await with_timeout(0ms, full.receive())).error(), errc::timed_out);
  });
}

TEST_P(a_time_limit, on_a_task_that_has_moved_ends_it_there_and_comes_back) {
  timed([]() -> task<> {
    const auto away = []() -> task<result<>> {
      co_await on(color{7});
      const auto slept = co_await sleep(1h);
      EXPECT_EQ(current_color(), color{7});
      co_return slept;
    };
    EXPECT_EQ((co_await with_timeout(5ms, away())).error(), errc::timed_out);
    EXPECT_EQ(current_color(), color{1});
  });
}

TEST_P(a_time_limit, tells_a_request_to_cancel_from_a_timeout) {
  std::error_code error;
  auto handle = spawn_in(rt(), color{1}, [&]() -> task<> { error = (co_await with_timeout(1h, sleep(2h))).error(); });
  spawn_in(rt(), color{2}, [&]() -> task<> {
    EXPECT_TRUE(co_await sleep(1ms));
    handle.cancel();
  });
  run();
  EXPECT_EQ(error, errc::canceled);
}

TEST_P(a_time_limit, ends_as_canceled_when_the_runtime_stops) {
  std::error_code error;
  spawn_in(rt(), color{1}, [&]() -> task<> { error = (co_await with_timeout(1h, sleep(2h))).error(); });
  spawn_in(rt(), color{2}, [&]() -> task<> {
    EXPECT_TRUE(co_await sleep(1ms));
    rt().stop();
  });
  EXPECT_EQ(rt().run(), 0);
  EXPECT_EQ(error, errc::canceled);
}

TEST_P(a_time_limit, may_be_up_at_the_very_moment_of_the_end) {
  timed([]() -> task<> {
    for (int round = 0; round < 200; ++round) {
      const auto both = co_await with_timeout(1ms, slow_result(1ms));
      EXPECT_TRUE(both || both.error() == errc::timed_out);
      const auto moved = co_await with_timeout(1ms, []() -> task<result<>> {
        co_await on(color{7});
        co_return co_await sleep(1ms);
      }());
      EXPECT_TRUE(moved || moved.error() == errc::timed_out);
    }
  });
}

TEST_P(a_time_limit, goes_down_with_its_runtime) {
  std::atomic<int> alive{0};
  spawn_in(rt(), color{1}, [&]() -> task<> {
    const test::counted local{alive};
    static_cast<void>(co_await with_timeout(1h, sleep(1h)));
    ADD_FAILURE();
  });
  static_cast<void>(rt().run_for(1ms));
  expect_suspended = true;
  end_runtime();
  EXPECT_EQ(alive.load(), 0);
}

TEST_P(a_time_limit, serves_as_one_of_several_that_are_raced) {
  timed([]() -> task<> {
    const auto first = co_await when_any(sleep(1h), sleep(2ms), slow(1h));
    EXPECT_EQ(first.index, 1u);
  });
}

}  // namespace
}  // namespace tartan
