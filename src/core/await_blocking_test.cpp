#include <tartan/core/await_blocking.h>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/yield.h>
#include <thread>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

class awaited_blocking : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, awaited_blocking, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(awaited_blocking, runs_off_the_workers_and_comes_back_to_the_color) {
  spawn_in(rt(), color{3}, []() -> task<> {
    const std::thread::id worker = std::this_thread::get_id();
    const std::unique_ptr<int> got = co_await blocking([&] {
      EXPECT_NE(std::this_thread::get_id(), worker);
      EXPECT_FALSE(in_event());
      return std::make_unique<int>(8);
    });
    EXPECT_EQ(*got, 8);
    EXPECT_EQ(current_color(), color{3});
    co_await blocking([] {});
  });
  run();
}

TEST_P(awaited_blocking, brings_an_exception_back) {
  bool caught = false;
  spawn_in(rt(), color{3}, [&]() -> task<> {
    try {
      co_await blocking([] { throw std::runtime_error{"disk"}; });
    } catch (const std::runtime_error&) {
      caught = current_color() == color{3};
    }
  });
  run();
  EXPECT_TRUE(caught);
}

TEST_P(awaited_blocking, waits_when_the_pool_is_full) {
  with.blocking_threads = 2;
  with.blocking_queue = 0;
  std::atomic<int> at_once{0};
  std::atomic<int> ended{0};
  for (int n = 0; n < 40; ++n) {
    spawn_in(rt(), color{n}, [&]() -> task<> {
      co_await blocking([&] {
        EXPECT_LE(at_once.fetch_add(1), 1);
        at_once.fetch_sub(1);
      });
      ++ended;
    });
  }
  run();
  EXPECT_EQ(ended.load(), 40);
}

TEST_P(awaited_blocking, leaves_the_color_free_meanwhile) {
  std::atomic<bool> other_ran{false};
  rt().post(color{3}, [&] {
    spawn_in(color{3}, [&]() -> task<> {
      co_await blocking([&] { test::spin_until([&] { return other_ran.load(); }); });
    });
    post(color{3}, [&] { other_ran = true; });
  });
  run();
}

}  // namespace
}  // namespace tartan
