#include <tartan/http/forwarded_for.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tartan::http {
namespace {

/// By these lines, "" if there is none.
std::string client_of(const std::string& lines) {
  const std::vector<ip_range> trusted{*ip_range::parse("10.0.0.0/8"), *ip_range::parse("2001:db8::/32")};
  const auto found = forwarded_client(header_lines{lines}, trusted);
  return found ? found->to_string() : "";
}

TEST(forwarded_client, is_the_last_that_is_no_trusted_proxy) {
  EXPECT_EQ(client_of("X-Forwarded-For: 192.0.2.1\r\n"), "192.0.2.1");
  EXPECT_EQ(client_of("X-Forwarded-For: 192.0.2.9, 192.0.2.1, 10.0.0.2\r\n"), "192.0.2.1");
  EXPECT_EQ(client_of("X-Forwarded-For: 192.0.2.9,192.0.2.1 ,\t10.0.0.2,2001:db8::1\r\n"), "192.0.2.1");
  EXPECT_EQ(client_of("x-forwarded-for: 192.0.2.9\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 10.1.1.1\r\n"), "192.0.2.1");
}

TEST(forwarded_client, is_the_first_if_all_are_trusted) {
  EXPECT_EQ(client_of("X-Forwarded-For: 10.0.0.1, 10.0.0.2\r\n"), "10.0.0.1");
}

TEST(forwarded_client, may_have_a_port) {
  EXPECT_EQ(client_of("X-Forwarded-For: 192.0.2.1:4711, [2001:db8::1]:80\r\n"), "192.0.2.1");
  EXPECT_EQ(client_of("X-Forwarded-For: [2001:db9::1]\r\n"), "2001:db9::1");
  EXPECT_EQ(client_of("X-Forwarded-For: 2001:db9::1\r\n"), "2001:db9::1");
}

TEST(forwarded_client, is_not_made_up_of_what_stands_before_something_else) {
  EXPECT_EQ(client_of(""), "");
  EXPECT_EQ(client_of("X-Forwarded-For:\r\n"), "");
  EXPECT_EQ(client_of("X-Forwarded-For: 192.0.2.1, unknown\r\n"), "");
  EXPECT_EQ(client_of("X-Forwarded-For: 192.0.2.1, unknown, 10.0.0.1\r\n"), "");
  EXPECT_EQ(client_of("X-Forwarded-For: 192.0.2.1, [::1\r\n"), "");
  EXPECT_EQ(client_of("X-Forwarded-For: 192.0.2.1, [::1]x\r\n"), "");
  EXPECT_EQ(client_of("X-Forwarded-For: unknown, 192.0.2.1\r\n"), "192.0.2.1");
  EXPECT_EQ(client_of("X-Forwarded-For: 192.0.2.1,, \r\n"), "192.0.2.1");
}

}  // namespace
}  // namespace tartan::http
