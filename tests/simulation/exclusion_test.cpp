// The check that every simulated event passes.

#include "simulation/exclusion.h"

#include <gtest/gtest.h>

namespace {

TEST(exclusion, of_one_color_lets_one_event_after_the_other_pass) {
  simulation::exclusion colors;
  colors.begin(7, 100);
  colors.begin(8, 100);
  colors.end(7, 200);
  colors.begin(7, 200);
  colors.end(7, 300);
  EXPECT_EQ(colors.checked(), 3u);
}

TEST(exclusion, of_one_color_ends_the_program_for_two_at_once) {
  simulation::exclusion colors;
  colors.begin(7, 100);
  EXPECT_EXIT(colors.begin(7, 150), ::testing::ExitedWithCode(1), "two events of color");
}

TEST(exclusion, of_one_color_ends_the_program_for_one_that_begins_too_early) {
  simulation::exclusion colors;
  colors.begin(7, 100);
  colors.end(7, 200);
  EXPECT_EXIT(colors.begin(7, 199), ::testing::ExitedWithCode(1), "two events of color");
}

}  // namespace
