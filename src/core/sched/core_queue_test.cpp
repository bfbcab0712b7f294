#include "core/sched/core_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <random>
#include <span>
#include <vector>

#include "core/sched/home.h"
#include "tests/seed.h"

namespace tartan::detail {
namespace {

struct item {
  int number = 0;
};
using queue = core_queue<real_memory, item>;

std::vector<item> items(int count) {
  std::vector<item> made(static_cast<std::size_t>(count));
  for (int n = 0; n < count; ++n) made[static_cast<std::size_t>(n)].number = n;
  return made;
}

TEST(core_queue, serves_first_what_has_waited_longest) {
  std::vector<item> all = items(1000);
  queue waiting;
  EXPECT_EQ(waiting.pop(), nullptr);
  for (item& each : all) waiting.push(each);
  EXPECT_EQ(waiting.size(), 1000u);
  for (item& each : all) EXPECT_EQ(waiting.pop(), &each);
  EXPECT_EQ(waiting.pop(), nullptr);
  EXPECT_EQ(waiting.size(), 0u);
}

/// Writes down which lines were asked for.
struct noting_memory : real_memory {
  static inline std::vector<const void*> asked_for;
  static void prefetch(const void* line) { asked_for.push_back(line); }
};

// What lay in a slot before may be hot on another worker.
TEST(core_queue, asks_for_the_lines_of_those_that_wait_and_of_no_others) {
  std::vector<item> all = items(10);
  item before;
  core_queue<noting_memory, item> waiting;
  for (std::size_t n = 0; n < 4 * waiting.segment_slots; ++n) {  // until each segment has been used
    waiting.push(before);
    EXPECT_EQ(waiting.pop(), &before);
  }
  noting_memory::asked_for.clear();
  for (item& each : all) waiting.push(each);
  std::size_t ahead = 0;
  for (std::size_t popped = 0; waiting.pop() != nullptr; ++popped) {
    if (popped == 0 && !noting_memory::asked_for.empty()) ahead = static_cast<std::size_t>(static_cast<const item*>(noting_memory::asked_for[0]) - all.data());
    // One turn's time is too little for a line to come in, and so is the time of the turn before its event is asked for.
    if (popped + ahead < all.size()) {
      EXPECT_EQ(noting_memory::asked_for.size(), popped + 1);
    }
  }
  EXPECT_GT(ahead, home_traits::events_ahead);
  std::vector<const void*> expected;
  for (std::size_t n = ahead; n < all.size(); ++n) expected.push_back(&all[n]);
  EXPECT_EQ(noting_memory::asked_for, expected);
  waiting.push(all[0]);
  EXPECT_EQ(waiting.pop(), all.data());
  EXPECT_EQ(noting_memory::asked_for, expected);
}

TEST(core_queue, tells_who_comes_behind_so_many_others_in_the_same_segment) {
  std::vector<item> all = items(static_cast<int>(queue::segment_slots) + 2);
  queue waiting;
  EXPECT_EQ(waiting.behind(0), nullptr);
  for (item& each : all) waiting.push(each);
  static_cast<void>(waiting.pop());
  for (std::size_t n = 0; n + 1 < queue::segment_slots; ++n) EXPECT_EQ(waiting.behind(static_cast<std::uint32_t>(n)), &all[n + 1]);
  EXPECT_EQ(waiting.behind(queue::segment_slots - 1), nullptr);
  while (waiting.pop() != nullptr) {
  }
  EXPECT_EQ(waiting.behind(0), nullptr);
}

TEST(core_queue, lets_a_thief_ask_for_nothing_of_what_stays) {
  std::vector<item> all = items(10);
  std::array<item*, 3> room{};
  core_queue<noting_memory, item> waiting;
  for (item& each : all) waiting.push(each);
  noting_memory::asked_for.clear();
  EXPECT_EQ(waiting.take_half(room), 3u);
  EXPECT_TRUE(noting_memory::asked_for.empty());
}

TEST(core_queue, gives_a_thief_half_rounded_up_the_oldest_first) {
  std::vector<item> all = items(9);
  std::array<item*, queue::segment_slots> room{};
  queue waiting;
  for (item& each : all) waiting.push(each);
  EXPECT_EQ(waiting.take_half(room), 5u);
  for (std::size_t n = 0; n < 5; ++n) EXPECT_EQ(room[n], &all[n]);
  EXPECT_EQ(waiting.take_half(room), 2u);
  EXPECT_EQ(waiting.take_half(room), 1u);
  EXPECT_EQ(waiting.take_half(room), 1u);
  EXPECT_EQ(room[0], &all[8]);
  EXPECT_EQ(waiting.take_half(room), 0u);
}

TEST(core_queue, gives_a_thief_no_more_than_it_has_room_for) {
  std::vector<item> all = items(1000);
  std::array<item*, 3> room{};
  queue waiting;
  for (item& each : all) waiting.push(each);
  EXPECT_EQ(waiting.take_half(room), 3u);
  EXPECT_EQ(waiting.size(), 997u);
  EXPECT_EQ(waiting.pop(), &all[3]);
}

TEST(core_queue, gives_away_from_its_end_until_one_does_not_fit) {
  std::vector<item> all = items(10);
  std::array<item*, queue::segment_slots> room{};
  queue waiting;
  const auto fits = [](const item& each) { return each.number != 4; };
  EXPECT_EQ(waiting.take_last(room, fits), 0u);
  for (item& each : all) waiting.push(each);
  EXPECT_EQ(waiting.take_last(std::span{room}.first(2), fits), 2u);
  EXPECT_EQ(room[0], &all[9]);
  EXPECT_EQ(room[1], &all[8]);
  EXPECT_EQ(waiting.take_last(room, fits), 3u);
  EXPECT_EQ(room[2], &all[5]);
  EXPECT_EQ(waiting.take_last(room, fits), 0u);
  EXPECT_EQ(waiting.size(), 5u);
  EXPECT_EQ(waiting.pop(), &all[0]);
}

// A worker gives every so many turns, which may be as many as a segment has slots: what it can give must not depend on where in a
// segment its line ends.
TEST(core_queue, gives_away_as_many_wherever_its_last_segment_ends) {
  std::vector<item> all = items(3 * static_cast<int>(queue::segment_slots));
  std::array<item*, queue::segment_slots> room{};
  queue waiting;
  const auto fits = [](const item& /*each*/) { return true; };
  for (std::size_t end = 0; end <= queue::segment_slots; ++end) {
    for (std::size_t n = 0; n < 2 * queue::segment_slots + end; ++n) waiting.push(all[n]);
    for (std::size_t left = 2 * queue::segment_slots + end; left != 0;) {
      const std::size_t expected = std::min(left, room.size());
      ASSERT_EQ(waiting.take_last(room, fits), expected);
      for (std::size_t n = 0; n < expected; ++n) ASSERT_EQ(room[n], &all[left - n - 1]);
      left -= expected;
      ASSERT_EQ(waiting.size(), left);
    }
    EXPECT_EQ(waiting.take_last(room, fits), 0u);
    waiting.push(all[end]);
    EXPECT_EQ(waiting.pop(), &all[end]);  // and so the next round ends one slot further
  }
}

// The slot of the next push is always there, also when all that was in its segment, or before it, has gone.
TEST(core_queue, goes_on_where_a_segment_ends_whoever_has_emptied_it) {
  std::vector<item> all = items(2);
  std::array<item*, 1> room{};
  queue waiting;
  const auto fits = [](const item& /*each*/) { return true; };
  for (std::size_t n = 0; n < 5 * queue::segment_slots; ++n) {
    waiting.push(all[0]);
    EXPECT_EQ(waiting.size(), 1u);
    EXPECT_EQ(waiting.behind(0), &all[0]);
    const std::size_t taken = n % 3 == 0 ? waiting.take_half(room) : n % 3 == 1 ? waiting.take_last(room, fits) : 0;
    EXPECT_EQ(taken + (waiting.pop() == &all[0] ? 1 : 0), 1u);
  }
  waiting.push(all[0]);
  waiting.push(all[1]);
  EXPECT_EQ(waiting.pop(), &all[0]);
  EXPECT_EQ(waiting.pop(), &all[1]);
}

TEST(core_queue, agrees_with_a_deque_whatever_is_done_to_it) {
  std::minstd_rand random{static_cast<unsigned>(test::seed())};
  std::vector<item> all = items(2000);
  std::deque<item*> expected;
  queue waiting;
  std::array<item*, queue::segment_slots> room{};
  std::size_t next = 0;
  for (int step = 0; step < 50'000; ++step) {
    const auto choice = random() % 100;
    if (choice < 50) {
      item& each = all[next++ % all.size()];
      waiting.push(each);
      expected.push_back(&each);
    } else if (choice < 53) {
      const std::size_t taken = waiting.take_last(std::span{room}.first(random() % 5), [](const item& each) { return each.number % 7 != 0; });
      for (std::size_t n = 0; n < taken; ++n) {
        ASSERT_EQ(room[n], expected.back());
        expected.pop_back();
      }
    } else if (choice < 97) {
      item* const got = waiting.pop();
      ASSERT_EQ(got, expected.empty() ? nullptr : expected.front());
      if (got != nullptr) expected.pop_front();
    } else {
      const std::size_t taken = waiting.take_half(room);
      ASSERT_EQ(taken, std::min((expected.size() + 1) / 2, room.size()));
      for (std::size_t n = 0; n < taken; ++n) {
        ASSERT_EQ(room[n], expected.front());
        expected.pop_front();
      }
    }
    ASSERT_EQ(waiting.size(), expected.size());
  }
}

}  // namespace
}  // namespace tartan::detail
