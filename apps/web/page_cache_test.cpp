#include "web/page_cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "tests/web/failing_memory.h"

namespace web {
namespace {

shared_page page_of(std::size_t bytes, std::uint64_t number = 0) {
  page made;
  made.body = page_body{std::string(bytes, 'x')};
  made.version.number = number;
  return std::make_shared<const page>(std::move(made));
}

std::string path_of(int n) { return "/a/path/that/is/longer/than/a/small/string/" + std::to_string(n); }

TEST(page_cache, finds_what_was_put) {
  page_cache cache{{}};
  EXPECT_EQ(cache.find("/a"), nullptr);
  cache.put("/a", page_of(10, 1), {});
  cache.put("/b", page_of(10, 2), {});
  ASSERT_NE(cache.find("/a"), nullptr);
  EXPECT_EQ(cache.find("/a")->content->version.number, 1u);
  EXPECT_EQ(cache.find("/b")->content->version.number, 2u);
}

TEST(page_cache, has_the_last_page_of_a_path) {
  page_cache cache{{}};
  cache.put("/a", page_of(10, 1), {});
  const std::size_t bytes = cache.bytes();
  cache.put("/a", page_of(10, 2), {});
  EXPECT_EQ(cache.find("/a")->content->version.number, 2u);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(cache.bytes(), bytes);
}

TEST(page_cache, counts_the_last_check_of_the_same_page) {
  using namespace std::chrono_literals;
  page_cache cache{{}};
  const shared_page same = page_of(10, 1);
  cache.put("/a", same, page_cache::time{2s});
  cache.find("/a")->asked = page_cache::time{3s};
  for (const auto checked : {4s, 1s}) {
    cache.put("/a", same, page_cache::time{checked});
    EXPECT_EQ(cache.find("/a")->checked, page_cache::time{4s});
    EXPECT_EQ(cache.find("/a")->asked, page_cache::time{3s});
  }
  cache.put("/a", page_of(10, 2), page_cache::time{3s});
  EXPECT_EQ(cache.find("/a")->content, same) << "an older state";
  cache.put("/a", page_of(10, 2), page_cache::time{4s});
  EXPECT_EQ(cache.find("/a")->content->version.number, 2u);
}

TEST(page_cache, has_nothing_of_what_was_dropped) {
  page_cache cache{{}};
  cache.put("/a", page_of(10), {});
  cache.drop("/a");
  cache.drop("/b");
  EXPECT_EQ(cache.find("/a"), nullptr);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(page_cache, makes_room_for_new_entries_by_those_not_asked_for) {
  page_cache cache{{.bytes = 1 << 20, .entries = 3}};
  for (int n = 0; n < 3; ++n) cache.put(path_of(n), page_of(10), {});
  EXPECT_NE(cache.find(path_of(0)), nullptr);
  cache.put(path_of(3), page_of(10), {});
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_NE(cache.find(path_of(0)), nullptr);
  EXPECT_EQ(cache.find(path_of(1)), nullptr);
  EXPECT_NE(cache.find(path_of(2)), nullptr);
}

TEST(page_cache, makes_room_by_a_page_that_was_asked_for_long_ago) {
  page_cache cache{{.bytes = 1 << 20, .entries = 3}};
  for (int n = 0; n < 3; ++n) cache.put(path_of(n), page_of(10), {});
  for (int n = 0; n < 3; ++n) EXPECT_NE(cache.find(path_of(n)), nullptr);
  for (int n = 3; n < 9; ++n) cache.put(path_of(n), page_of(10), {});
  for (int n = 0; n < 6; ++n) EXPECT_EQ(cache.find(path_of(n)), nullptr) << n;
  EXPECT_EQ(cache.size(), 3u);
}

/// Else what the library looks at for its own sake would stay for ever.
TEST(page_cache, makes_room_by_a_page_that_was_looked_at_or_put_again) {
  page_cache cache{{.bytes = 1 << 20, .entries = 3}};
  const shared_page first = page_of(10);
  cache.put(path_of(0), first, {});
  cache.put(path_of(1), page_of(10), {});
  cache.put(path_of(2), page_of(10), {});
  cache.put(path_of(0), first, {});
  ASSERT_NE(cache.look(path_of(0)), nullptr);
  EXPECT_EQ(cache.look(path_of(0))->content, first);
  EXPECT_EQ(cache.look("/none"), nullptr);
  cache.put(path_of(3), page_of(10), {});
  EXPECT_EQ(cache.look(path_of(0)), nullptr);
}

TEST(page_cache, passes_over_sixteen_pages_at_most) {
  page_cache cache{{.bytes = 1 << 20, .entries = 30}};
  for (int n = 0; n < 30; ++n) {
    cache.put(path_of(n), page_of(10), {});
    EXPECT_NE(cache.find(path_of(n)), nullptr);
  }
  cache.put(path_of(30), page_of(10), {});
  EXPECT_EQ(cache.size(), 30u);
  EXPECT_EQ(cache.find(path_of(16)), nullptr);
}

TEST(page_cache, makes_room_by_bytes_though_all_were_found) {
  page_cache cache{{.bytes = 20'000, .entries = 30}};
  for (int n = 0; n < 10; ++n) {
    cache.put(path_of(n), page_of(1000), {});
    EXPECT_NE(cache.find(path_of(n)), nullptr);
  }
  cache.put(path_of(10), page_of(15'000), {});
  EXPECT_NE(cache.find(path_of(10)), nullptr);
  EXPECT_LE(cache.bytes(), 20'000u);
}

TEST(page_cache, stays_within_its_bytes) {
  constexpr std::size_t most = 100'000;
  page_cache cache{{.bytes = most, .entries = 1000}};
  for (int n = 0; n < 100; ++n) {
    cache.put(path_of(n), page_of(static_cast<std::size_t>(n) * 100), {});
    EXPECT_LE(cache.bytes(), most);
    EXPECT_NE(cache.find(path_of(n)), nullptr);
  }
  EXPECT_GT(cache.size(), 5u);
}

TEST(page_cache, keeps_no_page_that_is_too_large_and_loses_none_to_it) {
  page_cache cache{{.bytes = 1000, .entries = 10}};
  cache.put("/a", page_of(100), {});
  cache.put("/b", page_of(2000), {});
  EXPECT_EQ(cache.find("/b"), nullptr);
  EXPECT_NE(cache.find("/a"), nullptr);
  cache.put("/a", page_of(2000), {});
  EXPECT_EQ(cache.find("/a"), nullptr) << "the old one";
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(page_cache, without_entries_keeps_nothing) {
  page_cache cache{{.bytes = 1000, .entries = 0}};
  cache.put("/a", page_of(1), {});
  EXPECT_EQ(cache.find("/a"), nullptr);
}

/// Whether there was memory for it, but for the allocation behind so many others.
bool is_put(page_cache& into, std::string_view path, const shared_page& content, std::size_t others) {
  const test::failing_memory fails{{}, others};
  try {
    into.put(path, content, {});
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

TEST(page_cache, without_memory_for_a_page_goes_on_with_the_others) {
  constexpr std::size_t most = 10'000;
  std::size_t failed = 0;
  for (bool put = false; !put; ++failed) {
    page_cache cache{{.bytes = most, .entries = 5}};
    cache.put(path_of(0), page_of(10, 1), {});
    const std::size_t bytes = cache.bytes();
    put = is_put(cache, path_of(1), page_of(5000), failed);
    EXPECT_EQ(cache.find(path_of(1)) != nullptr, put);
    EXPECT_EQ(cache.size(), put ? 2u : 1u);
    EXPECT_EQ(cache.bytes() == bytes, !put);
    for (int n = 2; n < 10; ++n) {
      cache.put(path_of(n), page_of(10), {});
      ASSERT_LE(cache.bytes(), most) << n;
      ASSERT_NE(cache.find(path_of(n)), nullptr) << n;
    }
    EXPECT_EQ(cache.size(), 5u);
    for (int n = 0; n < 10; ++n) cache.drop(path_of(n));
    EXPECT_EQ(cache.bytes(), 0u) << "nothing is kept that cannot be found";
  }
  EXPECT_GT(failed, 3u) << "the path, its node, and that of the index";
}

}  // namespace
}  // namespace web
