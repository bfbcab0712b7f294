#include <tartan/http/date.h>

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/seed.h"

namespace tartan::http {
namespace {

TEST(date, is_written_as_the_standard_has_it) {
  EXPECT_EQ(format_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(format_date(951782400), "Tue, 29 Feb 2000 00:00:00 GMT");
  EXPECT_EQ(format_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST(date, is_read_in_the_three_forms_that_there_have_been) {
  for (const char* form :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(parse_date(form), 784111777) << form;
  }
}

TEST(date, is_read_as_it_is_written) {
  std::mt19937_64 random{tartan::test::seed()};
  std::uniform_int_distribution<std::time_t> any{-62'135'596'800, 253'402'300'799};  // of four digits
  for (int n = 0; n < 1000; ++n) {
    const std::time_t at = any(random);
    EXPECT_EQ(parse_date(format_date(at)), at) << format_date(at);
  }
}

TEST(date, has_a_year_of_two_digits_that_is_near) {
  const std::time_t now = std::time(nullptr);
  for (const int years : {-49, 0, 49}) {
    std::tm t{};
    ::gmtime_r(&now, &t);
    t.tm_year += years;
    t.tm_mday = 1;
    std::string text = "Sunday, 01-Jan-";
    text += std::to_string(t.tm_year / 10 % 10) + std::to_string(t.tm_year % 10) + " 00:00:00 GMT";
    const auto read = parse_date(text);
    ASSERT_TRUE(read) << text;
    std::tm found{};
    ::gmtime_r(&*read, &found);
    EXPECT_EQ(found.tm_year, t.tm_year) << text;
  }
}

TEST(date, may_end_with_a_leap_second) {
  EXPECT_EQ(parse_date("Sat, 31 Dec 2016 23:59:60 GMT"), 1'483'228'800);
  EXPECT_EQ(parse_date("Sun, 01 Jan 2017 00:00:00 GMT"), 1'483'228'800);
}

TEST(date, is_nothing_else) {
  for (const char* text :
       {"", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 31 Jun 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94", "784111777",
        "Sun, 06 Nov -994 08:49:37 GMT", ", 06 Nov 1994 08:49:37 GMT"}) {
    EXPECT_FALSE(parse_date(text)) << text;
  }
}

}  // namespace
}  // namespace tartan::http
