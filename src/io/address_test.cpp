#include <tartan/io/address.h>

#include <gtest/gtest.h>

#include <string>
#include <system_error>

namespace tartan {
namespace {

TEST(address, takes_every_port_and_no_more) {
  EXPECT_EQ(address::parse("127.0.0.1:0")->port(), 0);
  EXPECT_EQ(address::parse("127.0.0.1:65535")->port(), 65535);
  EXPECT_EQ(address::parse("[::1]:65535")->port(), 65535);
  EXPECT_EQ(address::parse(":00080")->port(), 80);
}

TEST(address, refuses_a_port_beyond_65535_and_does_not_let_it_wrap_around) {
  for (const std::string host : {"127.0.0.1", "", "*", "[::1]", "[fe80::1%1]"}) {
    for (const char* const port : {"65536", "65616", "4294967376", "18446744073709551696", "99999999999999999999999"}) {
      EXPECT_EQ(address::parse(host + ":" + port).error(), std::errc::invalid_argument) << host << ':' << port;
    }
  }
}

TEST(address, refuses_a_port_that_is_not_made_of_digits_alone) {
  for (const char* const port : {"", "+80", "-1", " 80", "80 ", "0x50", "http"}) {
    EXPECT_EQ(address::parse(std::string{"127.0.0.1:"} + port).error(), std::errc::invalid_argument) << port;
  }
}

}  // namespace
}  // namespace tartan
