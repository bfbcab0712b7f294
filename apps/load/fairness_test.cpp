#include "load/fairness.h"

#include <gtest/gtest.h>

namespace load {
namespace {

TEST(jains_index, is_one_if_all_got_the_same) {
  fairness f;
  for (int n = 0; n < 10; ++n) f.add(7);
  EXPECT_DOUBLE_EQ(f.jain(), 1);
}

TEST(jains_index, is_one_nth_if_one_got_everything) {
  fairness f;
  f.add(1000);
  for (int n = 0; n < 9; ++n) f.add(0);
  EXPECT_DOUBLE_EQ(f.jain(), 0.1);
}

TEST(jains_index, lies_between_for_what_lies_between) {
  fairness f;
  for (const std::uint64_t got : {1u, 2u, 3u}) f.add(got);
  EXPECT_DOUBLE_EQ(f.jain(), 36.0 / (3 * 14));
}

TEST(jains_index, is_zero_if_nobody_got_anything) {
  fairness f;
  EXPECT_EQ(f.jain(), 0);
  f.add(0);
  EXPECT_EQ(f.jain(), 0);
}

TEST(jains_index, of_two_groups_is_that_of_all) {
  fairness some;
  some.add(1);
  fairness others;
  others.add(2);
  others.add(3);
  some.add(fairness::of(others.count(), others.sum(), others.squares()));
  EXPECT_EQ(some.count(), 3u);
  EXPECT_DOUBLE_EQ(some.jain(), 36.0 / (3 * 14));
}

}  // namespace
}  // namespace load
