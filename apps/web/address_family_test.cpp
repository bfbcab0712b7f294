#include "web/address_family.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace web {
namespace {

TEST(address_family, an_ipv6_address_has_one_of_ipv4_beside_it_at_its_port_alone) {
  struct {
    std::string one;
    std::vector<std::string> all;
    bool has;
  } const cases[] = {
      {"[::]:80", {":80", "[::]:80"}, true},
      {"[::]:80", {"[::]:80", "127.0.0.1:80"}, true},
      {"[::1]:80", {"*:80"}, true},
      {"[::]:80", {"[::ffff:192.0.2.1]:80"}, true},
      {"[::]:80", {"[::]:80"}, false},
      {"[::]:80", {}, false},
      {"[::]:80", {":81", "[::1]:80", "unix:/run/x", "nonsense"}, false},
      {"[::]:0", {":0"}, false},
      {":80", {":80", "[::]:80"}, false},
      {"[::ffff:192.0.2.1]:80", {":80"}, false},
      {"nonsense", {":80"}, false},
  };
  for (const auto& each : cases) EXPECT_EQ(has_ipv4_beside(each.one, each.all), each.has) << each.one;
}

TEST(address_family, a_port_beyond_65535_is_named_as_what_is_wrong) {
  EXPECT_EQ(why_no_address("127.0.0.1:65535"), "");
  EXPECT_EQ(why_no_address("127.0.0.1:65616"), "'127.0.0.1:65616': port 65616 is above 65535, the highest port");
  EXPECT_EQ(why_no_address("[::1]:99999999999"),
            "'[::1]:99999999999': port 99999999999 is above 65535, the highest port");
  for (const char* const text : {"99999", "127.0.0.1:http", "127.0.0.1:", "localhost:80", "unix:/run/x", ""}) {
    EXPECT_EQ(why_no_address(text),
              "'" + std::string{text} + "' is no address: expected something like 127.0.0.1:80 or [::1]:80");
  }
}

TEST(address_family, hosts_are_told_without_port_and_ipv4_as_such) {
  struct {
    const char* at;
    const char* host;
  } const cases[] = {
      {"192.0.2.1:80", "192.0.2.1"},
      {"[::ffff:192.0.2.1]:80", "192.0.2.1"},
      {"[::1]:80", "::1"},
      {"[::ffff:0:1:2]:80", "::ffff:0:1:2"},
      {"[2001:db8::ffff:1]:80", "2001:db8::ffff:1"},
      {"unix:/run/x", "unix:/run/x"},
  };
  for (const auto& each : cases) EXPECT_EQ(host_text(*tartan::address::parse(each.at)), each.host);
  EXPECT_EQ(host_text(tartan::address{}), "");
}

}  // namespace
}  // namespace web
