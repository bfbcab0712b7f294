#include <tartan/core/watch.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <tartan/core/post.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/when_any.h>
#include <tartan/core/yield.h>
#include <thread>
#include <vector>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

class a_watch : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, a_watch, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(a_watch, gives_a_new_reader_the_value_that_there_is_and_then_each_change) {
  watch<std::string> level{"first"};
  std::vector<std::string> seen;
  spawn_in(rt(), color{1}, [&]() -> task<> {
    auto reader = level.subscribe();
    while (const auto value = co_await reader.next()) seen.push_back(*value);
    EXPECT_EQ(current_color(), color{1});
  });
  run();
  EXPECT_TRUE(level.set("second"));
  run();
  EXPECT_TRUE(level.set("third"));
  run();
  level.close();
  run();
  EXPECT_EQ(seen, (std::vector<std::string>{"first", "second", "third"}));
}

TEST_P(a_watch, shows_a_slow_reader_the_latest_value_only) {
  watch<int> level{0};
  auto reader = level.subscribe();
  for (int n = 1; n <= 5; ++n) EXPECT_TRUE(level.set(n));
  EXPECT_TRUE(reader.changed());
  std::vector<int> seen;
  spawn_in(rt(), color{1}, [&]() -> task<> {
    while (const auto value = co_await reader.next()) seen.push_back(*value);
  });
  run();
  EXPECT_FALSE(reader.changed());
  level.close();
  run();
  EXPECT_EQ(seen, (std::vector<int>{5}));
}

TEST_P(a_watch, wakes_all_readers_that_wait_in_the_order_in_which_they_came) {
  watch<int> level{0};
  std::vector<int> order;
  std::atomic<int> elsewhere{0};
  for (int n = 0; n < 4; ++n) {
    spawn_in(rt(), color{1}, [&, n]() -> task<> {
      auto reader = level.subscribe();
      EXPECT_EQ(reader.get(), 0);
      EXPECT_EQ(*co_await reader.next(), 1);
      order.push_back(n);
    });
    spawn_in(rt(), color{10 + n}, [&]() -> task<> {
      auto reader = level.subscribe();
      EXPECT_EQ(reader.get(), 0);
      EXPECT_EQ(*co_await reader.next(), 1);
      ++elsewhere;
    });
  }
  run();
  EXPECT_TRUE(order.empty());
  EXPECT_TRUE(level.set(1));
  run();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(elsewhere.load(), 4);
}

TEST_P(a_watch, never_shows_a_reader_an_older_value_and_always_the_last_one) {
  constexpr int last = 2000;
  watch<int> level{0};
  std::atomic<int> ended{0};
  for (int n = 0; n < 5; ++n) {
    spawn_in(rt(), color{10 + n}, [&]() -> task<> {
      auto reader = level.subscribe();
      int before = -1;
      while (const auto value = co_await reader.next()) {
        EXPECT_GT(*value, before);
        before = *value;
      }
      EXPECT_EQ(before, last);
      ++ended;
    });
  }
  spawn_in(rt(), color{1}, [&]() -> task<> {
    for (int n = 1; n <= last; ++n) {
      EXPECT_TRUE(level.set(n));
      if (n % 16 == 0) co_await yield();
    }
    level.close();
  });
  run();
  EXPECT_EQ(ended.load(), 5);
}

TEST_P(a_watch, can_be_set_and_read_by_any_thread) {
  watch<std::string> level{"none"};
  std::string got;
  spawn_in(rt(), color{1}, [&]() -> task<> {
    auto reader = level.subscribe();
    EXPECT_EQ(reader.get(), "none");
    got = *co_await reader.next();
  });
  run();
  std::thread{[&] {
    EXPECT_TRUE(level.set("from outside"));
    EXPECT_EQ(level.get(), "from outside");
  }}.join();
  run();
  EXPECT_EQ(got, "from outside");
}

TEST_P(a_watch, that_is_closed_keeps_its_value_and_takes_no_other) {
  watch<int> level{0};
  auto reader = level.subscribe();
  EXPECT_TRUE(level.set(1));
  level.close();
  EXPECT_FALSE(level.set(2));
  EXPECT_EQ(level.get(), 1);
  spawn(rt(), [&]() -> task<> {
    EXPECT_EQ(*co_await reader.next(), 1);
    EXPECT_EQ((co_await reader.next()).error(), errc::end_of_stream);
    EXPECT_EQ((co_await reader.next()).error(), errc::end_of_stream);
  });
  run();
  EXPECT_EQ(reader.get(), 1);
}

TEST_P(a_watch, destroys_the_value_that_was_replaced_and_the_one_that_was_refused) {
  std::atomic<int> alive{0};
  {
    watch<test::counted> level{test::counted{alive}};
    EXPECT_EQ(alive.load(), 1);
    EXPECT_TRUE(level.set(test::counted{alive}));
    EXPECT_EQ(alive.load(), 1);
    level.close();
    EXPECT_FALSE(level.set(test::counted{alive}));
    EXPECT_EQ(alive.load(), 1);
  }
  EXPECT_EQ(alive.load(), 0);
}

TEST_P(a_watch, may_be_destroyed_by_a_reader_that_closing_it_wakes) {
  int ended = 0;
  for (int n = 0; n < 300; ++n) {
    auto mine = std::make_unique<watch<int>>(0);
    watch<int>* const closed_by_other = mine.get();
    spawn_in(
        rt(), color{1},
        [&ended](std::unique_ptr<watch<int>> owned) -> task<> {
          auto reader = owned->subscribe();
          while (co_await reader.next()) {
          }
          owned.reset();
          ++ended;
        },
        std::move(mine));
    spawn_in(rt(), color{2}, [closed_by_other]() -> task<> {
      EXPECT_TRUE(closed_by_other->set(1));
      co_await yield();
      closed_by_other->close();
    });
  }
  run();
  EXPECT_EQ(ended, 300);
}

TEST_P(a_watch, ends_the_wait_of_a_canceled_reader_and_leaves_the_change_to_its_next_call) {
  watch<int> level{0};
  auto reader = level.subscribe();
  EXPECT_EQ(reader.get(), 0);
  std::error_code error;
  auto handle = spawn_in(rt(), color{1}, [&]() -> task<> {
    error = (co_await reader.next()).error();
    EXPECT_EQ(current_color(), color{1});
  });
  run();
  handle.cancel();
  run();
  EXPECT_EQ(error, errc::canceled);
  EXPECT_TRUE(level.set(1));
  EXPECT_TRUE(reader.changed());
  int got = 0;
  spawn_in(rt(), color{2}, [&]() -> task<> { got = *co_await reader.next(); });
  run();
  EXPECT_EQ(got, 1);
}

TEST_P(a_watch, gives_a_canceled_coroutine_what_needs_no_wait) {
  watch<int> level{3};
  auto handle = spawn(rt(), [&]() -> task<> {
    co_await stop_requested();
    auto reader = level.subscribe();
    EXPECT_EQ(*co_await reader.next(), 3);
    EXPECT_EQ((co_await reader.next()).error(), errc::canceled);
  });
  handle.cancel();
  run();
}

TEST_P(a_watch, loses_no_change_to_a_reader_that_is_canceled_at_the_same_time) {
  for (int round = 0; round < 200; ++round) {
    watch<int> level{0};
    auto reader = level.subscribe();
    EXPECT_EQ(reader.get(), 0);
    bool got = false;
    auto handle = spawn_in(rt(), color{1}, [&]() -> task<> { got = (co_await reader.next()).has_value(); });
    spawn_in(rt(), color{2}, [&]() -> task<> {
      EXPECT_TRUE(level.set(1));
      co_return;
    });
    spawn_in(rt(), color{3}, [&]() -> task<> {
      handle.cancel();
      co_return;
    });
    run();
    EXPECT_EQ(reader.changed(), !got);
  }
}

TEST_P(a_watch, is_one_of_several_things_to_wait_for) {
  watch<int> first{0};
  watch<int> second{0};
  spawn_in(rt(), color{1}, [&]() -> task<> {
    auto of_first = first.subscribe();
    auto of_second = second.subscribe();
    EXPECT_EQ(of_first.get() + of_second.get(), 0);
    const auto [index, value] = co_await when_any(of_first.next(), of_second.next());
    EXPECT_EQ(index, 1u);
    EXPECT_EQ(*std::get<1>(value), 8);
  });
  run();
  EXPECT_TRUE(second.set(8));
  run();
}

TEST_P(a_watch, throws_in_the_reader_what_the_copy_of_its_value_throws) {
  struct fragile {
    explicit fragile(int n) : number{n} {}
    fragile(fragile&&) = default;
    fragile(const fragile& other) : number{other.number} {
      if (number < 0) throw std::runtime_error{"no copy"};
    }
    int number;
  };
  watch<fragile> level{fragile{1}};
  bool caught = false;
  spawn_in(rt(), color{1}, [&]() -> task<> {
    auto reader = level.subscribe();
    const auto first = co_await reader.next();
    EXPECT_EQ(first->number, 1);
    try {
      static_cast<void>(co_await reader.next());
    } catch (const std::runtime_error&) {
      caught = current_color() == color{1};
    }
  });
  run();
  EXPECT_TRUE(level.set(fragile{-1}));
  run();
  EXPECT_TRUE(caught);
}

TEST_P(a_watch, goes_down_with_its_runtime_in_any_order) {
  std::atomic<int> alive{0};
  auto outside = std::make_unique<watch<test::counted>>(test::counted{alive});
  for (int n = 0; n < 3; ++n) {
    spawn_in(rt(), color{n}, [&]() -> task<> {
      watch<test::counted> inside{test::counted{alive}};
      auto of_inside = inside.subscribe();
      auto of_outside = outside->subscribe();
      static_cast<void>(co_await of_inside.next());
      static_cast<void>(co_await of_outside.next());
      spawn_in(current_color(), [of_outside]() mutable -> task<> { static_cast<void>(co_await of_outside.next()); });
      static_cast<void>(co_await of_inside.next());
    });
  }
  run();
  expect_suspended = true;
  end_runtime();
  EXPECT_EQ(alive.load(), 1);
  EXPECT_TRUE(outside->set(test::counted{alive})) << "no coroutine waits in it any more";
  outside.reset();
  EXPECT_EQ(alive.load(), 0);
}

TEST(a_watch_destroyed_too_early, ends_the_program) {
  EXPECT_DEATH(
      {
        options with;
        with.workers = 1;
        runtime rt{with};
        auto level = std::make_unique<watch<int>>(0);
        spawn(rt, [&]() -> task<> {
          auto reader = level->subscribe();
          while (co_await reader.next()) {
          }
        });
        rt.run_until_idle();
        level.reset();
      },
      "a watch was destroyed while a coroutine waits in it, which was spawned at .*watch_test");
}

}  // namespace
}  // namespace tartan
