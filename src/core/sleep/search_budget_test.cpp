#include "core/sleep/search_budget.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tartan::detail {
namespace {

constexpr std::uint64_t begin_ns = 1'000'000'000;

TEST(a_search_budget, is_halved_by_each_search_in_vain_down_to_one_look) {
  search_budget searches;
  EXPECT_EQ(searches.now_ns(), search_ns);
  for (std::uint64_t expected = search_ns / 2; expected > 1'000; expected /= 2) {
    searches.in_vain(begin_ns);
    EXPECT_EQ(searches.now_ns(), expected);
  }
  for (int n = 0; n < 100; ++n) searches.in_vain(begin_ns);
  EXPECT_EQ(searches.now_ns(), 1'000u);
}

TEST(a_search_budget, comes_back_whole_after_a_sleep_that_was_over_before_the_search_would_have_been) {
  search_budget searches;
  for (int n = 0; n < 10; ++n) searches.in_vain(begin_ns);
  searches.has_slept(begin_ns + search_ns);
  EXPECT_EQ(searches.now_ns(), 1'000u) << "too late";
  searches.in_vain(begin_ns);
  searches.has_slept(begin_ns + search_ns - 1);
  EXPECT_EQ(searches.now_ns(), search_ns);
}

TEST(a_search_budget, does_not_come_back_after_a_sleep_that_no_search_in_vain_preceded) {
  search_budget searches;
  searches.in_vain(begin_ns);
  searches.found();
  searches.has_slept(begin_ns + 1);
  EXPECT_EQ(searches.now_ns(), search_ns / 2) << "the last search was not in vain";
  searches.in_vain(begin_ns);
  searches.has_slept(begin_ns + search_ns);
  searches.has_slept(begin_ns + 1);
  EXPECT_EQ(searches.now_ns(), search_ns / 4) << "of an earlier sleep";
}

}  // namespace
}  // namespace tartan::detail
