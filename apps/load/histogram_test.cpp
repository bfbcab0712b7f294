#include "load/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "load/random.h"

namespace load {
namespace {

/// What is read back of one value: a longer one keeps the middle of its bucket from being cut.
std::uint64_t read_back(std::uint64_t ns) {
  histogram h;
  h.add(ns);
  h.add(~std::uint64_t{0});
  return h.quantile(0.5);
}

TEST(a_histogram, is_exact_below_256_nanoseconds) {
  for (std::uint64_t ns = 0; ns < 256; ++ns) EXPECT_EQ(read_back(ns), ns);
}

TEST(a_histogram, reads_back_any_time_less_than_one_percent_beside_it) {
  for (double wanted = 1; wanted < 2e14; wanted *= 1.0017) {
    const auto ns = static_cast<std::uint64_t>(wanted);
    const auto exact = static_cast<double>(ns);
    EXPECT_LT(std::abs(static_cast<double>(read_back(ns)) - exact), 0.01 * exact + 0.5) << ns;
  }
}

TEST(a_histogram, knows_powers_of_two_and_their_neighbors) {
  for (unsigned bit = 8; bit < 48; ++bit) {
    for (const std::uint64_t ns : {(std::uint64_t{1} << bit) - 1, std::uint64_t{1} << bit, (std::uint64_t{1} << bit) + 1}) {
      const auto exact = static_cast<double>(ns);
      EXPECT_LT(std::abs(static_cast<double>(read_back(ns)) - exact), 0.01 * exact) << ns;
    }
  }
}

TEST(a_histogram, gives_the_time_that_a_share_took_at_most) {
  histogram h;
  for (std::uint64_t n = 1; n <= 1000; ++n) h.add(n * 1000);
  EXPECT_EQ(h.count(), 1000u);
  EXPECT_EQ(h.max(), 1'000'000u);
  EXPECT_DOUBLE_EQ(h.mean(), 500'500.0);
  EXPECT_NEAR(static_cast<double>(h.quantile(0.5)), 500e3, 5e3);
  EXPECT_NEAR(static_cast<double>(h.quantile(0.99)), 990e3, 9.9e3);
  EXPECT_NEAR(static_cast<double>(h.quantile(0.001)), 1e3, 10);
  EXPECT_EQ(h.quantile(1), 1'000'000u);
}

TEST(a_histogram, with_nothing_in_it_says_nothing) {
  const histogram h;
  EXPECT_EQ(h.quantile(0.99), 0u);
  EXPECT_EQ(h.mean(), 0);
  EXPECT_EQ(h.max(), 0u);
}

TEST(a_histogram, never_gives_more_than_the_longest) {
  histogram h;
  h.add(1025);
  EXPECT_EQ(h.quantile(0.5), 1025u);
}

TEST(a_histogram, counts_what_is_too_long_as_the_longest_it_knows) {
  histogram h;
  h.add(~std::uint64_t{0});
  EXPECT_EQ(h.count(), 1u);
  EXPECT_EQ(h.max(), (std::uint64_t{1} << 48) - 1);
}

histogram sample(std::uint64_t seed) {
  histogram h;
  random_source from{seed};
  for (int n = 0; n < 5000; ++n) h.add(from.below(std::uint64_t{1} << (n % 40)));
  return h;
}

TEST(a_histogram, that_is_added_to_another_counts_as_if_its_times_had_been_added) {
  histogram together = sample(1);
  together.add(sample(2));
  histogram one_by_one = sample(1);
  random_source from{2};
  for (int n = 0; n < 5000; ++n) one_by_one.add(from.below(std::uint64_t{1} << (n % 40)));
  EXPECT_EQ(together.to_text(), one_by_one.to_text());
  EXPECT_EQ(together.count(), 10'000u);
}

TEST(a_histogram, comes_back_from_its_text) {
  const histogram h = sample(3);
  const auto read = histogram::parse(h.to_text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->to_text(), h.to_text());
  EXPECT_EQ(read->count(), h.count());
  EXPECT_EQ(read->quantile(0.9), h.quantile(0.9));
  EXPECT_DOUBLE_EQ(read->mean(), h.mean());
}

TEST(a_histogram, refuses_a_text_that_is_none) {
  for (const char* const text : {"", "1", "1:", "1:2 ", "1:2 3", "1:2 3:", "1:2  3:4", "1:2 x:4", "1:2 3:4x", "1:2 999999:1", "1:2,3:4"}) {
    EXPECT_FALSE(histogram::parse(text)) << text;
  }
  EXPECT_TRUE(histogram::parse("0:0"));
}

}  // namespace
}  // namespace load
