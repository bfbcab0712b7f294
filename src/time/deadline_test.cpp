#include <gtest/gtest.h>
#include <tartan/time/deadline.h>

#include <limits>

namespace tartan::detail {
namespace {

using namespace std::chrono_literals;

TEST(deadline, converts_durations_of_any_unit) {
  EXPECT_EQ(saturated_ns(7ns), 7u);
  EXPECT_EQ(saturated_ns(7ms), 7'000'000u);
  EXPECT_EQ(saturated_ns(7h), 7u * 3'600'000'000'000u);
  EXPECT_EQ(saturated_ns(std::chrono::duration<int, std::ratio<1, 3>>{1}), 333'333'334u);
}

TEST(deadline, rounds_parts_of_a_nanosecond_up) {
  EXPECT_EQ(saturated_ns(std::chrono::duration<long, std::pico>{1}), 1u);
  EXPECT_EQ(saturated_ns(std::chrono::duration<long, std::pico>{1000}), 1u);
  EXPECT_EQ(saturated_ns(std::chrono::duration<long, std::pico>{1001}), 2u);
  EXPECT_EQ(saturated_ns(std::chrono::duration<double, std::nano>{1.25}), 2u);
  EXPECT_EQ(saturated_ns(std::chrono::duration<double>{0.5}), 500'000'000u);
}

TEST(deadline, takes_negative_durations_and_no_numbers_for_zero) {
  EXPECT_EQ(saturated_ns(-1s), 0u);
  EXPECT_EQ(saturated_ns(0s), 0u);
  EXPECT_EQ(saturated_ns(std::chrono::hours::min()), 0u);
  EXPECT_EQ(saturated_ns(std::chrono::duration<double>{-0.1}), 0u);
  EXPECT_EQ(saturated_ns(std::chrono::duration<double>{std::numeric_limits<double>::quiet_NaN()}), 0u);
}

TEST(deadline, saturates_what_is_too_long) {
  EXPECT_EQ(saturated_ns(std::chrono::hours::max()), latest_deadline_ns);
  EXPECT_EQ(saturated_ns(std::chrono::nanoseconds::max()), latest_deadline_ns);
  EXPECT_EQ(saturated_ns(std::chrono::duration<std::uint64_t, std::giga>{~std::uint64_t{0}}), latest_deadline_ns);
  EXPECT_EQ(saturated_ns(std::chrono::duration<double>{std::numeric_limits<double>::infinity()}), latest_deadline_ns);
  EXPECT_EQ(saturated_ns(std::chrono::steady_clock::time_point::max()), latest_deadline_ns);
}

TEST(deadline, adds_without_overflow) {
  EXPECT_EQ(saturated_deadline_ns(5, 6), 11u);
  EXPECT_EQ(saturated_deadline_ns(5, latest_deadline_ns), latest_deadline_ns);
  EXPECT_EQ(saturated_deadline_ns(latest_deadline_ns, 1), latest_deadline_ns);
  EXPECT_EQ(saturated_deadline_ns(~std::uint64_t{0}, ~std::uint64_t{0}), latest_deadline_ns);
}

static_assert(saturated_ns(1us) == 1000);

}  // namespace
}  // namespace tartan::detail
