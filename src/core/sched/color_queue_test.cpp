#include "core/sched/color_queue.h"

#include <gtest/gtest.h>
#include <tartan/core/event.h>

#include <cstdint>

namespace tartan::detail {
namespace {

using color_queue = color_queue_of<real_memory, event>;

/// A color of a worker, and how many short visits from another one it has had.
struct visited {
  visited(std::uint64_t value, std::uint32_t home) : at{home} { queue.color_value = value; }

  /// A visit from there; whether it moves there.
  bool is_visited_from(std::uint32_t other) {
    queue.linked_by = static_cast<std::uint16_t>(other);
    queue.note_link();
    queue.note_visit(true);
    return queue.wants_to_move(at) != no_worker;
  }

  color_queue queue;
  std::uint32_t at;
};

/// How many visits move a color.
unsigned visits_until_it_moves(std::uint64_t value, std::uint32_t home, std::uint32_t from) {
  visited c{value, home};
  for (unsigned visits = 1; visits <= 100; ++visits) {
    if (c.is_visited_from(from)) return visits;
  }
  return 0;
}

TEST(color_queue_moves, to_where_some_short_visits_in_a_row_came_from) {
  for (std::uint64_t value = 0; value < 100; ++value) {
    for (const std::uint32_t from : {0u, 7u}) {
      const unsigned visits = visits_until_it_moves(value, 3, from);
      EXPECT_GE(visits, 3u);
      EXPECT_LE(visits, 18u);
    }
  }
}

TEST(color_queue_moves, after_visits_that_follow_each_other_only) {
  visited c{1, 0};
  for (int n = 0; n < 100; ++n) EXPECT_FALSE(c.is_visited_from(1 + static_cast<std::uint32_t>(n % 2)));
  for (int n = 0; n < 100; ++n) {
    EXPECT_FALSE(c.is_visited_from(1));
    c.queue.note_visit(false);  // a long one
  }
}

// Else they would swap places for ever.
TEST(color_queue_moves, one_of_two_colors_that_visit_each_other_and_not_both_at_once) {
  for (std::uint64_t value = 0; value < 1000; ++value) {
    EXPECT_NE(visits_until_it_moves(value, 0, 1), visits_until_it_moves(value + 1000, 1, 0)) << value;
  }
}

// Else all colors that work together would end on the worker of the lowest number.
TEST(color_queue_moves, to_the_lower_number_of_two_workers_about_as_often_as_to_the_higher_one) {
  int to_lower = 0;
  for (std::uint64_t value = 0; value < 1000; ++value) {
    to_lower += visits_until_it_moves(value, 1, 0) < visits_until_it_moves(value + 1000, 0, 1) ? 1 : 0;
  }
  EXPECT_GT(to_lower, 400);
  EXPECT_LT(to_lower, 650);
}

}  // namespace
}  // namespace tartan::detail
