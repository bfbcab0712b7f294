#include "dns/host_name.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tartan::detail {
namespace {

using names = std::vector<std::string>;

TEST(host_names, have_limits_on_bytes_and_labels) {
  for (const char* const good : {"a", "a.b", "xn--caf-dma.example", "_imap._tcp.example", "1and1.com", "a-b.c"})
    EXPECT_TRUE(is_host_name(good)) << good;
  for (const char* const bad : {"", ".", "a.", ".a", "a..b", "a b", "a/b", "a:b", "a\\b", "caf\xc3\xa9", "a\nb"})
    EXPECT_FALSE(is_host_name(bad)) << bad;
  EXPECT_TRUE(is_host_name(std::string(63, 'a')));
  EXPECT_FALSE(is_host_name(std::string(64, 'a')));
  std::string longest;
  for (int n = 0; n < 126; ++n) longest += "a.";
  longest += "a";
  EXPECT_EQ(longest.size(), 253u);
  EXPECT_TRUE(is_host_name(longest));
  EXPECT_FALSE(is_host_name(longest + "a"));
}

TEST(host_names, are_compared_without_case) {
  EXPECT_TRUE(same_name("Example.ORG", "eXample.org"));
  EXPECT_FALSE(same_name("example.org", "example.or"));
  EXPECT_FALSE(same_name("example[org", "example{org"));
  EXPECT_TRUE(is_within("a.localhost", "LOCALHOST"));
  EXPECT_TRUE(is_within("localhost", "localhost"));
  EXPECT_FALSE(is_within("notlocalhost", "localhost"));
  EXPECT_FALSE(is_within("host", "localhost"));
}

TEST(host_names, that_look_like_numbers_are_addresses_or_nothing) {
  EXPECT_EQ(numeric_host("192.0.2.1").value().to_string(), "192.0.2.1:0");
  EXPECT_EQ(numeric_host("::1").value().to_string(), "[::1]:0");
  for (const char* const nothing :
       {"", "*", "a.b", "256.1.1.1", "1.2.3", "1.2.3.4:5", "[::1]", "::1]:80", "1", "0x7f.1"}) {
    EXPECT_FALSE(numeric_host(nothing)) << nothing;
  }
  EXPECT_TRUE(looks_numeric("1.2.3"));
  EXPECT_TRUE(looks_numeric("a:b"));
  EXPECT_FALSE(looks_numeric("1.2.3.a4"));
  EXPECT_FALSE(numeric_host(std::string_view{"127.0.0.1\0.5", 12}));
  EXPECT_FALSE(numeric_host(std::string_view{"::1\0x", 5}));
}

TEST(search_lists, come_before_or_behind_the_name_as_it_is) {
  EXPECT_EQ(search_candidates("a", {"x", "y.z"}, 1), (names{"a.x", "a.y.z", "a"}));
  EXPECT_EQ(search_candidates("a.b", {"x"}, 1), (names{"a.b", "a.b.x"}));
  EXPECT_EQ(search_candidates("a.b", {"x"}, 2), (names{"a.b.x", "a.b"}));
  EXPECT_EQ(search_candidates("a", {"x"}, 0), (names{"a", "a.x"}));
  EXPECT_EQ(search_candidates("a.", {"x"}, 5), (names{"a"}));
  EXPECT_EQ(search_candidates("a b", {"x"}, 1), names{});
  const std::string long_name = std::string(60, 'a') + "." + std::string(60, 'b');
  const std::string long_domain = std::string(63, 'c') + "." + std::string(63, 'd') + "." + std::string(9, 'e');
  EXPECT_EQ(search_candidates(long_name, {long_domain}, 5), (names{long_name}))
      << "one that would be too long is left out";
}

TEST(reverse_names, of_mapped_addresses_are_those_of_ipv4) {
  EXPECT_EQ(without_mapping(address::parse("[::ffff:192.0.2.1]:80").value()), address::parse("192.0.2.1:80").value());
  for (const char* const other : {"[::1]:80", "192.0.2.1:80", "unix:/x"}) {
    EXPECT_EQ(without_mapping(address::parse(other).value()), address::parse(other).value()) << other;
  }
}

TEST(reverse_names, are_those_of_both_families) {
  EXPECT_EQ(reverse_name(address::parse("192.0.2.254:80").value()), "254.2.0.192.in-addr.arpa");
  EXPECT_EQ(reverse_name(address::parse("[2001:db8::1f]:80").value()),
            "f.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa");
  EXPECT_EQ(reverse_name(address::unix_path("/x").value()), "");
}

}  // namespace
}  // namespace tartan::detail
