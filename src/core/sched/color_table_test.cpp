#include "core/sched/color_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace tartan::detail {
namespace {

struct entry {
  std::uint64_t color_value = 0;
  entry* chain = nullptr;
  int users = 0;
};
using table = color_table<real_memory, entry, 4>;

entry* find(table& in, std::uint64_t color) {
  bool crowded = false;
  const table::hold bucket{in, color};
  return bucket.find(color, crowded);
}
void insert(table& in, entry& e) {
  table::hold bucket{in, e.color_value};
  bucket.insert(e);
}
void remove(table& in, entry& e) {
  table::hold bucket{in, e.color_value};
  bucket.remove(e);
}

std::vector<entry> entries(std::size_t count) {
  std::vector<entry> made(count);
  for (std::size_t n = 0; n < count; ++n) made[n].color_value = n * 977 + 1;
  return made;
}

TEST(color_table, finds_what_was_inserted_until_it_is_removed) {
  table colors;
  std::vector<entry> all = entries(100);
  for (entry& each : all) insert(colors, each);
  for (entry& each : all) EXPECT_EQ(find(colors, each.color_value), &each);
  EXPECT_EQ(find(colors, 5), nullptr);
  for (std::size_t n = 0; n < all.size(); n += 2) remove(colors, all[n]);
  for (std::size_t n = 0; n < all.size(); ++n)
    EXPECT_EQ(find(colors, all[n].color_value), n % 2 == 0 ? nullptr : &all[n]);
}

TEST(color_table, finds_everything_while_it_grows_one_bucket_at_a_time) {
  table colors;
  std::vector<entry> all = entries(500);
  for (entry& each : all) insert(colors, each);
  const std::size_t before = colors.buckets();
  for (std::size_t n = 1; n <= 1000; ++n) {
    colors.grow();
    ASSERT_EQ(colors.buckets(), before + n);
    for (std::size_t at = n % 7; at < all.size(); at += 7) ASSERT_EQ(find(colors, all[at].color_value), &all[at]);
  }
  for (entry& each : all) remove(colors, each);
  for (entry& each : all) EXPECT_EQ(find(colors, each.color_value), nullptr);
}

TEST(color_table, tells_when_a_bucket_is_crowded) {
  table colors;
  std::vector<entry> all = entries(64);
  bool crowded = false;
  {
    const table::hold bucket{colors, 1};
    EXPECT_EQ(bucket.find(1, crowded), nullptr);
    EXPECT_FALSE(crowded);
  }
  for (entry& each : all) insert(colors, each);  // 16 in each bucket
  {
    const table::hold bucket{colors, 5};
    EXPECT_EQ(bucket.find(5, crowded), nullptr);
  }
  EXPECT_TRUE(crowded);
}

TEST(color_table, forgets_everything_when_it_is_cleared) {
  table colors;
  std::vector<entry> all = entries(50);
  for (entry& each : all) insert(colors, each);
  for (int n = 0; n < 10; ++n) colors.grow();
  colors.clear();
  for (entry& each : all) EXPECT_EQ(find(colors, each.color_value), nullptr);
}

/// What is done in one hold is one step, also while buckets move.
TEST(color_table, lets_only_one_thread_hold_a_color) {
  table colors;
  constexpr unsigned distinct = 40;
  std::vector<std::unique_ptr<entry>> made(distinct);
  std::vector<std::thread> threads;
  constexpr unsigned each = 20'000;
  for (unsigned t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (unsigned n = 0; n < each; ++n) {
        const unsigned which = n % distinct;
        bool crowded = false;
        table::hold bucket{colors, which + 1};
        entry* e = bucket.find(which + 1, crowded);
        if (e == nullptr) {
          EXPECT_EQ(made[which], nullptr);
          made[which] = std::make_unique<entry>();
          e = made[which].get();
          e->color_value = which + 1;
          bucket.insert(*e);
        }
        if (++e->users % 5 == 0) {
          bucket.remove(*e);
          EXPECT_EQ(e->users, 5);
          made[which].reset();
        }
      }
    });
  }
  std::thread grower{[&] {
    for (int n = 0; n < 300; ++n) {
      colors.grow();
      std::this_thread::yield();
    }
  }};
  for (std::thread& t : threads) t.join();
  grower.join();
  unsigned long left = 0;
  for (const auto& e : made) left += e != nullptr ? static_cast<unsigned>(e->users) : 0;
  EXPECT_EQ((3ul * each - left) % 5, 0u);
}

}  // namespace
}  // namespace tartan::detail
