#include <tartan/core/broadcast.h>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <tartan/core/post.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/task_group.h>
#include <tartan/core/yield.h>
#include <thread>
#include <vector>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

class a_broadcast : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, a_broadcast, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(a_broadcast, gives_every_value_to_every_receiver_in_order) {
  broadcast<int> all{capacity{1000}};
  std::atomic<int> ended{0};
  for (int n = 0; n < 5; ++n) {
    spawn_in(rt(), color{10 + n}, [&, mine = all.subscribe()]() mutable -> task<> {
      int expected = 0;
      while (const auto value = co_await mine.receive()) EXPECT_EQ(*value, expected++);
      EXPECT_EQ(expected, 1000);
      EXPECT_EQ(mine.lost(), 0u);
      ++ended;
    });
  }
  spawn_in(rt(), color{1}, [&]() -> task<> {
    for (int n = 0; n < 1000; ++n) {
      EXPECT_TRUE(all.send(n));
      if (n % 10 == 0) co_await yield();
    }
    all.close();
  });
  run();
  EXPECT_EQ(ended.load(), 5);
}

TEST_P(a_broadcast, shows_all_receivers_the_same_order_and_counts_what_they_lose) {
  constexpr int each = 500;
  broadcast<int> all{capacity{8}};
  std::vector<std::vector<int>> seen(3);
  std::vector<std::uint64_t> lost(3);
  for (std::size_t n = 0; n < seen.size(); ++n) {
    spawn_in(rt(), color{10 + n}, [&, n, mine = all.subscribe()]() mutable -> task<> {
      for (;;) {
        const auto value = co_await mine.receive();
        if (value) {
          seen[n].push_back(*value);
        } else if (value.error() == errc::lagged) {
          EXPECT_GT(mine.lost(), 0u);
          lost[n] += mine.lost();
        } else {
          EXPECT_EQ(value.error(), errc::end_of_stream);
          co_return;
        }
      }
    });
  }
  spawn(rt(), [&]() -> task<> {
    task_group senders;
    for (int sender = 0; sender < 4; ++sender) {
      senders.spawn_in(color{100 + sender}, [&, sender]() -> task<> {
        for (int n = 0; n < each; ++n) {
          EXPECT_TRUE(all.send(sender * each + n));
          if (n % 16 == 0) co_await yield();
        }
      });
    }
    co_await senders.join();
    all.close();
  });
  run();
  for (std::size_t n = 0; n < seen.size(); ++n) {
    EXPECT_EQ(seen[n].size() + lost[n], 4u * each);
    std::vector<int> next(4, -1);
    for (const int value : seen[n]) {
      int& before = next[static_cast<std::size_t>(value / each)];
      EXPECT_GT(value, before) << "of one sender";
      before = value;
    }
  }
}

TEST_P(a_broadcast, tells_a_receiver_that_lags_once_how_much_it_lost_and_goes_on_with_the_oldest) {
  broadcast<int> all{capacity{3}};
  auto mine = all.subscribe();
  for (int n = 0; n < 3; ++n) EXPECT_TRUE(all.send(n));
  EXPECT_EQ(*mine.try_receive(), 0) << "as many as it holds are no lag";
  for (int n = 3; n < 10; ++n) EXPECT_TRUE(all.send(n));
  EXPECT_EQ(mine.behind(), 9u);
  spawn_in(rt(), color{1}, [&]() -> task<> {
    EXPECT_EQ((co_await mine.receive()).error(), errc::lagged);
    EXPECT_EQ(mine.lost(), 6u);
    EXPECT_EQ(mine.behind(), 3u);
    for (int n = 7; n < 10; ++n) EXPECT_EQ(*co_await mine.receive(), n);
    EXPECT_EQ(mine.try_receive().error(), errc::busy);
    EXPECT_EQ(mine.lost(), 6u);
    for (int n = 10; n < 14; ++n) EXPECT_TRUE(all.send(n));
    EXPECT_EQ(mine.try_receive().error(), errc::lagged);
    EXPECT_EQ(mine.lost(), 1u) << "of this lag";
    EXPECT_EQ(*mine.try_receive(), 11);
  });
  run();
}

TEST_P(a_broadcast, gives_a_receiver_what_is_sent_after_it_came) {
  broadcast<int> all{capacity{8}};
  EXPECT_TRUE(all.send(1)) << "to nobody";
  auto mine = all.subscribe();
  EXPECT_EQ(mine.try_receive().error(), errc::busy);
  EXPECT_TRUE(all.send(2));
  auto copied = mine;
  EXPECT_EQ(*mine.try_receive(), 2);
  EXPECT_EQ(*copied.try_receive(), 2);
  EXPECT_EQ(all.limit(), 8u);
}

TEST_P(a_broadcast, wakes_all_receivers_that_wait_also_from_outside) {
  broadcast<int> all{capacity{2}};
  std::vector<int> order;
  for (int n = 0; n < 4; ++n) {
    spawn_in(rt(), color{1}, [&, n, mine = all.subscribe()]() mutable -> task<> {
      EXPECT_EQ(*co_await mine.receive(), 5);
      EXPECT_EQ(*co_await mine.receive(), 6);
      order.push_back(n);
    });
  }
  run();
  std::thread{[&] { EXPECT_TRUE(all.send(5)); }}.join();
  run();
  EXPECT_TRUE(order.empty());
  std::thread{[&] { EXPECT_TRUE(all.send(6)); }}.join();
  run();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST_P(a_broadcast, that_is_closed_gives_what_is_in_it_and_then_the_end) {
  broadcast<int> all{capacity{2}};
  auto mine = all.subscribe();
  std::error_code waits_for;
  spawn_in(rt(), color{2}, [&, other = all.subscribe()]() mutable -> task<> {
    EXPECT_EQ(*co_await other.receive(), 1);
    waits_for = (co_await other.receive()).error();
  });
  EXPECT_TRUE(all.send(1));
  run();
  all.close();
  EXPECT_FALSE(all.send(2));
  run();
  EXPECT_EQ(waits_for, errc::end_of_stream);
  EXPECT_EQ(*mine.try_receive(), 1);
  EXPECT_EQ(mine.try_receive().error(), errc::end_of_stream);
  EXPECT_EQ(mine.try_receive().error(), errc::end_of_stream);
}

TEST_P(a_broadcast, keeps_as_many_values_as_it_holds_and_no_more) {
  std::atomic<int> alive{0};
  {
    broadcast<test::counted> all{capacity{3}};
    for (int n = 0; n < 10; ++n) {
      EXPECT_TRUE(all.send(test::counted{alive}));
      EXPECT_EQ(alive.load(), std::min(n + 1, 3));
    }
    all.close();
    EXPECT_FALSE(all.send(test::counted{alive}));
    EXPECT_EQ(alive.load(), 3);
  }
  EXPECT_EQ(alive.load(), 0);
}

TEST_P(a_broadcast, may_be_destroyed_by_a_receiver_that_closing_it_wakes) {
  int ended = 0;
  for (int n = 0; n < 300; ++n) {
    auto mine = std::make_unique<broadcast<int>>(capacity{1});
    broadcast<int>* const closed_by_other = mine.get();
    spawn_in(
        rt(), color{1},
        [&ended](std::unique_ptr<broadcast<int>> owned, broadcast<int>::receiver from) -> task<> {
          while ((co_await from.receive()).error() != errc::end_of_stream) {
          }
          owned.reset();
          ++ended;
        },
        std::move(mine), closed_by_other->subscribe());
    spawn_in(rt(), color{2}, [closed_by_other]() -> task<> {
      EXPECT_TRUE(closed_by_other->send(1));
      co_await yield();
      closed_by_other->close();
    });
  }
  run();
  EXPECT_EQ(ended, 300);
}

TEST_P(a_broadcast, ends_the_wait_of_a_canceled_receiver_and_serves_the_others) {
  broadcast<int> all{capacity{2}};
  auto mine = all.subscribe();
  std::error_code error;
  int other_got = 0;
  auto canceled = spawn_in(rt(), color{1}, [&]() -> task<> { error = (co_await mine.receive()).error(); });
  spawn_in(rt(), color{2}, [&, other = all.subscribe()]() mutable -> task<> { other_got = *co_await other.receive(); });
  run();
  canceled.cancel();
  run();
  EXPECT_EQ(error, errc::canceled);
  EXPECT_TRUE(all.send(5));
  run();
  EXPECT_EQ(other_got, 5);
  EXPECT_EQ(*mine.try_receive(), 5) << "what came after is not lost";
}

TEST_P(a_broadcast, gives_a_canceled_coroutine_what_needs_no_wait) {
  broadcast<int> all{capacity{2}};
  auto handle = spawn(rt(), [&, mine = all.subscribe()]() mutable -> task<> {
    co_await stop_requested();
    EXPECT_TRUE(all.send(1));
    EXPECT_EQ(*co_await mine.receive(), 1);
    EXPECT_EQ((co_await mine.receive()).error(), errc::canceled);
  });
  handle.cancel();
  run();
}

TEST_P(a_broadcast, loses_no_value_to_a_receiver_that_is_canceled_at_the_same_time) {
  for (int round = 0; round < 200; ++round) {
    broadcast<int> all{capacity{1}};
    auto mine = all.subscribe();
    bool got = false;
    auto handle = spawn_in(rt(), color{1}, [&]() -> task<> { got = (co_await mine.receive()).has_value(); });
    spawn_in(rt(), color{2}, [&]() -> task<> {
      EXPECT_TRUE(all.send(1));
      co_return;
    });
    spawn_in(rt(), color{3}, [&]() -> task<> {
      handle.cancel();
      co_return;
    });
    run();
    EXPECT_EQ(mine.behind(), got ? 0u : 1u);
  }
}

TEST_P(a_broadcast, completes_at_once_at_most_64_times_in_one_event) {
  broadcast<int> all{capacity{1000}};
  auto mine = all.subscribe();
  std::uint64_t left_when_others_came = 0;
  rt().post(color{1}, [&] {
    for (int n = 0; n < 200; ++n) EXPECT_TRUE(all.send(n));
    spawn_in(color{1}, [&]() -> task<> {
      for (int n = 0; n < 200; ++n) EXPECT_EQ(*co_await mine.receive(), n);
    });
    post(color{1}, [&] { left_when_others_came = mine.behind(); });
  });
  run();
  EXPECT_EQ(left_when_others_came, 136u) << "64 at once; the 65th is taken, but counts when its coroutine goes on";
}

TEST_P(a_broadcast, goes_down_with_its_runtime_in_any_order) {
  std::atomic<int> alive{0};
  auto outside = std::make_unique<broadcast<test::counted>>(capacity{2});
  for (int n = 0; n < 3; ++n) {
    spawn_in(rt(), color{n}, [&, from = outside->subscribe()]() mutable -> task<> {
      broadcast<test::counted> inside{capacity{2}};
      auto mine = inside.subscribe();
      spawn_in(current_color(), [mine]() mutable -> task<> { static_cast<void>(co_await mine.receive()); });
      static_cast<void>(co_await from.receive());
      static_cast<void>(co_await mine.receive());
    });
  }
  run();
  EXPECT_TRUE(outside->send(test::counted{alive}));
  run();
  expect_suspended = true;
  end_runtime();
  EXPECT_TRUE(outside->send(test::counted{alive})) << "no coroutine waits in it any more";
  outside.reset();
  EXPECT_EQ(alive.load(), 0);
}

TEST(a_broadcast_made_wrongly, throws_for_no_capacity) {
  EXPECT_THROW(broadcast<int>{capacity{0}}, std::invalid_argument);
}

TEST(a_broadcast_destroyed_too_early, ends_the_program) {
  EXPECT_DEATH(
      {
        options with;
        with.workers = 1;
        runtime rt{with};
        auto all = std::make_unique<broadcast<int>>(capacity{1});
        spawn(rt, [mine = all->subscribe()]() mutable -> task<> { static_cast<void>(co_await mine.receive()); });
        rt.run_until_idle();
        all.reset();
      },
      "a broadcast was destroyed while a coroutine waits in it, which was spawned at .*broadcast_test");
}

}  // namespace
}  // namespace tartan
