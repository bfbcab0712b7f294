#include <tartan/core/hints.h>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <tartan/core/event_batch.h>
#include <tartan/core/post.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <tartan/core/yield.h>
#include <vector>

#include "core/sched/papers/task.h"
#include "core/sched/serial_policy_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

/// What the policy has seen of each event.
class hints_of_an_event : public test::with_a_serial_policy {
 protected:
  hints_of_an_event() { use_policy(rt); }

  detail::handler_hints only() {
    rt.run_until_idle();
    EXPECT_EQ(policy->seen.size(), 1u);
    return policy->seen.front().hints;
  }
  runtime rt{options{.workers = 1, .stall_after = {}}};  // without a thread that is there until the end
};

TEST_F(hints_of_an_event, are_seen_by_the_scheduler) {
  rt.post(color{1}, with_hints({.cost = 12us, .penalty = 1000, .priority = 3}, [] {}));
  const detail::handler_hints seen = only();
  EXPECT_EQ(seen.cost_ns, 12'000u);
  EXPECT_EQ(seen.penalty, 1000u);
  EXPECT_EQ(seen.priority, 3u);
}

TEST_F(hints_of_an_event, that_has_none_are_that_nothing_is_known) {
  rt.post(color{1}, [] {});
  const detail::handler_hints seen = only();
  EXPECT_EQ(seen.cost_ns, 0u);
  EXPECT_EQ(seen.penalty, 1u);
  EXPECT_EQ(seen.priority, 0u);
}

TEST_F(hints_of_an_event, end_at_their_limits) {
  rt.post(color{1}, with_hints({.cost = 1h, .penalty = 1'000'000, .priority = 1000}, [] {}));
  const detail::handler_hints most = only();
  EXPECT_EQ(most.cost_ns, 0xffff'ffffu);
  EXPECT_EQ(most.penalty, 0xffffu);
  EXPECT_EQ(most.priority, 0xffu);
  const detail::handler_hints least = detail::packed({.cost = -1ns, .penalty = 0});
  EXPECT_EQ(least.cost_ns, 0u);
  EXPECT_EQ(least.penalty, 1u);
}

TEST_F(hints_of_an_event, stand_in_front_of_a_callable_of_any_size) {
  std::array<int, 40> large{};
  large[39] = 7;
  int ran = 0;
  rt.post(color{1}, with_hints({.priority = 5}, [&ran, large] { ran = large[39]; }));
  EXPECT_EQ(only().priority, 5u);
  EXPECT_EQ(ran, 7);
}

TEST_F(hints_of_an_event, come_along_by_every_way_of_posting) {
  int sum = 0;
  const auto add = [&sum](int n) { return with_hints({.priority = 9}, [&sum, n] { sum += n; }); };
  strand own{rt};
  own.post(add(1));
  event_batch batch{rt};
  batch.add(color{2}, add(2));
  rt.post(std::move(batch));
  bind(rt, color{3}, add(4))();
  bind(rt, color{3}, with_hints({.priority = 9}, [&sum](int n, std::unique_ptr<int> m) { sum += n + *m; }))(3, std::make_unique<int>(5));
  rt.run_until_idle();
  EXPECT_EQ(sum, 15);
  ASSERT_EQ(policy->seen.size(), 4u);
  for (const auto& each : policy->seen) EXPECT_EQ(each.hints.priority, 9u);
}

TEST_F(hints_of_an_event, are_a_coroutines_from_its_next_resumption_on) {
  rt.spawn_in(color{1}, []() -> task<> {
    co_await hint({.priority = 4});
    co_await yield();
    co_await yield();
    co_await hint({});
    co_await yield();
  });
  rt.run_until_idle();
  std::vector<unsigned> priorities;
  for (const auto& each : policy->seen) priorities.push_back(each.hints.priority);
  EXPECT_EQ(priorities, (std::vector<unsigned>{0, 4, 4, 0}));
}

}  // namespace
}  // namespace tartan
