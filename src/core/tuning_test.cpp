#include "core/tuning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "core/sched/policy.h"

namespace tartan::detail {
namespace {

/// Steps of waking, counted one by one: each worker that came in the last step wakes two, until all are awake but the busy one.
unsigned steps_by_hand(unsigned workers) {
  unsigned idle = workers - 1;  // one is busy
  if (idle == 0) return 0;
  --idle;  // and one comes by itself
  unsigned steps = 0;
  for (unsigned came = 1; idle != 0; ++steps) {
    came = std::min(2 * came, idle);
    idle -= came;
  }
  return steps;
}

TEST(wake_times, all_are_awake_after_as_many_steps_as_a_tree_has) {
  for (unsigned workers = 1; workers <= 1024; ++workers) ASSERT_EQ(wake_steps(workers), steps_by_hand(workers)) << workers;
  EXPECT_EQ(wake_steps(2), 0u);
  EXPECT_EQ(wake_steps(3), 1u);
  EXPECT_EQ(wake_steps(4), 1u);
  EXPECT_EQ(wake_steps(5), 2u);
  EXPECT_EQ(wake_steps(64), 5u);
}

// Nobody has looked; the guard comes, searches, declines what is stuck for one sleep, and then all others are woken.
TEST(wake_times, the_guard_is_in_time_for_all_up_to_128_workers) {
  for (unsigned workers = 2; workers <= 1024; ++workers) {
    const std::uint64_t far_ns = guard_far_ns(workers);
    EXPECT_GE(far_ns, 150'000u) << workers << ": it would be awake all the time";
    EXPECT_LE(far_ns, 600'000u) << workers;
    if (workers > 2) {
      EXPECT_LE(far_ns, guard_far_ns(workers - 1)) << workers;
    }
    const std::uint64_t comes_ns = far_ns + kernel_slack_ns + way_to_cpu_ns + search_ns;
    const std::uint64_t finds_ns = comes_ns + first_watch_ns + way_to_cpu_ns + rise_ns;
    const std::uint64_t all_ns = finds_ns + wake_steps(workers) * (way_to_cpu_ns + rise_ns);
    if (workers <= 128) {
      EXPECT_LE(all_ns, longest_color_wait_ns) << workers;
    }
    EXPECT_LE(all_ns, 2 * longest_color_wait_ns) << workers;
  }
  EXPECT_EQ(guard_far_ns(2), 600'000u);
}

// A look that has just missed that its victim got stuck, a second one, and then all others are woken.
TEST(wake_times, a_watcher_is_in_time_for_all_up_to_128_workers) {
  for (unsigned workers = 2; workers <= 1024; ++workers) {
    const std::uint64_t longest_ns = longest_watch_ns(workers);
    EXPECT_GE(longest_ns, 50'000u) << workers;
    EXPECT_LE(longest_ns, 340'000u) << workers;
    const std::uint64_t each_ns = longest_ns + kernel_slack_ns + way_to_cpu_ns + steal_long_turn_ns;
    const std::uint64_t all_ns = 2 * each_ns + rise_ns + wake_steps(workers) * (way_to_cpu_ns + rise_ns);
    if (workers <= 128) {
      EXPECT_LE(all_ns, longest_color_wait_ns) << workers;
    }
    EXPECT_LE(all_ns, 2 * longest_color_wait_ns) << workers;
  }
}

}  // namespace
}  // namespace tartan::detail
