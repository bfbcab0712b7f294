#include "url.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace load {
namespace {

TEST(a_url, has_a_host_a_port_and_a_path) {
  const url read = parse_url("http://127.0.0.1:8080/a/b?c=d");
  EXPECT_EQ(read.host, "127.0.0.1:8080");
  EXPECT_EQ(read.path, "/a/b?c=d");
  EXPECT_EQ(read.at.to_string(), "127.0.0.1:8080");
}

TEST(a_url, may_leave_port_and_path_out) {
  const url read = parse_url("http://127.0.0.1");
  EXPECT_EQ(read.host, "127.0.0.1");
  EXPECT_EQ(read.path, "/");
  EXPECT_EQ(read.at.to_string(), "127.0.0.1:80");
}

TEST(a_url, may_have_an_ipv6_address_or_a_name) {
  const url read = parse_url("http://[::1]:81/");
  EXPECT_EQ(read.host, "[::1]:81");
  EXPECT_EQ(read.at.to_string(), "[::1]:81");
  EXPECT_EQ(parse_url("http://[::1]/").at.port(), 80);
  EXPECT_TRUE(parse_url("http://localhost:82/").at.is_ip());
}

TEST(what_is_no_url, is_not_taken_for_one) {
  for (const char* const text : {"", "127.0.0.1:80", "https://127.0.0.1/", "http://", "http:///x", "http://127.0.0.1:/", "http://127.0.0.1:x/",
                                 "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y", "http://127.0.0.256/"}) {
    EXPECT_THROW(static_cast<void>(parse_url(text)), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace load
