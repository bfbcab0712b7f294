// What the papers' evaluations print beside events per second.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <tartan/core/hints.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>

#include "core/clock.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class figures : public test::leaves_nothing, public testing::WithParamInterface<const char*> {
 protected:
  static options with(std::string scheduler, unsigned workers) {
    options made;
    made.scheduler = std::move(scheduler);
    made.workers = workers;
    made.stall_after = 0ns;
    return made;
  }
  static std::string counted() { return std::string{GetParam()}.append(":figures"); }
  static detail::scheduler_figures of(runtime& rt) { return rt.state().policy().figures(); }
};

TEST_P(figures, are_none_unless_somebody_asks) {
  runtime rt{with(GetParam(), 1)};
  for (int n = 0; n < 5; ++n) rt.post(color{1}, [] {});
  rt.run_until_idle();
  const detail::scheduler_figures seen = of(rt);
  EXPECT_FALSE(seen.counted);
  EXPECT_EQ(seen.lock_held_ns + seen.lock_wait_ns + seen.longest_queue, 0u);
}

TEST_P(figures, tell_the_longest_queue_and_the_time_in_locks) {
  runtime rt{with(counted(), 1)};
  for (int n = 0; n < 50; ++n) rt.post(color{1}, [] {});
  const std::uint64_t before = of(rt).lock_held_ns;
  rt.run_until_idle();
  const detail::scheduler_figures seen = of(rt);
  EXPECT_TRUE(seen.counted);
  EXPECT_GE(seen.longest_queue, 50u);
  EXPECT_LE(seen.longest_queue, 51u);  // with the event that polls
  EXPECT_GT(seen.lock_held_ns, before);
  EXPECT_GT(seen.lock_wait_ns, 0u);
  EXPECT_EQ(seen.steals, 0u);
}

INSTANTIATE_TEST_SUITE_P(schedulers, figures, testing::Values("shared_queue", "per_worker", "color_queues"),
                         [](const testing::TestParamInfo<const char*>& each) { return std::string{each.param}; });

class figures_of_thieves : public figures {};

/// What a thief has brought runs for a tenth of a millisecond; what is posted to it there is no loot.
TEST_P(figures_of_thieves, tell_what_a_steal_takes_and_what_it_brings) {
  constexpr std::uint64_t run_ns = 100'000;
  options settings = with(counted(), 2);
  settings.pin_default_color = true;
  runtime rt{settings};
  std::atomic<unsigned> ran{0};
  const auto work = [&] {
    const std::uint64_t begin = detail::real_now_ns();
    while (detail::real_now_ns() - begin < run_ns) {
    }
    rt.post(color{4}, [&] { ran.fetch_add(1); });
  };
  rt.post(color{}, [&] { test::spin_until([&] { return ran.load() == 2; }); });
  for (int n = 0; n < 2; ++n) rt.post(color{4}, with_hints({.cost = 1ms}, work));
  for (unsigned c = 6; c < 16; c += 2) rt.post(color{c}, with_hints({.cost = 1ns}, [] {}));
  rt.run_until_idle();
  const detail::scheduler_figures seen = of(rt);
  EXPECT_GE(seen.steals, 1u);
  EXPECT_EQ(seen.steals, rt.counters().steals);
  EXPECT_GT(seen.steal_ns, 0u);
  EXPECT_EQ(seen.stolen_events, seen.steals + 1);  // two of that color, and one of each other
  EXPECT_GE(seen.stolen_run_ns, 2 * run_ns);
}

INSTANTIATE_TEST_SUITE_P(schedulers, figures_of_thieves, testing::Values("per_worker", "color_queues"),
                         [](const testing::TestParamInfo<const char*>& each) { return std::string{each.param}; });

}  // namespace
}  // namespace tartan
