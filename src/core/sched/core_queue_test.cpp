#include "core/sched/core_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <random>
#include <vector>

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
