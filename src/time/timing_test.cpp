#include "time/timing.h"

#include <gtest/gtest.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/time/post_after.h>
#include <tartan/time/timer.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/runtime_state.h"
#include "tests/virtual_time.h"

namespace tartan::detail {
namespace {

using namespace std::chrono_literals;

std::uint64_t seed_of_this_run() {
  const char* const given = std::getenv("TARTAN_SEED");
  return given != nullptr ? std::stoull(given) : std::random_device{}();
}

std::vector<unsigned> worker_counts() {
  if (std::getenv("TARTAN_SOAK") != nullptr) return {1, 2, 4, 8, 64};
  return {1, 2, 4};
}

class timing_with : public ::testing::TestWithParam<unsigned> {
 protected:
  options settings() {
    options with;
    with.workers = GetParam();
    with.poller = &clock;
    return with;
  }

  test::virtual_poller clock;
  runtime rt{settings()};
};

/// What a timer was set to, and when it came to be.
struct firing {
  std::uint64_t deadline;
  int set_as;
};

void expect_by_deadline_then_order_of_setting(const std::vector<firing>& fired) {
  for (std::size_t n = 1; n < fired.size(); ++n) {
    const firing& a = fired[n - 1];
    const firing& b = fired[n];
    ASSERT_TRUE(a.deadline < b.deadline || (a.deadline == b.deadline && a.set_as < b.set_as))
        << "timer " << a.set_as << " for " << a.deadline << " fired before timer " << b.set_as << " for " << b.deadline;
  }
}

TEST_P(timing_with, timers_of_one_color_fire_by_deadline_and_ties_in_the_order_set) {
  const std::uint64_t seed = seed_of_this_run();
  SCOPED_TRACE(::testing::Message() << "TARTAN_SEED=" << seed);
  std::mt19937_64 random{seed};
  std::vector<firing> fired;
  rt.post(color{7}, [&] {
    const auto begin = rt.now();
    for (int n = 0; n < 5000; ++n) {
      const std::uint64_t after = random() % 3 == 0 ? 1000 * (random() % 50) : random() % 200'000'000;
      post_at(color{7}, begin + std::chrono::nanoseconds{after}, [&fired, after, n] { fired.push_back({after, n}); });
    }
  });
  rt.run_until_idle();
  EXPECT_EQ(fired.size(), 5000u);
  expect_by_deadline_then_order_of_setting(fired);
}

TEST_P(timing_with, ties_fire_in_the_order_set_although_they_lie_in_different_wheels) {
  std::vector<firing> fired;
  const auto at = rt.now() + 10ms;
  for (int n = 0; n < 200; ++n) {
    // odd ones from a worker, even ones from here, which is foreign; one after the other
    const auto set = [this, &fired, at, n] { post_at(rt, color{7}, at, [&fired, n] { fired.push_back({0, n}); }); };
    if (n % 2 == 0) {
      set();
    } else {
      rt.post(color{n}, set);
      while (rt.state().timers()->pending() == static_cast<std::size_t>(n)) rt.run_for(0ns);
    }
  }
  rt.run_until_idle();
  EXPECT_EQ(fired.size(), 200u);
  expect_by_deadline_then_order_of_setting(fired);
}

TEST_P(timing_with, ties_fire_in_the_order_set_by_a_chain_that_hops_over_colors_and_workers) {
  std::vector<firing> fired;
  struct hop {
    std::vector<firing>& fired;
    std::chrono::steady_clock::time_point at;
    int n;
    void operator()() {
      post_at(color{7}, at, [&into = fired, set_as = n] { into.push_back({0, set_as}); });
      if (n < 2000) post(color{100 + n % 13}, hop{fired, at, n + 1});
    }
  };
  rt.post(color{100}, hop{fired, rt.now() + 10ms, 0});
  rt.run_until_idle();
  EXPECT_EQ(fired.size(), 2001u);
  expect_by_deadline_then_order_of_setting(fired);
}

TEST_P(timing_with, no_timer_fires_early_whoever_sets_it) {
  const std::uint64_t seed = seed_of_this_run();
  SCOPED_TRACE(::testing::Message() << "TARTAN_SEED=" << seed);
  std::atomic<int> early{0};
  std::atomic<int> fired{0};
  for (int n = 0; n < 50; ++n) {
    rt.post(color{n}, [&, n] {
      std::mt19937_64 random{seed + static_cast<std::uint64_t>(n)};
      for (int m = 0; m < 100; ++m) {
        const auto at = rt.now() + std::chrono::nanoseconds{random() >> (20 + random() % 44)};
        post_at(color{m}, at, [&, at] {
          early += rt.now() <= at ? 1 : 0;
          ++fired;
        });
      }
    });
  }
  rt.run_until_idle();
  EXPECT_EQ(early, 0);
  EXPECT_EQ(fired, 5000);
}

TEST_P(timing_with, a_long_handler_delays_only_timers_of_its_own_color) {
  if (GetParam() == 1) return;  // one worker: the long handler is all there is
  std::atomic<bool> other_color{false};
  bool own_color = false;
  rt.post(color{1}, [&] {
    post_after(color{1}, 1ms, [&] { own_color = true; });
    post_after(color{2}, 2ms, [&] { other_color.store(true, std::memory_order_release); });
    clock.advance(5ms);
    while (!other_color.load(std::memory_order_acquire)) std::this_thread::yield();
    EXPECT_FALSE(own_color);
  });
  rt.run_until_idle();
  EXPECT_TRUE(own_color);
}

TEST_P(timing_with, timers_fire_after_a_pause_in_which_their_time_has_passed) {
  int fired = 0;
  for (int round = 0; round < 20; ++round) {
    post_after(rt, color{7}, 1ms, [&] { ++fired; });
    rt.run_for(100us);
    clock.advance(1h);  // paused, and some worker slept until the timer's time
    rt.post(color{7}, [&] { post_after(color{7}, 1ms, [&] { ++fired; }); });
    rt.run_until_idle();
  }
  EXPECT_EQ(fired, 40);
}

TEST_P(timing_with, threads_set_timers_while_the_runtime_runs) {
  constexpr int per_thread = 2000;
  constexpr int threads = 3;
  std::atomic<int> left{threads * per_thread};
  std::vector<std::thread> setters;
  for (int t = 0; t < threads; ++t) {
    setters.emplace_back([&, t] {
      for (int n = 0; n < per_thread; ++n) {
        post_after(rt, color{n % 20}, std::chrono::microseconds{(n * 37 + t) % 5000}, [&] {
          if (--left == 0) rt.stop();
        });
      }
    });
  }
  EXPECT_EQ(rt.run(), 0);
  for (std::thread& each : setters) each.join();
  EXPECT_EQ(left, 0);
}

TEST_P(timing_with, timers_are_canceled_and_set_again_on_all_workers_at_once) {
  const std::uint64_t seed = seed_of_this_run();
  SCOPED_TRACE(::testing::Message() << "TARTAN_SEED=" << seed);
  // Each color holds timers of its own and does at random what can be done with them; what fires must have been pending.
  struct player {
    player(runtime& owner, color mine, std::uint64_t first) : rt{owner}, own{mine}, random{first} {
      for (int n = 0; n < 8; ++n) all.push_back(std::make_unique<timer>(rt, own));
    }
    void move() {
      const std::size_t which = random() % all.size();
      switch (random() % 4) {
        case 0:
          if (all[which]->pending()) ++called_off;
          if (all[which]->cancel() != (expected >> which & 1)) ++wrong;
          expected &= ~(1u << which);
          break;
        case 1:
          if (all[which]->pending()) ++called_off;
          all[which] = std::make_unique<timer>(rt, own);
          expected &= ~(1u << which);
          break;
        default:
          if (all[which]->pending()) ++called_off;
          ++set;
          expected |= 1u << which;
          all[which]->set(std::chrono::microseconds{random() % 3000}, [this, which] {
            if ((expected >> which & 1) == 0) ++wrong;
            expected &= ~(1u << which);
            ++fired;
          });
      }
      if (--moves > 0) post_after(own, std::chrono::microseconds{random() % 700}, [this] { move(); });
    }
    runtime& rt;
    color own;
    std::mt19937_64 random;
    std::vector<std::unique_ptr<timer>> all;
    unsigned expected = 0;
    int moves = 300;
    int set = 0;
    int fired = 0;
    int called_off = 0;
    int wrong = 0;
  };
  std::vector<std::unique_ptr<player>> players;
  for (int n = 0; n < 40; ++n) {
    players.push_back(std::make_unique<player>(rt, color{n}, seed + static_cast<std::uint64_t>(n)));
    rt.post(color{n}, [p = players.back().get()] { p->move(); });
  }
  rt.run_until_idle();
  for (const auto& p : players) {
    EXPECT_EQ(p->wrong, 0);
    EXPECT_EQ(p->set, p->fired + p->called_off);
    EXPECT_EQ(p->expected, 0u);
  }
  EXPECT_EQ(rt.state().timers()->pending(), 0u);
}

TEST_P(timing_with, stop_completes_every_pending_timer_as_canceled) {
  std::atomic<int> canceled{0};
  std::atomic<int> wrong{0};
  const auto note = [&](result<void> outcome) { ++(outcome.error() == errc::canceled ? canceled : wrong); };
  for (int n = 0; n < 100; ++n) {
    rt.post(color{n}, [&] {
      for (int m = 0; m < 30; ++m) post_after(current_color(), std::chrono::hours{1 + m}, note);
    });
  }
  post_after(rt, 30min, [&] { rt.stop(); });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(canceled, 3000);
}

TEST_P(timing_with, nothing_is_left_of_timers_that_nobody_waits_for) {
  const auto kept = std::make_shared<int>();
  {
    runtime own{settings()};
    for (int n = 0; n < 100; ++n) {
      own.post(color{n}, [kept] {
        for (int m = 0; m < 30; ++m) post_after(current_color(), std::chrono::milliseconds{m}, [kept] {});
      });
    }
    own.run_for(15ms);
  }
  EXPECT_EQ(kept.use_count(), 1);
}

std::string workers_of(const ::testing::TestParamInfo<unsigned>& info) {
  return std::to_string(info.param) + "_workers";
}

INSTANTIATE_TEST_SUITE_P(on, timing_with, ::testing::ValuesIn(worker_counts()), workers_of);

/// A node whose event counts, for tests of the interface that coroutines use.
struct counting_node {
  timer_node node;
  int run = 0;
  int run_canceled = 0;
  int dropped = 0;

  counting_node() {
    static constexpr event_ops ops{[](event& e) { of(e).count(); }, [](event& e) noexcept { ++of(e).dropped; },
                                   origin::timer, false, false};
    node.where = color{7};
    node.fired.ops = &ops;
  }
  static counting_node& of(event& e) noexcept { return *reinterpret_cast<counting_node*>(&e); }
  void count() { ++(node.canceled_by_stop ? run_canceled : run); }
};

class timing_alone : public ::testing::Test {
 protected:
  options settings() {
    options with;
    with.workers = 1;
    with.stall_after = 0ns;  // a million timers in one event take a while
    with.poller = &clock;
    return with;
  }
  [[nodiscard]] std::uint64_t now() { return clock.now_ns(); }
  [[nodiscard]] std::uint64_t fire_ns(std::uint64_t deadline) { return wheel::fire_ns(deadline); }

  test::virtual_poller clock;
  runtime rt{settings()};
  runtime_state& state = rt.state();
};

TEST_F(timing_alone, knows_the_earliest_time_at_which_something_may_be_due) {
  timing& all = timing::of(state);
  EXPECT_EQ(all.next_ns(), never_ns);
  counting_node near;
  counting_node far;
  arm(state, far.node, now() + 5'000'000);
  EXPECT_EQ(all.next_ns(), fire_ns(now() + 5'000'000));
  EXPECT_TRUE(arm_after(state, near.node, 1'000'000));
  EXPECT_EQ(near.node.deadline_ns, now() + 1'000'000);
  EXPECT_EQ(all.next_ns(), fire_ns(now() + 1'000'000));
  EXPECT_EQ(all.pending(), 2u);
  EXPECT_TRUE(disarm(state, near.node));
  EXPECT_FALSE(disarm(state, near.node));
  EXPECT_EQ(all.pending(), 1u);
  clock.advance(3ms);
  EXPECT_FALSE(all.expire(now()));
  EXPECT_EQ(all.next_ns(), fire_ns(far.node.deadline_ns)) << "a pass forgets what was canceled";
  EXPECT_TRUE(disarm(state, far.node));
}

TEST_F(timing_alone, does_not_fire_in_the_tick_of_the_deadline) {
  counting_node one;
  arm(state, one.node, now() + 1'000'000);
  timing& all = timing::of(state);
  EXPECT_FALSE(all.expire(fire_ns(one.node.deadline_ns) - 1));
  EXPECT_TRUE(all.expire(fire_ns(one.node.deadline_ns)));
  EXPECT_FALSE(disarm(state, one.node));
  rt.run_for(0ns);
  EXPECT_EQ(one.run, 1);
}

TEST_F(timing_alone, takes_a_past_deadline_for_the_time_of_the_call) {
  counting_node one;
  arm(state, one.node, 5);
  EXPECT_EQ(one.node.deadline_ns, now());
  rt.run_until_idle();
  EXPECT_EQ(one.run, 1);
}

/// By the real clock, which sets look at only where its coarse reading does not do.
TEST(a_timer_by_the_real_clock, is_set_for_its_deadline_or_for_the_time_of_the_call) {
  options with;
  with.workers = 1;
  runtime rt{with};
  runtime_state& state = rt.state();
  counting_node past;
  const std::uint64_t before = state.now_ns();
  arm(state, past.node, before - 1);
  EXPECT_GE(past.node.deadline_ns, before);
  EXPECT_LE(past.node.deadline_ns, state.now_ns());
  for (const std::uint64_t ahead_ns : {500'000'000u, 999'999'999u, 1'000'000'001u, 3'000'000'000u}) {
    counting_node one;
    const std::uint64_t at = state.now_ns() + ahead_ns;
    arm(state, one.node, at);
    EXPECT_EQ(one.node.deadline_ns, at);
    EXPECT_TRUE(disarm(state, one.node));
  }
  rt.run_until_idle();
  EXPECT_EQ(past.run, 1);
}

TEST_F(timing_alone, does_not_let_a_timer_be_overtaken_by_a_pass_that_began_before_it_was_set) {
  counting_node one;
  timing& all = timing::of(state);
  EXPECT_FALSE(all.expire(now() + 10'000'000));  // a pass that has read a later time than this setter
  all.set(one.node, now(), now());
  EXPECT_GE(one.node.deadline_ns, now() + 10'000'000 - wheel::tick_ns);
  EXPECT_FALSE(all.expire(now() + 10'000'000));
  EXPECT_TRUE(disarm(state, one.node));
}

TEST_F(timing_alone, posts_a_bounded_number_at_once_and_says_that_there_is_more) {
  std::vector<counting_node> nodes(3 * timing::posts_per_pass + 1);
  for (counting_node& each : nodes) arm(state, each.node, now());
  timing& all = timing::of(state);
  clock.advance(1ms);
  for (int pass = 0; pass < 4; ++pass) {
    EXPECT_LE(all.next_ns(), now());
    EXPECT_TRUE(all.expire(now()));
  }
  EXPECT_EQ(all.next_ns(), never_ns);
  EXPECT_EQ(all.pending(), 0u);
  rt.run_until_idle();
  for (const counting_node& each : nodes) ASSERT_EQ(each.run, 1);
}

TEST_F(timing_alone, stop_lets_what_is_due_succeed_and_cancels_the_rest) {
  std::vector<counting_node> due(2 * timing::posts_per_pass);
  counting_node pending;
  counting_node later;
  for (counting_node& each : due) arm(state, each.node, now());
  arm(state, pending.node, now() + 1'000'000'000);
  clock.advance(1ms);
  timing& all = timing::of(state);
  EXPECT_TRUE(all.expire(now()));
  all.stop();
  arm(state, later.node, now() + 1'000'000'000);
  EXPECT_EQ(all.pending(), 0u);
  EXPECT_EQ(all.next_ns(), never_ns);
  rt.run_until_idle();
  for (const counting_node& each : due) ASSERT_EQ(each.run, 1);
  EXPECT_EQ(pending.run_canceled, 1);
  EXPECT_EQ(later.run_canceled, 1);
}

TEST_F(timing_alone, drops_every_pending_event_once_and_lets_go_what_is_canceled_meanwhile) {
  std::vector<counting_node> nodes(timing::posts_per_pass + 10);
  for (counting_node& each : nodes) arm(state, each.node, now());
  counting_node far;
  arm(state, far.node, now() + 1'000'000'000);
  timing& all = timing::of(state);
  clock.advance(1ms);
  EXPECT_TRUE(all.expire(now()));  // the last ten are out of the wheel, but not posted
  EXPECT_EQ(all.pending(), 11u);
  EXPECT_EQ(all.drop_all(), 11u);
  EXPECT_EQ(all.pending(), 0u);
  EXPECT_EQ(far.dropped, 1);
  rt.run_until_idle();
  for (const counting_node& each : nodes) ASSERT_EQ(each.run + each.dropped, 1);
}

TEST_F(timing_alone, sets_cancels_and_fires_a_million_timers) {
  constexpr int timers = 1'000'000;
  constexpr int canceled = 300'000;
  std::vector<std::unique_ptr<timer>> owned;
  int fired = 0;
  rt.post(color{7}, [&] {
    owned.reserve(canceled);
    for (int n = 0; n < canceled; ++n) {
      owned.push_back(std::make_unique<timer>(rt, color{7}));
      owned.back()->set(std::chrono::microseconds{n % 1000 * 777}, [&] { ADD_FAILURE(); });
    }
    for (int n = canceled; n < timers; ++n)
      post_after(color{7}, std::chrono::microseconds{n % 1000 * 777}, [&] { ++fired; });
    EXPECT_EQ(rt.state().timers()->pending(), static_cast<std::size_t>(timers));
    for (const auto& each : owned) EXPECT_TRUE(each->cancel());
  });
  rt.run_until_idle();
  EXPECT_EQ(fired, timers - canceled);
}

}  // namespace
}  // namespace tartan::detail
