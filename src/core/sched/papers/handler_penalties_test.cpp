#include "core/sched/papers/handler_penalties.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace tartan::detail {
namespace {

/// So many times in a row.
void learn(handler_times& of, std::uint64_t took_ns, bool brought, int times = 200) {
  for (int n = 0; n < times; ++n) of.learn(took_ns, brought);
}

TEST(handler_times, penalize_nothing_that_is_not_known) {
  handler_times times;
  EXPECT_EQ(times.worth_of(1000), 1000u);
  times.learn(500, true);
  EXPECT_EQ(times.worth_of(1000), 1000u);  // nobody knows what it takes at home
  handler_times others;
  others.learn(500, false);
  EXPECT_EQ(others.worth_of(1000), 1000u);
}

TEST(handler_times, penalize_by_what_a_steal_makes_of_the_time) {
  handler_times times;
  learn(times, 100, false);
  learn(times, 400, true);
  EXPECT_EQ(times.worth_of(1000), 250u);
  EXPECT_EQ(times.worth_of(0xffff'ffff), 0x3fff'ffffu);
}

TEST(handler_times, never_make_a_cost_more_than_it_is) {
  handler_times times;
  learn(times, 400, false);
  learn(times, 100, true);
  EXPECT_EQ(times.worth_of(1000), 1000u);
}

TEST(handler_times, follow_what_changes) {
  handler_times times;
  learn(times, 100, false);
  learn(times, 200, true);
  learn(times, 600, true);
  EXPECT_GE(times.brought_ns(), 590u);
  learn(times, 1, false);
  EXPECT_LE(times.home_ns(), 2u);
}

/// An event that lost its CPU says nothing of memory.
TEST(handler_times, count_nothing_for_more_than_twice_the_average) {
  handler_times times;
  learn(times, 1000, false);
  learn(times, 1000, true);
  times.learn(~std::uint64_t{0}, true);
  EXPECT_EQ(times.brought_ns(), 1125u);
  times.learn(~std::uint64_t{0}, false);
  EXPECT_EQ(times.home_ns(), 1125u);
}

/// Else what was once penalized would never be stolen again, and so never measured again.
TEST(handler_times, forget_a_penalty_while_nothing_is_stolen) {
  handler_times times;
  learn(times, 100, false);
  learn(times, 100'000, true);
  EXPECT_LE(times.worth_of(1000), 1u);
  learn(times, 100, false, 1000);
  EXPECT_GE(times.worth_of(1000), 600u);
}

TEST(handler_penalties, tell_handlers_apart_by_type_and_by_cost) {
  static constexpr event_ops types[8]{};
  const auto all = std::make_unique<handler_penalties>();
  std::set<const handler_times*> by_type;
  std::set<const handler_times*> by_cost;
  for (std::uint32_t n = 0; n < 8; ++n) {
    EXPECT_EQ(&all->of(types[n], 10), &all->of(types[n], 10));
    by_type.insert(&all->of(types[n], 10));
    by_cost.insert(&all->of(types[0], n));
  }
  // Two may share a place.
  EXPECT_GE(by_type.size(), 7u);
  EXPECT_GE(by_cost.size(), 7u);
}

}  // namespace
}  // namespace tartan::detail
