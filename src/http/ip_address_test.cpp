#include <tartan/http/ip_address.h>

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace tartan::http {
namespace {

TEST(ip_address, is_written_in_its_shortest_form) {
  for (const auto& [text, written] : {std::pair{"192.0.2.1", "192.0.2.1"},
                                      {"::ffff:192.0.2.1", "192.0.2.1"},
                                      {"2001:DB8:0:0::1", "2001:db8::1"},
                                      {"::", "::"},
                                      {"::1", "::1"}}) {
    const auto one = ip_address::parse(text);
    ASSERT_TRUE(one) << text;
    EXPECT_EQ(one->to_string(), written);
    EXPECT_EQ(one->is_ipv4(), std::string{written}.find(':') == std::string::npos);
  }
}

TEST(ip_address, is_refused_with_anything_beside_it) {
  for (const char* const text : {"", "192.0.2", "192.0.2.1:80", "192.0.2.256", "192.0.2.01", " 192.0.2.1",
                                "[::1]", "::1%eth0", "1:2:3:4:5:6:7:8:9", "localhost"}) {
    EXPECT_FALSE(ip_address::parse(text)) << text;
  }
  EXPECT_FALSE(ip_address::parse(std::string(1000, '1')));
  EXPECT_FALSE(ip_address::parse(std::string_view{"192.0.2.1\0", 10}));
}

TEST(ip_range, has_what_begins_with_its_bits) {
  struct membership {
    const char* range;
    const char* inside;
    const char* outside;
  };
  for (const membership& each : {membership{"10.0.0.0/8", "10.255.0.1", "11.0.0.0"},
                                 {"192.0.2.128/25", "192.0.2.255", "192.0.2.127"},
                                 {"192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"},
                                 {"0.0.0.0/0", "255.1.2.3", "::1"},
                                 {"2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"},
                                 {"::1/128", "::1", "::2"},
                                 {"::/0", "192.0.2.1", nullptr}}) {
    const auto range = ip_range::parse(each.range);
    ASSERT_TRUE(range) << each.range;
    EXPECT_TRUE(range->contains(*ip_address::parse(each.inside))) << each.range;
    if (each.outside == nullptr) continue;
    EXPECT_FALSE(range->contains(*ip_address::parse(each.outside))) << each.range;
  }
}

TEST(ip_range, is_refused_with_bits_behind_its_prefix) {
  for (const char* const text : {"10.0.0.1/8", "192.0.2.1/31", "2001:db8::1/64", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/08", "10.0.0.0/+8", "/8", "",
                                 "10.0.0.0/8/8", "10.0.0.0/-1"}) {
    EXPECT_FALSE(ip_range::parse(text)) << text;
  }
}

}  // namespace
}  // namespace tartan::http
