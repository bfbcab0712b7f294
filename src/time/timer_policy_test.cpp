// What timers are to a policy that is not the default.
#include <gtest/gtest.h>

#include <chrono>
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

INSTANTIATE_TEST_SUITE_P(workers, timers_under_a_second_policy, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
