#include "core/sched/urgent_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tartan::detail {
namespace {

struct item {
  unsigned level;
};
using urgent = urgent_queue<real_memory, item, 64>;

class an_urgent_queue : public testing::Test {
 protected:
  void push(unsigned level, unsigned times) {
    for (unsigned n = 0; n < times; ++n) level == 0 ? others.push(all[0]) : waiting.push(all[level], level);
  }
  /// The levels of the next ones to run.
  std::vector<unsigned> picks(unsigned count) {
    std::vector<unsigned> seen;
    for (unsigned n = 0; n < count; ++n) {
      const item* const next = waiting.pick(others);
      if (next == nullptr) break;
      seen.push_back(next->level);
    }
    return seen;
  }

  std::array<item, 4> all{{{0}, {1}, {2}, {3}}};
  urgent waiting;
  urgent::level_queue others;
};

TEST_F(an_urgent_queue, serves_the_highest_level_first_and_the_others_after_it) {
  push(0, 1);
  push(2, 2);
  push(3, 1);
  push(1, 1);
  EXPECT_EQ(waiting.size(), 4u);
  EXPECT_EQ(picks(9), (std::vector<unsigned>{3, 2, 2, 1, 0}));
  EXPECT_EQ(waiting.size(), 0u);
}

TEST_F(an_urgent_queue, gives_each_lower_level_one_pick_in_48) {
  push(3, 96);
  for (const unsigned level : {0u, 1u, 2u}) push(level, 2);
  std::array<unsigned, 4> served{};
  const std::vector<unsigned> seen = picks(96);
  for (unsigned n = 0; n < seen.size(); ++n) {
    ++served[seen[n]];
    if (seen[n] != 3) {
      EXPECT_EQ((n + 1) % 16, 0u);
    }
  }
  EXPECT_EQ(served, (std::array<unsigned, 4>{2, 2, 2, 90}));
}

TEST_F(an_urgent_queue, gives_the_turn_of_a_level_that_is_empty_to_another_lower_one) {
  push(3, 48);
  push(0, 3);
  const std::vector<unsigned> seen = picks(48);
  EXPECT_EQ(seen[15], 0u);
  EXPECT_EQ(seen[31], 0u);
  EXPECT_EQ(seen[47], 0u);
}

TEST_F(an_urgent_queue, gives_the_turn_of_the_lower_levels_to_the_highest_if_they_are_empty) {
  push(3, 17);
  EXPECT_EQ(picks(17).size(), 17u);
}

TEST_F(an_urgent_queue, gives_a_thief_half_of_each_level_the_highest_first) {
  push(1, 4);
  push(3, 2);
  std::array<item*, 8> room{};
  EXPECT_EQ(waiting.take_half(room), 3u);
  EXPECT_EQ(room[0]->level, 3u);
  EXPECT_EQ(room[1]->level, 1u);
  EXPECT_EQ(waiting.size(), 3u);
}

TEST_F(an_urgent_queue, knows_whether_one_is_above_a_level) {
  push(2, 1);
  EXPECT_TRUE(waiting.has_above(0));
  EXPECT_TRUE(waiting.has_above(1));
  EXPECT_FALSE(waiting.has_above(2));
  EXPECT_FALSE(waiting.has_above(3));
}

}  // namespace
}  // namespace tartan::detail
