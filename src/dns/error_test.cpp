#include <gtest/gtest.h>
#include <tartan/dns/error.h>

#include <set>
#include <string>

namespace tartan {
namespace {

TEST(dns_errors, have_a_text_each_and_the_category_dns) {
  std::set<std::string> texts;
  for (int value = 1; value <= static_cast<int>(dns::errc::too_many_records); ++value) {
    const std::error_code error = static_cast<dns::errc>(value);
    EXPECT_STREQ(error.category().name(), "dns");
    EXPECT_EQ(error.message().find("unknown"), std::string::npos) << value;
    texts.insert(error.message());
  }
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(dns::errc::too_many_records));
  EXPECT_EQ(std::error_code(99, dns::error_category()).message(), "unknown error 99");
}

TEST(dns_errors, are_what_the_standard_library_calls_them) {
  EXPECT_EQ(make_error_code(dns::errc::timed_out), std::errc::timed_out);
  EXPECT_EQ(make_error_code(dns::errc::malformed), std::errc::bad_message);
  EXPECT_EQ(make_error_code(dns::errc::invalid_name), std::errc::invalid_argument);
  EXPECT_NE(make_error_code(dns::errc::refused), std::errc::invalid_argument);
}

}  // namespace
}  // namespace tartan
