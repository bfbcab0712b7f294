// What color_queues thinks worth a steal; and that for nothing else anybody is woken or any victim locked, for that keeps it from its work.

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <string>
#include <tartan/core/hints.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>

#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/papers/policy_probes.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using probe = detail::policy_probe<detail::color_queues_policy>;

class worth_a_steal : public test::leaves_nothing {
 protected:
  static options with(std::string scheduler) {
    options made;
    made.scheduler = std::move(scheduler);
    made.workers = 2;
    made.pin_default_color = true;
    made.stall_after = 0ns;
    return made;
  }
  static void post_at_first(runtime& rt, unsigned n, std::chrono::nanoseconds cost) { rt.post(color{2 * n}, with_hints({.cost = cost}, [] {})); }
  static bool is_worth_a_visit(runtime& rt) { return probe::homes_of(rt).may_be_worth_a_visit(0); }
  /// To an hour, which no steal takes: one that counts brings it down. Gives what it is now.
  static std::uint64_t raise_price(runtime& rt) {
    constexpr std::uint64_t hour_ns = 3'600'000'000'000;
    while (probe::homes_of(rt).price_ns() < hour_ns) probe::homes_of(rt).learn_price(2 * hour_ns);
    return probe::homes_of(rt).price_ns();
  }
  template <class F>
  static const detail::event_ops& ops_of(const F& /*handler*/) { return detail::callable_ops<F>::ops; }
  /// By worker 1, from worker 0, who may be visited but not for long: its lock is held.
  static bool steal_past_lock(runtime& rt) {
    const std::lock_guard hold{probe::homes_of(rt).at(0).lock};
    return probe::steal(rt, 1);
  }
};

TEST_F(worth_a_steal, is_a_color_whose_time_is_more_than_the_price_beside_another) {
  runtime rt{with("color_queues:time-left")};
  for (unsigned n = 1; n < 4; ++n) post_at_first(rt, n, 1ns);
  EXPECT_FALSE(is_worth_a_visit(rt));
  EXPECT_FALSE(steal_past_lock(rt));
  post_at_first(rt, 4, 1ms);
  EXPECT_TRUE(is_worth_a_visit(rt));
}

/// The fuller one has nothing for a thief, who goes on to the next without its lock.
TEST_F(worth_a_steal, is_looked_for_only_where_it_is) {
  options settings = with("color_queues:time-left");
  settings.workers = 3;
  runtime rt{settings};
  for (unsigned n = 1; n < 6; ++n) rt.post(color{3 * n}, with_hints({.cost = 1ns}, [] {}));
  for (const auto cost : {1ms, 2ms}) rt.post(color{static_cast<unsigned>(cost.count()) * 3 + 2}, with_hints({.cost = cost}, [] {}));
  EXPECT_TRUE(steal_past_lock(rt));
}

TEST_F(worth_a_steal, is_without_heuristics_any_of_two_colors) {
  runtime rt{with("color_queues:base")};
  post_at_first(rt, 1, 1ms);
  EXPECT_FALSE(is_worth_a_visit(rt));
  EXPECT_FALSE(steal_past_lock(rt));
  post_at_first(rt, 2, 1ns);
  EXPECT_TRUE(is_worth_a_visit(rt));
}

/// The handler of post_at_first, with that cost.
TEST_F(worth_a_steal, is_less_of_a_handler_that_was_measured_to_lose_by_it) {
  for (const bool loses : {false, true}) {
    runtime rt{with("color_queues:measured-penalty")};
    const auto handler = with_hints({.cost = 20us, .penalty = 60'000}, [] {});  // what is told of the penalty counts for nothing
    detail::handler_times& times = probe::penalties_of(rt).of(ops_of(handler), 20'000);
    for (int n = 0; n < 100; ++n) {
      times.learn(100, false);
      times.learn(loses ? 100'000 : 110, true);
    }
    for (unsigned n = 1; n < 4; ++n) rt.post(color{2 * n}, handler);
    EXPECT_EQ(is_worth_a_visit(rt), !loses);
  }
}

/// Both kinds of time come from events that run.
TEST_F(worth_a_steal, is_measured_at_home_and_after_a_steal) {
  runtime rt{with("color_queues:measured-penalty")};
  const auto handler = with_hints({.cost = 1ms}, [] {});
  const detail::handler_times& times = probe::penalties_of(rt).of(ops_of(handler), 1'000'000);
  for (unsigned n = 1; n < 4; ++n) rt.post(color{2 * n}, handler);
  ASSERT_TRUE(probe::steal(rt, 1));
  ASSERT_TRUE(probe::turn(rt, 1));
  EXPECT_NE(times.brought_ns(), 0u);
  EXPECT_EQ(times.home_ns(), 0u);
  ASSERT_TRUE(probe::turn(rt, 0));
  EXPECT_NE(times.home_ns(), 0u);
  rt.run_until_idle();
}

TEST_F(worth_a_steal, is_nothing_that_may_not_leave) {
  runtime rt{with("color_queues:time-left")};
  for (unsigned n = 1; n < 4; ++n) post_at_first(rt, n, 1ns);
  rt.post(color{}, with_hints({.cost = 1ms}, [] {}));  // pinned
  EXPECT_FALSE(is_worth_a_visit(rt));
}

TEST_F(worth_a_steal, is_not_the_event_that_polls) {
  options settings = with("color_queues:time-left");
  settings.pin_default_color = false;
  runtime rt{settings};
  for (int n = 0; n < 100; ++n) probe::homes_of(rt).learn_price(100);
  bool polls = false;
  bool worth = false;
  rt.post(color{2}, with_hints({.cost = 1ns}, [&] {
    polls = probe::homes_of(rt).has_tasks(0);
    worth = is_worth_a_visit(rt);
  }));
  post_at_first(rt, 2, 1ns);
  rt.run_until_idle();
  EXPECT_TRUE(polls);
  EXPECT_FALSE(worth);
}

TEST_F(worth_a_steal, and_nothing_else_wakes_a_sleeper) {
  for (const bool worth : {false, true}) {
    runtime rt{with("color_queues:time-left")};
    std::uint64_t before = 0;
    rt.post(color{}, [&] {
      test::spin_until([&] { return rt.state().life().sleepers().is_asleep(1); });
      before = rt.counters().wakes;
      for (int twice = 0; twice < 2; ++twice) {
        for (unsigned n = 1; n < 4; ++n) post_at_first(rt, n, worth ? 1ms : 1ns);
      }
    });
    rt.run_until_idle();
    EXPECT_EQ(rt.counters().wakes != before, worth);
  }
}

TEST_F(worth_a_steal, is_learned_from_each) {
  runtime rt{with("color_queues:time-left")};
  for (unsigned n = 1; n < 4; ++n) post_at_first(rt, n, 1ms);
  const std::uint64_t before = raise_price(rt);
  EXPECT_TRUE(probe::steal(rt, 1));
  EXPECT_LT(probe::homes_of(rt).price_ns(), before);
}

TEST_F(worth_a_steal, has_no_price_that_is_learned_where_nobody_asks_for_it) {
  for (const char* const scheduler : {"color_queues:base", "color_queues:locality"}) {
    runtime rt{with(scheduler)};
    for (unsigned n = 1; n < 4; ++n) post_at_first(rt, n, 1ms);
    const std::uint64_t before = raise_price(rt);
    EXPECT_TRUE(probe::steal(rt, 1));
    EXPECT_EQ(probe::homes_of(rt).price_ns(), before) << scheduler;
  }
}

/// Else one thief that loses its CPU on its way would end all stealing.
TEST_F(worth_a_steal, costs_little_more_after_one_that_took_long) {
  runtime rt{with("color_queues:time-left")};
  const std::uint64_t before = probe::homes_of(rt).price_ns();
  probe::homes_of(rt).learn_price(1'000'000'000);
  EXPECT_LE(probe::homes_of(rt).price_ns(), before + before / 4);
  for (int n = 0; n < 1000; ++n) probe::homes_of(rt).learn_price(10 * before);
  EXPECT_GT(probe::homes_of(rt).price_ns(), 9 * before);
  for (int n = 0; n < 1000; ++n) probe::homes_of(rt).learn_price(0);
  EXPECT_LT(probe::homes_of(rt).price_ns(), 10u);
}

}  // namespace
}  // namespace tartan
