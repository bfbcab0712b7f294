#include "load/url.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace load {
namespace {

/// Why it is refused, without the URL itself; empty if it is not refused.
std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_url(text));
  } catch (const std::invalid_argument& why) {
    const std::string all = why.what();
    return all.starts_with("'") ? all.substr(all.find("': ") + 3) : "does not begin with the URL: " + all;
  }
  return {};
}

TEST(a_url, has_a_host_a_port_a_path_and_a_query) {
  const url read = parse_url("http://127.0.0.1:8080/a/b?c=d");
  EXPECT_EQ(read.at, (place{"127.0.0.1", 8080}));
  EXPECT_EQ(read.host, "127.0.0.1:8080");
  EXPECT_EQ(read.path, "/a/b");
  EXPECT_EQ(read.query, "?c=d");
}

TEST(a_url, may_leave_port_and_path_out) {
  const url read = parse_url("http://server.example");
  EXPECT_EQ(read.at, (place{"server.example", 80}));
  EXPECT_EQ(read.host, "server.example");
  EXPECT_EQ(read.path, "/");
  EXPECT_EQ(read.query, "");
}

TEST(a_url, may_be_sealed) {
  const url read = parse_url("HTTPS://server.example/a");
  EXPECT_TRUE(read.is_sealed);
  EXPECT_EQ(read.at, (place{"server.example", 443}));
  EXPECT_EQ(read.host, "server.example");
  EXPECT_EQ(parse_url("https://a:8443").at.port, 8443);
  EXPECT_FALSE(parse_url("http://a:443").is_sealed);
}

TEST(a_url, may_have_an_empty_port_which_is_80) {
  EXPECT_EQ(parse_url("http://server.example:/a").at.port, 80);
  EXPECT_EQ(parse_url("http://server.example:/a").host, "server.example");
  EXPECT_EQ(parse_url("http://[::1]:").at, (place{"::1", 80}));
}

TEST(a_url, may_have_a_query_right_behind_the_host) {
  const url read = parse_url("http://127.0.0.1:81?a/b?c");
  EXPECT_EQ(read.at, (place{"127.0.0.1", 81}));
  EXPECT_EQ(read.host, "127.0.0.1:81");
  EXPECT_EQ(read.path, "/");
  EXPECT_EQ(read.query, "?a/b?c");
  EXPECT_EQ(parse_url("http://a?").query, "?") << "an empty query is not none (RFC 3986, 6.2.3)";
}

TEST(a_url, drops_its_fragment) {
  EXPECT_EQ(parse_url("http://a/b#c").path, "/b");
  EXPECT_EQ(parse_url("http://a/b?c#d?e").query, "?c");
  EXPECT_EQ(parse_url("http://a/b#c?d").query, "");
  EXPECT_EQ(parse_url("http://a:81#b/c@d:99999").at, (place{"a", 81}));
  EXPECT_EQ(parse_url("http://a#").path, "/");
}

TEST(a_url, has_a_scheme_in_letters_of_either_case) {
  EXPECT_EQ(parse_url("HTTP://a:81/B").path, "/B");
  EXPECT_EQ(parse_url("hTTp://A/").host, "A");
}

TEST(a_url, may_have_an_ipv6_address_in_brackets) {
  const url read = parse_url("http://[2001:db8::1]:81/");
  EXPECT_EQ(read.at, (place{"2001:db8::1", 81}));
  EXPECT_EQ(read.host, "[2001:db8::1]:81");
  EXPECT_EQ(parse_url("http://[::1]?a").at, (place{"::1", 80}));
  EXPECT_EQ(parse_url("http://[::ffff:127.0.0.1]/").host, "[::ffff:127.0.0.1]");
}

TEST(a_url, keeps_the_zone_of_an_ipv6_address_from_the_server) {
  const url read = parse_url("http://[fe80::1%25eth0]:81/");
  EXPECT_EQ(read.at, (place{"fe80::1%eth0", 81}));
  EXPECT_EQ(read.host, "[fe80::1]:81");
  EXPECT_EQ(refusal("http://[fe80::1%eth0]/"), "the zone of an IPv6 address is written as [fe80::1%25eth0]");
}

TEST(a_url, with_a_port_that_does_not_exist_is_refused) {
  EXPECT_EQ(refusal("http://127.0.0.1:65616/"), "port 65616 is above 65535, the highest port");
  EXPECT_EQ(refusal("http://[::1]:4294967376/"), "port 4294967376 is above 65535, the highest port");
  EXPECT_EQ(refusal("http://127.0.0.1:0/"), "port 0 cannot be connected to: ports are 1 to 65535");
  EXPECT_EQ(refusal("http://127.0.0.1:http/"), "port 'http' is not a number");
  EXPECT_EQ(parse_url("http://127.0.0.1:65535/").at.port, 65535);
  EXPECT_EQ(parse_url("http://127.0.0.1:00080/").host, "127.0.0.1:80");
}

TEST(a_url, with_user_information_is_refused) {
  for (const char* const text : {"http://me@127.0.0.1/", "http://me:secret@127.0.0.1:80/", "http://@127.0.0.1",
                                 "http://me@[::1]/", "http://a:80@b?c"}) {
    EXPECT_TRUE(refusal(text).starts_with("user information before '@' is not sent: remove it, and use --header"))
        << text;
  }
  EXPECT_EQ(parse_url("http://127.0.0.1/me@there?a@b").path, "/me@there") << "behind the host it means nothing";
}

TEST(a_url, of_another_scheme_is_refused) {
  constexpr std::string_view expected = "expected http://HOST:PORT/path or https://HOST:PORT/path";
  for (const char* const text :
       {"", "127.0.0.1:80", "ftp://a/", "http:/a", "http:a", "//a/", "http", " http://a/", "http//a/", "httpss://a/"}) {
    EXPECT_EQ(refusal(text), expected) << text;
  }
}

TEST(a_url, without_a_host_is_refused) {
  for (const char* const text : {"http://", "http:///x", "http://?x", "http://#x", "http://:80/"})
    EXPECT_EQ(refusal(text), "the host is missing") << text;
}

TEST(a_url, with_an_address_that_is_none_is_refused) {
  EXPECT_EQ(refusal("http://::1/"), "there is more than one ':': an IPv6 address stands in brackets, as [::1]:80");
  EXPECT_EQ(refusal("http://[::1/"), "']' is missing after the IPv6 address");
  EXPECT_EQ(refusal("http://[v1.a]/"), "'v1.a' is not an IPv6 address");
  EXPECT_EQ(refusal("http://a%41/"), "a host name cannot have '%'");
  EXPECT_EQ(refusal("http://a\\b/"), "a host name cannot have '\\'");
}

TEST(a_url, with_bytes_that_have_to_be_encoded_is_refused) {
  EXPECT_EQ(refusal("http://a/a b"), "a path or query cannot have ' ': write %20");
  EXPECT_EQ(refusal("http://a/\r\nX: y"), "a path or query cannot have byte 0x0D: write %0D");
  EXPECT_EQ(refusal("http://a/?\xc3\xa4"), "a path or query cannot have byte 0xC3: write %C3");
  EXPECT_EQ(refusal("http://a/?x[]=1"), "a path or query cannot have '[': write %5B");
  EXPECT_EQ(refusal("http://a/100%"), "two hexadecimal digits must follow '%': write %25 for '%' itself");
  EXPECT_EQ(refusal("http://a/?%4x"), "two hexadecimal digits must follow '%': write %25 for '%' itself");
  EXPECT_EQ(parse_url("http://a/-._~!$&'()*+,;=:@/%c3%A4?/?").path, "/-._~!$&'()*+,;=:@/%c3%A4");
}

TEST(a_url, is_sent_as_it_is_written) {
  const url read = parse_url("http://a//b/../c/.?%7e");
  EXPECT_EQ(read.path, "//b/../c/.");
  EXPECT_EQ(read.query, "?%7e");
}

TEST(a_url, that_is_refused_is_shown_on_one_line) {
  try {
    static_cast<void>(parse_url("http://a/\n\x1b[2J"));
    FAIL() << "it was not refused";
  } catch (const std::invalid_argument& why) {
    EXPECT_EQ(std::string_view{why.what()}, "'http://a/%0A%1B[2J': a path or query cannot have byte 0x0A: write %0A");
  }
}

}  // namespace
}  // namespace load
