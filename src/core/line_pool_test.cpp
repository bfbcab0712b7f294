#include "core/line_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace tartan::detail {
namespace {

TEST(line_pool, gives_lines_that_are_zero_at_first_aligned_and_apart) {
  line_pool pool{nullptr};
  line_cache cache;
  std::set<void*> lines;
  const std::vector<unsigned char> zeros(line_pool::line_bytes, 0);
  for (std::size_t n = 0; n < 3 * line_pool::lines_per_slab; ++n) {
    void* const line = pool.allocate(cache);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(line) % line_pool::line_bytes, 0u);
    EXPECT_EQ(std::memcmp(static_cast<std::byte*>(line) + 16, zeros.data(), line_pool::line_bytes - 16), 0);
    EXPECT_TRUE(lines.insert(line).second);
    std::memset(line, 0xff, line_pool::line_bytes);
  }
}

/// A thread that frees lines need not have them in its cache, nor one that takes them, until it writes to them.
TEST(line_pool, touches_no_line_while_it_is_free) {
  line_pool pool{nullptr};
  line_cache maker;
  line_cache freer;
  std::set<void*> lines;
  for (int n = 0; n < 500; ++n) {
    void* const line = pool.allocate(maker);
    std::memset(line, 0x11, line_pool::line_bytes);
    lines.insert(line);
  }
  for (void* line : lines) pool.release(freer, line);
  std::size_t again = 0;
  for (int n = 0; n < 500; ++n) {
    void* const line = pool.allocate(maker);
    if (!lines.contains(line)) continue;
    const auto* const bytes = static_cast<unsigned char*>(line);
    EXPECT_TRUE(std::all_of(bytes, bytes + line_pool::line_bytes, [](unsigned char b) { return b == 0x11; }));
    ++again;
  }
  // The maker had most of a group left, and the other cache keeps less than two.
  EXPECT_GE(again, 500 - 3 * line_pool::group);
}

TEST(line_pool, hands_out_what_was_released_last) {
  line_pool pool{nullptr};
  line_cache cache;
  void* const line = pool.allocate(cache);
  pool.release(cache, line);
  EXPECT_EQ(pool.allocate(cache), line);
}

TEST(line_pool, finds_a_line_by_its_number_and_nothing_by_a_number_that_was_never_given) {
  line_pool pool{nullptr};
  line_cache cache;
  std::set<std::uint64_t> numbers;
  for (std::size_t n = 0; n < 2 * line_pool::lines_per_slab; ++n) {
    void* const line = pool.allocate(cache);
    const std::uint64_t number = line_pool::number_of(line);
    EXPECT_TRUE(numbers.insert(number).second);
    EXPECT_EQ(pool.line_of(number), line);
  }
  EXPECT_EQ(pool.line_of(0), nullptr);
  EXPECT_EQ(pool.line_of(*numbers.rbegin() + 100'000), nullptr);
  EXPECT_EQ(pool.line_of(~std::uint64_t{0} >> 20), nullptr);
}

TEST(line_pool, knows_the_owner_of_each_line) {
  int first = 0;
  int second = 0;
  line_pool one{&first};
  line_pool two{&second};
  line_cache cache_of_one;
  line_cache cache_of_two;
  for (int n = 0; n < 2000; ++n) {
    EXPECT_EQ(line_pool::owner_of(one.allocate(cache_of_one)), &first);
    EXPECT_EQ(line_pool::owner_of(two.allocate(cache_of_two)), &second);
  }
  EXPECT_EQ(line_pool::owner_of(one.allocate_shared()), &first);
}

/// Trap 12: what is made on one worker and freed on another must not pile up.
TEST(line_pool, lets_lines_flow_back_from_the_worker_that_frees_to_the_one_that_makes) {
  line_pool pool{nullptr};
  line_cache maker;
  line_cache freer;
  std::uint64_t highest = 0;
  for (int n = 0; n < 100'000; ++n) {
    void* const line = pool.allocate(maker);
    highest = std::max(highest, line_pool::number_of(line));
    pool.release(freer, line);
  }
  EXPECT_LT(highest, 10 * line_pool::group);
}

TEST(line_pool, has_a_line_at_hand_after_a_reserve) {
  line_pool pool{nullptr};
  line_cache cache;
  for (std::size_t n = 0; n < 3 * line_pool::lines_per_slab; ++n) {
    pool.reserve(cache);
    ASSERT_TRUE(line_pool::is_reserved(cache));
    const std::uint32_t at_hand = cache.count();
    ASSERT_GT(at_hand, 0u);
    (void)line_pool::allocate_reserved(cache);
    EXPECT_EQ(cache.count(), at_hand - 1);
  }
}

TEST(line_pool, hands_out_the_line_that_it_has_asked_the_processor_for) {
  line_pool pool{nullptr};
  line_cache cache;
  std::vector<void*> lines;
  for (std::uint32_t n = 0; n < line_pool::group; ++n) lines.push_back(pool.allocate(cache));
  for (void* line : lines) pool.release(cache, line);
  // Farther down than the first line there are addresses that are no lines, and not null.
  for (std::ptrdiff_t n = 1; n <= std::ptrdiff_t{line_group::ahead}; ++n) EXPECT_NE(cache.bottom[-n], nullptr);
  while (cache.count() > line_group::ahead) {
    void* const later = cache.top[-1 - std::ptrdiff_t{line_group::ahead}];
    for (std::uint32_t n = 0; n < line_group::ahead; ++n) EXPECT_NE(pool.allocate(cache), later);
    EXPECT_EQ(pool.allocate(cache), later);
  }
}

TEST(line_pool, carves_each_slab_once_although_several_threads_do) {
  line_pool pool{nullptr};
  constexpr std::size_t each = 10 * line_pool::lines_per_slab;
  std::vector<std::vector<void*>> given(4);
  std::vector<std::thread> threads;
  for (std::vector<void*>& mine : given) {
    threads.emplace_back([&pool, &mine] {
      line_cache cache;
      for (std::size_t n = 0; n < each; ++n) {
        mine.push_back(pool.allocate(cache));
        std::memset(mine.back(), 0xff, line_pool::line_bytes);  // a race, if another thread was given it
      }
    });
  }
  for (std::thread& t : threads) t.join();
  std::set<void*> all;
  std::uint64_t highest = 0;
  for (const std::vector<void*>& some : given) {
    for (void* line : some) {
      EXPECT_TRUE(all.insert(line).second);
      highest = std::max(highest, line_pool::number_of(line));
    }
  }
  // Each thread may have made a slab that another one did as well, and keeps less than a group.
  EXPECT_LT(highest, (given.size() * (each + line_pool::group) / line_pool::lines_per_slab + given.size() + 1) * 1024);
}

TEST(line_pool, uses_every_line_of_a_slab_and_every_slab_of_a_block) {
  constexpr std::size_t blocks = 3;
  constexpr std::size_t slabs = blocks * line_pool::block_bytes / line_pool::slab_bytes;
  line_pool pool{nullptr};
  line_cache cache;
  std::set<std::uintptr_t> begins;
  for (std::size_t n = 0; n < slabs * line_pool::lines_per_slab; ++n) {
    void* const line = pool.allocate(cache);
    EXPECT_LT(line_pool::number_of(line), slabs * (line_pool::lines_per_slab + 1));
    begins.insert(reinterpret_cast<std::uintptr_t>(line) / line_pool::slab_bytes);
  }
  EXPECT_EQ(begins.size(), slabs);
  const auto next_to_one = std::count_if(begins.begin(), begins.end(), [&](std::uintptr_t each) { return begins.contains(each + 1); });
  EXPECT_GE(static_cast<std::size_t>(next_to_one), slabs - blocks);
}

TEST(line_pool, visits_each_line_of_each_slab_once) {
  line_pool pool{nullptr};
  line_cache cache;
  std::set<void*> given;
  for (std::size_t n = 0; n < line_pool::lines_per_slab + 1; ++n) given.insert(pool.allocate(cache));
  std::set<void*> visited;
  pool.for_each_line([&](void* line) { EXPECT_TRUE(visited.insert(line).second); });
  EXPECT_EQ(visited.size() % line_pool::lines_per_slab, 0u);
  EXPECT_TRUE(std::includes(visited.begin(), visited.end(), given.begin(), given.end()));
}

TEST(line_pool, serves_threads_without_a_cache_and_gives_no_line_to_two_of_them) {
  line_pool pool{nullptr};
  std::vector<std::thread> threads;
  for (unsigned t = 1; t <= 4; ++t) {
    threads.emplace_back([&pool, t] {
      std::vector<unsigned*> held;
      for (unsigned n = 0; n < 20'000; ++n) {
        auto* const line = static_cast<unsigned*>(pool.allocate_shared());
        line[8] = t;  // a race, if another thread holds it
        held.push_back(line);
        if (held.size() == 200) {
          for (unsigned* each : held) {
            EXPECT_EQ(each[8], t);
            pool.release_shared(each);
          }
          held.clear();
        }
      }
      for (unsigned* each : held) pool.release_shared(each);
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace tartan::detail
