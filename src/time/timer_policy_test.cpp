// What timers are to a policy that is not the default.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <tartan/core/hints.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/time/post_after.h>
#include <tartan/time/sleep.h>
#include <vector>

#include "core/sched/serial_policy_fixture.h"
#include "tests/virtual_time.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class timers_under_a_second_policy : public test::with_a_serial_policy {};

TEST_P(timers_under_a_second_policy, fire_in_their_order_and_are_seen_as_timers) {
  test::virtual_poller clock;
  options with = settings();
  with.poller = &clock;
  with.stall_after = {};
  runtime rt{with};
  use_policy(rt);
  std::vector<int> ran;
  rt.post([&] {
    post_after(3h, [&] { ran.push_back(3); });
    post_after(color{1}, 1h, [&] { ran.push_back(1); });
  });
  rt.spawn([&]() -> task<> {
    if (co_await sleep(2h)) ran.push_back(2);
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(policy->seen_from(detail::origin::timer), 3u);
  EXPECT_GT(policy->seen_from(detail::origin::post), 0u);
}

TEST_P(timers_under_a_second_policy, bring_their_callables_hints) {
  runtime rt{settings()};
  use_policy(rt);
  rt.post([] { post_after(1ns, with_hints({.priority = 9}, [] {})); });
  rt.run_until_idle();
  ASSERT_EQ(policy->seen.size(), 2u);
  EXPECT_EQ(policy->seen[1].hints.priority, 9u);
}

/// While there is work, they look outside after 64 events; but libasync-mp's and libasync-smp's input waits for as long as there is computation.
TEST(timers_of_serial_and_color_queues, fire_while_there_is_work) {
  for (const char* const name : {"serial", "color_queues"}) {
    options with;
    with.scheduler = name;
    with.workers = 2;
    runtime rt{with};
    bool fired = false;
    post_after(rt, 1ms, [&] { fired = true; });  // of color 0, as the loop
    std::function<void()> again = [&] {
      if (!fired) rt.post(again);
    };
    rt.post(again);
    rt.run_until_idle();
    EXPECT_TRUE(fired) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(workers, timers_under_a_second_policy, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
