#include "core/sched/papers/class_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "tests/seed.h"

namespace tartan::detail {
namespace {

constexpr std::uint64_t price = 1000;

TEST(core_list, can_be_left_from_the_middle) {
  std::array<class_queue, 3> all;
  core_list list;
  for (class_queue& each : all) list.push_back(each);
  list.remove(all[1]);
  EXPECT_EQ(list.front(), &all[0]);
  EXPECT_EQ(all[0].next, &all[2]);
  EXPECT_EQ(all[2].previous, &all[0]);
  list.remove(all[0]);
  list.remove(all[2]);
  EXPECT_EQ(list.front(), nullptr);
}

TEST(stealing_queue, has_only_what_is_worth_more_than_a_steal) {
  class_queue q;
  stealing_queue worthy;
  q.time_ns = price;
  worthy.update(q, price);
  EXPECT_EQ(worthy.front(), nullptr);
  q.time_ns = price + 1;
  worthy.update(q, price);
  EXPECT_EQ(worthy.front(), &q);
  q.time_ns = 0;
  worthy.update(q, price);
  EXPECT_EQ(worthy.front(), nullptr);
}

TEST(stealing_queue, gives_the_longest_interval_first) {
  std::array<class_queue, 3> all;
  stealing_queue worthy;
  const std::array<std::uint64_t, 3> times{2 * price, 5 * price, 17 * price};
  for (std::size_t n = 0; n < all.size(); ++n) {
    all[n].time_ns = times[n];
    worthy.update(all[n], price);
  }
  EXPECT_EQ(worthy.front(), &all[2]);
  worthy.remove(all[2]);
  EXPECT_EQ(worthy.front(), &all[1]);
  worthy.remove(all[1]);
  EXPECT_EQ(worthy.front(), &all[0]);
}

/// Whatever changes: it finds somebody of the highest interval that there is.
TEST(stealing_queue, follows_each_change) {
  std::mt19937_64 random{test::seed()};
  std::array<class_queue, 12> all;
  stealing_queue worthy;
  const auto interval = [](const class_queue& q) { return q.time_ns <= price ? -1 : q.time_ns <= 4 * price ? 0 : q.time_ns <= 16 * price ? 1 : 2; };
  for (int step = 0; step < 20'000; ++step) {
    class_queue& changed = all[random() % all.size()];
    changed.time_ns = random() % (20 * price);
    worthy.update(changed, price);
    int highest = -1;
    for (const class_queue& each : all) highest = std::max(highest, interval(each));
    const class_queue* const found = worthy.front();
    ASSERT_EQ(found != nullptr ? interval(*found) : -1, highest);
  }
}

}  // namespace
}  // namespace tartan::detail
