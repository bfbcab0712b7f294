#include "core/sched/annotation.h"

#include <gtest/gtest.h>

namespace tartan::detail {
namespace {

TEST(an_annotation, is_empty_if_nothing_was_told) {
  EXPECT_TRUE(annotation{}.empty());
  EXPECT_TRUE(annotation{handler_hints{}}.empty());
  EXPECT_EQ(annotation{}.level(), 0u);
  EXPECT_EQ(annotation{}.worth_ns(), 0u);
}

TEST(an_annotation, has_a_level_for_each_of_the_first_priorities) {
  for (const unsigned priority : {0u, 1u, 2u, 3u}) {
    EXPECT_EQ(annotation(handler_hints{.priority = static_cast<std::uint8_t>(priority)}).level(), priority);
  }
  EXPECT_EQ(annotation(handler_hints{.priority = 255}).level(), 3u);
}

TEST(an_annotation, is_worth_what_it_costs_by_its_penalty_rounded_down) {
  EXPECT_EQ(annotation(handler_hints{.cost_ns = 1}).worth_ns(), 1u);
  EXPECT_EQ(annotation(handler_hints{.cost_ns = 4096}).worth_ns(), 4096u);
  EXPECT_EQ(annotation(handler_hints{.cost_ns = 8191}).worth_ns(), 4096u);
  EXPECT_EQ(annotation(handler_hints{.cost_ns = 81'920, .penalty = 10}).worth_ns(), 8192u);
  EXPECT_EQ(annotation(handler_hints{.cost_ns = 80, .penalty = 1000}).worth_ns(), 0u);
  EXPECT_EQ(annotation(handler_hints{.cost_ns = ~0u}).worth_ns(), 1u << 31);
}

TEST(an_annotation, keeps_cost_and_priority_apart) {
  const annotation both{handler_hints{.cost_ns = ~0u, .priority = 2}};
  EXPECT_EQ(both.level(), 2u);
  EXPECT_EQ(both.worth_ns(), 1u << 31);
}

}  // namespace
}  // namespace tartan::detail
