// What a worker asks for of those that come next, before their turn.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/sched/home.h"

namespace tartan::detail {
namespace {

/// Writes down which lines were asked for.
struct noting_memory : real_memory {
  static inline std::vector<const void*> asked_for;
  static void prefetch(const void* line) { asked_for.push_back(line); }
};
using color_queue = color_queue_of<noting_memory, event>;

/// One worker's colors, with an event each.
class look_ahead : public testing::Test {
 protected:
  look_ahead() {
    steps_.clear();
    for (std::size_t n = 0; n < events_.size(); ++n) events_[n].ops = &asking;
  }
  void wait_in_line(std::size_t how_many) {
    for (std::size_t n = 0; n < how_many; ++n) {
      colors_[n].append(events_[n]);
      home_.queue.push(colors_[n]);
    }
    noting_memory::asked_for.clear();
  }
  [[nodiscard]] static bool was_asked_for(const void* line) {
    return std::find(noting_memory::asked_for.begin(), noting_memory::asked_for.end(), line) != noting_memory::asked_for.end();
  }

  using step = std::pair<const event*, unsigned>;
  static inline std::vector<step> steps_;
  static void note(event& e, unsigned n) noexcept { steps_.emplace_back(&e, n); }
  static constexpr event_ops asking{.run = nullptr, .drop = nullptr, .ask_ahead = &note};
  static constexpr event_ops complete{.run = nullptr, .drop = nullptr};

  std::array<event, 10> events_{};
  std::array<color_queue, 10> colors_{};
  home_of<noting_memory, event> home_;
};

TEST_F(look_ahead, goes_a_step_further_with_each_turn) {
  wait_in_line(10);
  home_.look_ahead();
  EXPECT_EQ(steps_, (std::vector<step>{{&events_[0], 3}, {&events_[1], 2}, {&events_[2], 1}, {&events_[3], 0}}));
  EXPECT_TRUE(was_asked_for(&events_[4]));
  EXPECT_TRUE(was_asked_for(&colors_[5]));
  EXPECT_EQ(noting_memory::asked_for.size(), 2u);
  EXPECT_EQ(home_.pop(), colors_.data());
  steps_.clear();
  home_.look_ahead();
  EXPECT_EQ(steps_.front(), step(&events_[1], 3));
  EXPECT_TRUE(was_asked_for(&colors_[6]));
}

TEST_F(look_ahead, passes_over_what_is_all_in_its_event) {
  events_[1].ops = &complete;
  wait_in_line(10);
  home_.look_ahead();
  EXPECT_EQ(steps_, (std::vector<step>{{&events_[0], 3}, {&events_[2], 1}, {&events_[3], 0}}));
}

TEST_F(look_ahead, sees_what_came_from_elsewhere) {
  wait_in_line(10);
  for (const std::size_t n : {2u, 4u}) {
    EXPECT_EQ(colors_[n].take(), &events_[n]);
    EXPECT_EQ(colors_[n].in.push(events_[n], events_[n]), pushed::owes_link);
  }
  home_.look_ahead();
  EXPECT_EQ(steps_, (std::vector<step>{{&events_[0], 3}, {&events_[1], 2}, {&events_[2], 1}, {&events_[3], 0}}));
  EXPECT_TRUE(was_asked_for(&events_[4]));
}

TEST_F(look_ahead, passes_over_colors_that_only_have_to_end) {
  wait_in_line(10);
  for (const std::size_t n : {2u, 4u}) EXPECT_EQ(colors_[n].take(), &events_[n]);
  home_.look_ahead();
  EXPECT_EQ(steps_, (std::vector<step>{{&events_[0], 3}, {&events_[1], 2}, {&events_[3], 0}}));
  EXPECT_EQ(noting_memory::asked_for, (std::vector<const void*>{&colors_[5]}));
}

TEST_F(look_ahead, asks_for_nothing_of_a_short_line) {
  home_.look_ahead();
  wait_in_line(4);
  home_.look_ahead();
  EXPECT_TRUE(steps_.empty());
  EXPECT_TRUE(noting_memory::asked_for.empty());
}

TEST_F(look_ahead, asks_for_what_a_line_of_five_leads_to) {
  wait_in_line(5);
  home_.look_ahead();
  EXPECT_EQ(steps_.size(), 4u);
  EXPECT_EQ(noting_memory::asked_for, (std::vector<const void*>{&events_[4]}));
}

// One turn is shorter than the way of a line from another core, and what another worker has posted is there.
TEST_F(look_ahead, asks_for_an_event_two_turns_before_its_color_is_popped_also_if_it_is_in_the_inbox) {
  wait_in_line(10);
  EXPECT_EQ(colors_[4].take(), &events_[4]);
  EXPECT_EQ(colors_[4].in.push(events_[4], events_[4]), pushed::owes_link);
  for (std::size_t popped = 0; popped < 7; ++popped) {
    EXPECT_EQ(home_.pop(), &colors_[popped]);
    EXPECT_TRUE(was_asked_for(&events_[popped + 3]));
  }
}

TEST_F(look_ahead, does_not_wait_for_a_thief) {
  wait_in_line(10);
  ASSERT_NE(home_.lock.try_enter_as_thief(false), thief_entry::refused);
  home_.look_ahead();
  EXPECT_TRUE(steps_.empty());
  home_.lock.leave_as_thief();
  home_.look_ahead();
  EXPECT_EQ(steps_.size(), 4u);
}

}  // namespace
}  // namespace tartan::detail
