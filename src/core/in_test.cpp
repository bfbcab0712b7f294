#include <tartan/core/in.h>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/strand.h>
#include <tartan/core/yield.h>
#include <vector>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

class in_another_color : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, in_another_color, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(in_another_color, a_function_runs_and_its_result_comes_back) {
  strand s{rt(), "page cache"};
  spawn_in(rt(), color{1}, [&]() -> task<> {
    int there = 0;
    const std::unique_ptr<int> got = co_await in(s, [&] {
      s.assert_here();
      ++there;
      return std::make_unique<int>(3);
    });
    EXPECT_EQ(current_color(), color{1});
    EXPECT_EQ(*got, 3);
    co_await in(color{2}, [&] { ++there; });
    int& same = co_await in(color{2}, [&]() -> int& { return there; });
    EXPECT_EQ(&same, &there);
    EXPECT_EQ(there, 2);
    co_await in(color::unordered, [&] { EXPECT_EQ(current_color(), color::unordered); });
    EXPECT_EQ(current_color(), color{1});
  });
  run();
}

TEST_P(in_another_color, an_exception_of_the_function_comes_back_too) {
  bool caught = false;
  spawn_in(rt(), color{1}, [&]() -> task<> {
    try {
      co_await in(color{2}, [] { throw std::runtime_error{"there"}; });
    } catch (const std::runtime_error&) {
      caught = current_color() == color{1};
    }
  });
  run();
  EXPECT_TRUE(caught);
}

TEST_P(in_another_color, a_coroutine_runs_whole_and_its_result_comes_back) {
  spawn_in(rt(), color{1}, [&]() -> task<> {
    const int there = co_await in(color{2}, [n = 4]() -> task<int> {
      EXPECT_EQ(current_color(), color{2});
      co_await yield();
      EXPECT_EQ(current_color(), color{2});
      co_return n;
    });
    EXPECT_EQ(there, 4);
    EXPECT_EQ(current_color(), color{1});
  });
  run();
}

TEST_P(in_another_color, the_function_is_destroyed_at_home) {
  class told {
   public:
    explicit told(color& at) : where_{&at} {}
    told(told&& other) noexcept : where_{std::exchange(other.where_, nullptr)} {}
    told& operator=(told&& other) noexcept {
      std::swap(where_, other.where_);
      return *this;
    }
    ~told() {
      if (where_ != nullptr) *where_ = current_color();
    }
    void operator()() const { EXPECT_NE(where_, nullptr); }

   private:
    color* where_;
  };
  color ended{99};
  spawn_in(rt(), color{1}, [&]() -> task<> { co_await in(color{2}, told{ended}); });
  run();
  EXPECT_EQ(ended, color{1});
}

TEST_P(in_another_color, a_function_takes_its_place_among_the_posts) {
  std::vector<int> order;
  rt().post(color{1}, [&] {
    post(color{2}, [&] { order.push_back(1); });
    spawn_in(color{1}, [&]() -> task<> {
      co_await in(color{2}, [&] { order.push_back(2); });
      co_await in(color{2}, [&] { order.push_back(3); });
    });
  });
  run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST_P(in_another_color, everybody_meets_one_at_a_time) {
  strand s{rt()};
  std::uint64_t plain = 0;
  for (int n = 0; n < 200; ++n) {
    spawn_in(rt(), color{n}, [&]() -> task<> {
      for (int turn = 0; turn < 20; ++turn) co_await in(s, [&] { ++plain; });
    });
  }
  run();
  EXPECT_EQ(plain, 4000u);
}

TEST_P(in_another_color, a_function_is_called_even_if_the_coroutine_was_canceled) {
  bool called = false;
  auto handle = spawn_in(rt(), color{1}, [&]() -> task<> {
    co_await stop_requested();
    co_await in(color{2}, [&] { called = true; });
  });
  handle.cancel();
  run();
  EXPECT_TRUE(called);
}

class in_its_own_color : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, in_its_own_color, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(in_its_own_color, a_coroutine_calls_at_once_but_only_64_times_in_one_event) {
  int calls = 0;
  int when_others_came = 0;
  rt().post(color{1}, [&] {
    spawn_in(color{1}, [&]() -> task<> {
      for (int n = 0; n < 100; ++n) co_await in(color{1}, [&] { ++calls; });
    });
    post(color{1}, [&] { when_others_came = calls; });
  });
  run();
  EXPECT_EQ(when_others_came, 64);
  EXPECT_EQ(calls, 100);
}

class moving : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, moving, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(moving, takes_one_coroutine_to_a_color_until_it_moves_again_or_ends) {
  spawn_in(rt(), color{1}, []() -> task<> {
    co_await on(color{2});
    EXPECT_EQ(current_color(), color{2});
    co_await yield();
    EXPECT_EQ(current_color(), color{2});
    co_await on(color{});
    EXPECT_EQ(current_color(), color{});
  });
  run();
}

TEST_P(moving, to_the_color_where_it_is_goes_on_at_once) {
  std::vector<int> order;
  rt().post(color{1}, [&] {
    spawn_in(color{1}, [&]() -> task<> {
      co_await on(color{1});
      order.push_back(1);
    });
    post(color{1}, [&] { order.push_back(2); });
  });
  run();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_P(moving, to_unordered_takes_it_out_of_every_color_and_back) {
  spawn_in(rt(), color{1}, []() -> task<> {
    co_await on(color::unordered);
    const color own = current_color();
    EXPECT_NE(own, color{1});
    EXPECT_NE(own, color::unordered);
    EXPECT_EQ(co_await [](color mine) -> task<bool> {
      co_await yield();
      co_return current_color() == mine;
    }(own), true);
    co_await on(color{1});
    EXPECT_EQ(current_color(), color{1});
  });
  run();
}

TEST_P(moving, makes_visible_what_was_done_before) {
  std::uint64_t plain = 0;  // written in many colors, never by two at once: only one coroutine knows it
  spawn(rt(), [&]() -> task<> {
    for (int n = 0; n < 2000; ++n) {
      co_await on(color{n % 5});
      ++plain;
    }
  });
  run();
  EXPECT_EQ(plain, 2000u);
}

class yielding : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, yielding, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(yielding, goes_behind_all_that_was_posted_to_the_color) {
  std::vector<int> order;
  rt().post(color{1}, [&] {
    spawn_in(color{1}, [&]() -> task<> {
      order.push_back(1);
      post(color{1}, [&] { order.push_back(2); });
      co_await yield();
      order.push_back(3);
      post(color{1}, [&] { order.push_back(4); });
      co_await yield();
      order.push_back(5);
    });
  });
  run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST_P(yielding, lets_coroutines_of_one_color_take_turns) {
  std::vector<int> order;
  for (int n = 0; n < 3; ++n) {
    spawn_in(rt(), color{1}, [&, n]() -> task<> {
      for (int turn = 0; turn < 3; ++turn) {
        order.push_back(n);
        co_await yield();
      }
    });
  }
  run();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

}  // namespace
}  // namespace tartan
