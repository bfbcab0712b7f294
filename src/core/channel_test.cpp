#include <tartan/core/channel.h>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <tartan/core/post.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/task_group.h>
#include <tartan/core/yield.h>
#include <thread>
#include <vector>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

class a_channel : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, a_channel, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(a_channel, carries_values_between_colors_in_order) {
  channel<std::unique_ptr<int>> c{capacity{3}};
  std::vector<int> got;
  spawn_in(rt(), color{1}, [&]() -> task<> {
    for (int n = 0; n < 1000; ++n) {
      EXPECT_TRUE(co_await c.send(std::make_unique<int>(n)));
    }
    c.close();
  });
  spawn_in(rt(), color{2}, [&]() -> task<> {
    while (auto value = co_await c.receive()) {
      EXPECT_LE(c.size(), c.limit());
      got.push_back(**value);
    }
  });
  run();
  ASSERT_EQ(got.size(), 1000u);
  for (int n = 0; n < 1000; ++n) EXPECT_EQ(got[static_cast<std::size_t>(n)], n);
}

TEST_P(a_channel, loses_and_doubles_nothing_among_many) {
  channel<int> c{capacity{4}};
  std::atomic<std::uint64_t> sum{0};
  std::atomic<int> count{0};
  spawn(rt(), [&]() -> task<> {
    task_group senders;
    for (int n = 0; n < 8; ++n) {
      senders.spawn_in(color{10 + n}, [&]() -> task<> {
        for (int value = 1; value <= 250; ++value) EXPECT_TRUE(co_await c.send(value));
      });
    }
    for (int n = 0; n < 5; ++n) {
      spawn_in(color{100 + n}, [&]() -> task<> {
        while (auto value = co_await c.receive()) {
          sum += static_cast<std::uint64_t>(*value);
          ++count;
        }
      });
    }
    co_await senders.join();
    c.close();
  });
  run();
  EXPECT_EQ(count.load(), 2000);
  EXPECT_EQ(sum.load(), 8u * 250u * 251u / 2u);
}

TEST_P(a_channel, makes_a_sender_wait_for_room_and_serves_those_who_wait_in_their_order) {
  channel<int> c{capacity{1}};
  std::vector<int> order;
  spawn(rt(), [&]() -> task<> {
    for (int n = 0; n < 4; ++n) {
      spawn([&, n]() -> task<> {
        EXPECT_TRUE(co_await c.send(n));
        order.push_back(n);
      });
    }
    co_await yield();
    EXPECT_EQ(order, (std::vector<int>{0}));
    for (int n = 0; n < 4; ++n) {
      auto value = co_await c.receive();
      EXPECT_TRUE(value && *value == n);
    }
  });
  run();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST_P(a_channel, that_is_closed_gives_what_is_in_it_and_then_the_end) {
  channel<std::string> c{capacity{2}};
  spawn(rt(), [&]() -> task<> {
    EXPECT_TRUE(c.try_send("one"));
    EXPECT_TRUE(c.try_send("two"));
    auto waits = spawn([&]() -> task<std::error_code> { co_return (co_await c.send("three")).error(); });
    co_await yield();
    c.close();
    EXPECT_EQ(co_await waits.join(), errc::closed);
    EXPECT_EQ((co_await c.send("four")).error(), errc::closed);
    EXPECT_EQ(*co_await c.receive(), "one");
    EXPECT_EQ(*co_await c.receive(), "two");
    EXPECT_EQ((co_await c.receive()).error(), errc::end_of_stream);
    EXPECT_EQ(c.try_receive().error(), errc::end_of_stream);
  });
  run();
}

TEST_P(a_channel, may_be_destroyed_by_whom_closing_it_wakes) {
  int ended = 0;
  for (int n = 0; n < 300; ++n) {
    auto mine = std::make_unique<channel<int>>(capacity{1});
    channel<int>* const closed_by_other = mine.get();
    spawn_in(
        rt(), color{1},
        [&ended](std::unique_ptr<channel<int>> owned) -> task<> {
          while (co_await owned->receive()) {
          }
          owned.reset();
          ++ended;
        },
        std::move(mine));
    spawn_in(rt(), color{2}, [closed_by_other]() -> task<> {
      EXPECT_TRUE(co_await closed_by_other->send(1));
      closed_by_other->close();
    });
  }
  run();
  EXPECT_EQ(ended, 300);
}

TEST_P(a_channel, wakes_all_who_wait_for_values_when_it_is_closed) {
  channel<int> c{capacity{2}};
  std::atomic<int> ended{0};
  for (int n = 0; n < 10; ++n) {
    spawn_in(rt(), color{n}, [&]() -> task<> {
      EXPECT_EQ((co_await c.receive()).error(), errc::end_of_stream);
      ++ended;
    });
  }
  run();
  EXPECT_EQ(ended.load(), 0);
  std::thread{[&] { c.close(); }}.join();
  run();
  EXPECT_EQ(ended.load(), 10);
}

TEST_P(a_channel, can_be_tried_from_any_thread) {
  channel<int> c{capacity{2}};
  EXPECT_EQ(c.try_receive().error(), errc::busy);
  int got = 0;
  spawn_in(rt(), color{1}, [&]() -> task<> {
    while (auto value = co_await c.receive()) got += *value;
  });
  run();
  std::thread{[&] {
    EXPECT_TRUE(c.try_send(1));  // straight to who waits
    EXPECT_TRUE(c.try_send(2));
    EXPECT_TRUE(c.try_send(3));
    int left = 4;
    EXPECT_EQ(c.try_send(std::move(left)).error(), errc::busy);
  }}.join();
  run();
  EXPECT_EQ(got, 6);
  c.close();
  run();
}

TEST_P(a_channel, ends_the_wait_of_a_canceled_coroutine_and_serves_the_next) {
  channel<int> c{capacity{1}};
  std::error_code first;
  int second = 0;
  auto canceled = spawn_in(rt(), color{1}, [&]() -> task<> { first = (co_await c.receive()).error(); });
  run();
  spawn_in(rt(), color{2}, [&]() -> task<> { second = *co_await c.receive(); });
  run();
  canceled.cancel();
  run();
  EXPECT_EQ(first, errc::canceled);
  EXPECT_TRUE(c.try_send(5));
  run();
  EXPECT_EQ(second, 5);
}

TEST_P(a_channel, ends_the_wait_of_a_canceled_sender_destroys_its_value_and_serves_the_next) {
  channel<std::shared_ptr<int>> full{capacity{1}};
  const auto value = std::make_shared<int>();
  std::error_code first;
  bool second = false;
  auto canceled = spawn_in(rt(), color{1}, [&]() -> task<> {
    EXPECT_TRUE(co_await full.send(value));
    first = (co_await full.send(value)).error();
    EXPECT_EQ(value.use_count(), 3) << "ours, the one in the channel, the next sender's";
    EXPECT_EQ(current_color(), color{1});
  });
  run();
  spawn_in(rt(), color{2}, [&]() -> task<> { second = (co_await full.send(value)).has_value(); });
  run();
  EXPECT_EQ(value.use_count(), 4);
  canceled.cancel();
  run();
  EXPECT_EQ(first, errc::canceled);
  EXPECT_FALSE(second);
  EXPECT_TRUE(full.try_receive());
  run();
  EXPECT_TRUE(second);
  EXPECT_TRUE(full.try_receive());
  EXPECT_EQ(full.size(), 0u);
  EXPECT_EQ(value.use_count(), 1);
}

TEST_P(a_channel, serves_a_receiver_whose_cancellation_is_on_its_way) {
  channel<int> values{capacity{1}};
  int got = 0;
  auto receiver = spawn_in(rt(), color{1}, [&]() -> task<> {
    if (const auto value = co_await values.receive()) got = *value;
  });
  run();
  rt().post(color{1}, [&] {  // before the receiver's color hears of the request
    receiver.cancel();
    EXPECT_TRUE(values.try_send(7));
  });
  run();
  EXPECT_EQ(got, 7);
}

TEST_P(a_channel, keeps_its_line_when_a_cancellation_comes_to_who_was_served) {
  channel<int> values{capacity{1}};
  int got = 0;
  int next = 0;
  auto receiver = spawn_in(rt(), color{1}, [&]() -> task<> {
    if (const auto value = co_await values.receive()) got = *value;
  });
  run();
  auto other = spawn_in(rt(), color{1}, [&]() -> task<> {
    receiver.cancel();  // comes behind this event
    EXPECT_TRUE(values.try_send(7));
    if (const auto value = co_await values.receive()) next = *value;
  });
  run();
  rt().post(color{1}, [&] { EXPECT_TRUE(values.try_send(8)); });
  run();
  EXPECT_EQ(got, 7);
  EXPECT_EQ(next, 8);
}

TEST_P(a_channel, has_nobody_in_it_who_was_canceled) {
  auto values = std::make_unique<channel<int>>(capacity{1});
  bool outlived = false;
  auto receiver = spawn_in(rt(), color{1}, [&]() -> task<> {
    auto operation = values->receive();
    EXPECT_FALSE(co_await operation);
    values.reset();  // would end the program if somebody waited in it
    outlived = true;
  });
  run();
  receiver.cancel();
  run();
  EXPECT_TRUE(outlived);
}

TEST_P(a_channel, gives_a_canceled_coroutine_what_needs_no_wait) {
  channel<int> c{capacity{2}};
  auto handle = spawn(rt(), [&]() -> task<> {
    co_await stop_requested();
    EXPECT_TRUE(co_await c.send(1));
    EXPECT_TRUE(co_await c.send(2));
    EXPECT_EQ((co_await c.send(3)).error(), errc::canceled);
    EXPECT_EQ(*co_await c.receive(), 1);
    EXPECT_EQ(*co_await c.receive(), 2);
    EXPECT_EQ((co_await c.receive()).error(), errc::canceled);
  });
  handle.cancel();
  run();
}

TEST_P(a_channel, never_loses_a_value_to_a_receiver_that_is_canceled_at_the_same_time) {
  for (int round = 0; round < 200; ++round) {
    channel<int> c{capacity{1}};
    std::atomic<int> got{0};
    std::atomic<int> canceled{0};
    auto handle = spawn_in(rt(), color{1}, [&]() -> task<> {
      auto value = co_await c.receive();
      ++(value ? got : canceled);
    });
    spawn_in(rt(), color{2}, [&]() -> task<> { EXPECT_TRUE(co_await c.send(1)); });
    spawn_in(rt(), color{3}, [&]() -> task<> {
      handle.cancel();
      co_return;
    });
    run();
    EXPECT_EQ(got.load() + canceled.load(), 1);
    EXPECT_EQ(c.size(), static_cast<std::size_t>(canceled.load()));
  }
}

TEST_P(a_channel, completes_at_once_at_most_64_times_in_one_event) {
  channel<int> c{capacity{1000}};
  std::size_t when_others_came = 0;
  rt().post(color{1}, [&] {
    spawn_in(color{1}, [&]() -> task<> {
      for (int n = 0; n < 200; ++n) EXPECT_TRUE(co_await c.send(n));
    });
    post(color{1}, [&] { when_others_came = c.size(); });
  });
  run();
  EXPECT_EQ(when_others_came, 65u) << "64 at once; the 65th is done, but its coroutine goes to the back";
}

TEST_P(a_channel, goes_down_with_its_runtime_in_any_order) {
  std::atomic<int> alive{0};
  auto outside = std::make_unique<channel<test::counted>>(capacity{1});
  for (int n = 0; n < 3; ++n) {
    spawn_in(rt(), color{n}, [&, n]() -> task<> {
      channel<test::counted> inside{capacity{1}};
      spawn_in(color{10 + n}, [&inside]() -> task<> { EXPECT_TRUE(co_await inside.receive()); });
      struct closes {
        channel<test::counted>& what;
        ~closes() { what.close(); }
      } const at_end{*outside};
      static_cast<void>(co_await outside->send(test::counted{alive}));
      static_cast<void>(co_await inside.receive());
    });
  }
  run();
  EXPECT_GT(alive.load(), 0);
  expect_suspended = true;
  end_runtime();
  outside.reset();
  EXPECT_EQ(alive.load(), 0);
}

TEST(a_channel_made_wrongly, throws_for_no_capacity) { EXPECT_THROW(channel<int>{capacity{0}}, std::invalid_argument); }

TEST(a_channel_destroyed_too_early, ends_the_program) {
  EXPECT_DEATH(
      {
        options with;
        with.workers = 1;
        runtime rt{with};
        auto c = std::make_unique<channel<int>>(capacity{1});
        spawn(rt, [&]() -> task<> { static_cast<void>(co_await c->receive()); });
        rt.run_until_idle();
        c.reset();
      },
      "a channel was destroyed while a coroutine waits in it, which was spawned at .*channel_test");
}

class a_semaphore : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, a_semaphore, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(a_semaphore, lets_no_more_in_than_it_has_permits) {
  semaphore s{3};
  std::atomic<int> inside{0};
  std::atomic<int> ended{0};
  for (int n = 0; n < 50; ++n) {
    spawn_in(rt(), color{n}, [&]() -> task<> {
      for (int turn = 0; turn < 5; ++turn) {
        auto permit = co_await s.acquire();
        EXPECT_TRUE(permit);
        EXPECT_LE(inside.fetch_add(1), 2);
        co_await yield();
        inside.fetch_sub(1);
      }
      ++ended;
    });
  }
  run();
  EXPECT_EQ(ended.load(), 50);
  EXPECT_EQ(s.available(), 3u);
}

TEST_P(a_semaphore, serves_those_who_wait_in_their_order) {
  semaphore s{1};
  std::vector<int> order;
  spawn(rt(), [&]() -> task<> {
    auto mine = s.try_acquire();
    EXPECT_TRUE(mine);
    EXPECT_EQ(s.try_acquire().error(), errc::busy);
    for (int n = 0; n < 3; ++n) {
      spawn([&, n]() -> task<> {
        auto permit = co_await s.acquire();
        order.push_back(n);
      });
    }
    co_await yield();
    mine->release();
    EXPECT_EQ(s.try_acquire().error(), errc::busy) << "not past those who wait";
  });
  run();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(s.available(), 1u);
}

TEST_P(a_semaphore, ends_the_wait_of_a_canceled_coroutine_and_keeps_the_permit) {
  semaphore s{1};
  auto held = s.try_acquire();
  std::error_code error;
  auto handle = spawn_in(rt(), color{1}, [&]() -> task<> {
    auto permit = co_await s.acquire();
    error = permit.error();
  });
  run();
  handle.cancel();
  run();
  EXPECT_EQ(error, errc::canceled);
  held->release();
  EXPECT_EQ(s.available(), 1u);
}

TEST_P(a_semaphore, loses_no_permit_to_who_is_canceled_at_the_same_time) {
  for (int round = 0; round < 200; ++round) {
    semaphore s{1};
    auto held = s.try_acquire();
    auto handle = spawn_in(rt(), color{1}, [&]() -> task<> { auto permit = co_await s.acquire(); });
    spawn_in(rt(), color{2}, [&]() -> task<> {
      held->release();
      co_return;
    });
    spawn_in(rt(), color{3}, [&]() -> task<> {
      handle.cancel();
      co_return;
    });
    run();
    EXPECT_EQ(s.available(), 1u);
  }
}

}  // namespace
}  // namespace tartan
