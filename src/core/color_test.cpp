#include <tartan/core/color.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <unordered_set>

namespace tartan {
namespace {

enum class department : std::uint16_t { sales = 3, support = 9 };

constexpr std::uint64_t half = std::uint64_t{1} << 63;

TEST(color, is_a_number_or_an_enumerator) {
  EXPECT_EQ(color{7}.value(), 7u);
  EXPECT_EQ(color{department::support}.value(), 9u);
  EXPECT_EQ(color{half - 1}.value(), half - 1);
  EXPECT_EQ(color{std::int8_t{5}}, color{std::uint64_t{5}});
  EXPECT_NE(color{department::sales}, color{department::support});
  static_assert(color{1}.value() == 1);
}

TEST(color, is_the_default_color_when_nobody_chose_one) {
  EXPECT_EQ(color{}, color{0});
  EXPECT_EQ(color{}.value(), 0u);
}

TEST(color, of_a_key_is_never_the_default_color_nor_one_of_the_upper_half) {
  std::set<std::uint64_t> seen;
  for (int n = -500; n < 500; ++n) {
    const std::uint64_t value = color::of(n).value();
    EXPECT_NE(value, 0u);
    EXPECT_LT(value, half);
    seen.insert(value);
  }
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_EQ(color::of(std::string{"a"}), color::of(std::string{"a"}));
  EXPECT_NE(color::of(std::string{"a"}), color::of(std::string{"b"}));
}

TEST(color, keys_hashed_containers) {
  std::unordered_set<color> colors;
  for (unsigned n = 0; n < 100; ++n) colors.insert(color{n % 10});
  EXPECT_EQ(colors.size(), 10u);
}

TEST(color, unordered_equals_no_number_and_no_strand) {
  options with;
  with.workers = 1;
  runtime rt{with};
  const strand s{rt};
  EXPECT_GE(color::unordered.value(), half);
  EXPECT_GE(s.value().value(), half);
  EXPECT_NE(s.value(), color::unordered);
}

TEST(color_DeathTest, out_of_range_ends_the_program_with_the_place) {
  const volatile int negative = -1;
  const volatile std::uint64_t large = half;
  EXPECT_DEATH(static_cast<void>(color{negative}), "tartan: a color's number must be .*2\\^63 .*color_test.cpp:[0-9]+");
  EXPECT_DEATH(static_cast<void>(color{large}), "color's number.*color_test.cpp:[0-9]+");
  EXPECT_DEATH(static_cast<void>(color{std::numeric_limits<std::uint64_t>::max()}), "color's number");
}

void assert_in(color posted_to, color expected) {
  options with;
  with.workers = 1;
  runtime rt{with};
  rt.name(color{7}, "sessions");
  rt.post(posted_to, [expected] { expected.assert_here(); });
  rt.run_until_idle();
}

TEST(color_DeathTest, assert_here_lets_its_own_color_pass_and_ends_the_program_elsewhere_with_both_colors) {
  assert_in(color{7}, color{7});
  assert_in(color{}, color{});
  EXPECT_DEATH(assert_in(color{8}, color{7}),
               "assert_here: expected color 7 \"sessions\", but color 8 runs.*color_test.cpp:[0-9]+.*posted at "
               ".*color_test.cpp:[0-9]+");
  EXPECT_DEATH(assert_in(color{}, color{7}), "expected color 7 \"sessions\", but default color runs");
  EXPECT_DEATH(color{7}.assert_here(), "expected color 7, but no event runs on this thread .*color_test.cpp:[0-9]+");
}

void assert_in_strand(bool own) {
  options with;
  with.workers = 1;
  runtime rt{with};
  strand s{rt, "page cache"};
  strand other{rt, "another"};
  (own ? s : other).post([&] { s.assert_here(); });
  rt.run_until_idle();
}

TEST(color_DeathTest, assert_here_of_a_strand_names_it) {
  assert_in_strand(true);
  EXPECT_DEATH(assert_in_strand(false), "expected strand \"page cache\", but strand \"another\" runs");
}

}  // namespace
}  // namespace tartan
