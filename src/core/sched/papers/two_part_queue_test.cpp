#include "core/sched/papers/two_part_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "tests/seed.h"

namespace tartan::detail {
namespace {

task named(std::uint64_t name, bool right, std::uint8_t priority = 0) {
  task t{};
  t.color_value = name;
  t.right = right;
  t.priority = priority;
  return t;
}

std::vector<std::uint64_t> names(const two_part_queue& of) {
  std::vector<std::uint64_t> all;
  for (const task* t = of.front(); t != nullptr; t = t->next) all.push_back(t->color_value);
  return all;
}

using list = std::vector<std::uint64_t>;

TEST(two_part_queue, puts_computation_left_of_input_each_in_its_order) {
  two_part_queue queue;
  std::deque<task> all{named(1, true), named(2, false), named(3, true), named(4, false)};
  for (task& t : all) queue.append(t);
  EXPECT_EQ(names(queue), (list{2, 4, 1, 3}));
}

TEST(two_part_queue, takes_what_was_there_before_at_the_left_end_of_its_part) {
  two_part_queue queue;
  std::deque<task> all{named(1, true), named(2, false), named(3, true), named(4, false)};
  queue.append(all[0]);
  queue.append(all[1]);
  queue.prepend(all[2]);
  queue.prepend(all[3]);
  EXPECT_EQ(names(queue), (list{4, 2, 3, 1}));
}

/// Against two plain lists.
TEST(two_part_queue, is_as_two_lists_whatever_is_done_to_it) {
  std::mt19937_64 random{test::seed()};
  for (int round = 0; round < 300; ++round) {
    two_part_queue queue;
    std::deque<task> tasks;
    std::deque<task*> left;
    std::deque<task*> right;
    for (std::uint64_t step = 0; step < 60; ++step) {
      std::deque<task*>& part = random() % 2 == 0 ? left : right;
      switch (random() % 3) {
        case 0:
          tasks.push_back(named(step, &part == &right));
          queue.append(tasks.back());
          part.push_back(&tasks.back());
          break;
        case 1:
          tasks.push_back(named(step, &part == &right));
          queue.prepend(tasks.back());
          part.push_front(&tasks.back());
          break;
        default:
          if (part.empty()) break;
          const auto which = part.begin() + static_cast<std::ptrdiff_t>(random() % part.size());
          queue.remove(**which);
          part.erase(which);
      }
      list expected;
      for (const auto* each : {&left, &right}) {
        for (const task* t : *each) expected.push_back(t->color_value);
      }
      ASSERT_EQ(names(queue), expected);
      ASSERT_EQ(queue.empty(), expected.empty());
    }
  }
}

std::uint64_t picked(std::deque<task>& shown, unsigned first, std::uint64_t last_color) {
  weighed_pick choice{first, last_color};
  for (task& t : shown) {
    if (!choice.show(t)) break;
  }
  return static_cast<std::uint64_t>(std::find_if(shown.begin(), shown.end(), [&](const task& t) { return &t == choice.best(); }) - shown.begin());
}

TEST(weighed_pick, prefers_the_last_color_and_else_the_leftmost) {
  std::deque<task> all{named(1, false), named(2, false), named(3, false), named(2, false)};
  EXPECT_EQ(picked(all, 8, ~std::uint64_t{1}), 0u);
  EXPECT_EQ(picked(all, 8, 2), 1u);
  EXPECT_EQ(picked(all, 8, 3), 2u);
}

TEST(weighed_pick, looks_at_the_first_few_only) {
  std::deque<task> all{named(1, false), named(2, false), named(3, false)};
  EXPECT_EQ(picked(all, 2, 3), 0u);
  EXPECT_EQ(picked(all, 3, 3), 2u);
}

TEST(weighed_pick, adds_one_for_the_last_color_to_the_priority) {
  std::deque<task> all{named(1, false, 1), named(2, false, 1), named(3, false, 2)};
  EXPECT_EQ(picked(all, 8, 2), 1u);  // as much as the third, and left of it
  EXPECT_EQ(picked(all, 8, 4), 2u);
}

TEST(weighed_pick, never_takes_a_color_by_a_later_task) {
  std::deque<task> all{named(1, false, 0), named(1, false, 9), named(2, false, 1)};
  EXPECT_EQ(picked(all, 8, 4), 2u);
  std::deque<task> unordered{named(color::unordered.value(), false, 0), named(color::unordered.value(), false, 9)};
  EXPECT_EQ(picked(unordered, 8, 4), 1u);
}

}  // namespace
}  // namespace tartan::detail
