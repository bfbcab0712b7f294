#include <tartan/http/proxy_header.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tartan::http {
namespace {

using outcome = proxy_header::outcome;

/// Version 2.
std::string bytes_of(char command, char family, const std::string& addresses) {
  std::string all{"\r\n\r\n\0\r\nQUIT\n", 12};
  all.append({command, family, static_cast<char>(addresses.size() >> 8), static_cast<char>(addresses.size())});
  return all + addresses;
}
const std::string ipv4{"\xc0\x00\x02\x01\x0a\x00\x00\x01\x12\x34\x01\xbb", 12};
const std::string ipv6 = std::string{"\x20\x01\x0d\xb8", 4} + std::string(11, '\0') + "\x01" + std::string(16, '\x11') + "\x12\x34\x01\xbb";

std::string source_of(const std::string& bytes) {
  const proxy_header found = parse_proxy_header(bytes);
  EXPECT_EQ(found.what, outcome::complete) << bytes;
  return found.source ? found.source->to_string() + " " + std::to_string(found.port) : "";
}

TEST(proxy_header, names_the_client) {
  EXPECT_EQ(source_of("PROXY TCP4 192.0.2.1 10.0.0.1 4660 443\r\n"), "192.0.2.1 4660");
  EXPECT_EQ(source_of("PROXY TCP6 2001:db8::1 ::1 4660 443\r\nGET"), "2001:db8::1 4660");
  EXPECT_EQ(source_of(bytes_of(0x21, 0x11, ipv4)), "192.0.2.1 4660");
  EXPECT_EQ(source_of(bytes_of(0x21, 0x21, ipv6)), "2001:db8::1 4660");
  EXPECT_EQ(source_of(bytes_of(0x21, 0x11, ipv4 + "\x03" + std::string(6, '\0'))), "192.0.2.1 4660") << "with an extension";
}

TEST(proxy_header, may_name_nobody) {
  EXPECT_EQ(source_of("PROXY UNKNOWN\r\n"), "");
  EXPECT_EQ(source_of("PROXY UNKNOWN ffff::1 whatever\r\n"), "");
  EXPECT_EQ(source_of(bytes_of(0x20, 0x00, "")), "") << "a check of health";
  EXPECT_EQ(source_of(bytes_of(0x20, 0x11, ipv4)), "") << "the same";
  EXPECT_EQ(source_of(bytes_of(0x21, 0x31, std::string(216, 'a'))), "") << "of a Unix socket";
  EXPECT_EQ(source_of(bytes_of(0x21, 0x12, ipv4)), "") << "UDP";
}

TEST(proxy_header, is_refused_if_it_is_anything_else) {
  for (const char* const text :
       {"GET / HTTP/1.1\r\n", "PROXX", "proxy TCP4 192.0.2.1 10.0.0.1 1 2\r\n", "PROXY TCP4 192.0.2.1 10.0.0.1 1 2\n", "PROXY TCP4  192.0.2.1 10.0.0.1 1 2\r\n",
        "PROXY TCP4 192.0.2.1 10.0.0.1 1 2 \r\n", "PROXY TCP4 192.0.2.1 10.0.0.1 1 65536\r\n", "PROXY TCP4 192.0.2.1 10.0.0.1 01 2\r\n",
        "PROXY TCP4 192.0.2.1 10.0.0.1 1\r\n", "PROXY TCP4 ::1 ::1 1 2\r\n", "PROXY TCP6 192.0.2.1 10.0.0.1 1 2\r\n", "PROXY UDP4 192.0.2.1 10.0.0.1 1 2\r\n",
        "PROXY TCP4 a 10.0.0.1 1 2\r\n", "PROXY TCP4 192.0.2.1 b 1 2\r\n", "PROXY \r\n-------------", "\r\n\r\nX"}) {
    EXPECT_EQ(parse_proxy_header(text).what, outcome::refused) << text;
  }
  EXPECT_EQ(parse_proxy_header("PROXY UNKNOWN " + std::string(100, 'a')).what, outcome::refused) << "too long";
  EXPECT_EQ(parse_proxy_header(bytes_of(0x11, 0x11, ipv4)).what, outcome::refused) << "version 1";
  EXPECT_EQ(parse_proxy_header(bytes_of(0x22, 0x11, ipv4)).what, outcome::refused) << "a command that there is not";
  EXPECT_EQ(parse_proxy_header(bytes_of(0x21, 0x41, ipv4)).what, outcome::refused) << "a family that there is not";
  EXPECT_EQ(parse_proxy_header(bytes_of(0x21, 0x13, ipv4)).what, outcome::refused) << "a transport that there is not";
  EXPECT_EQ(parse_proxy_header(bytes_of(0x21, 0x11, ipv4.substr(1))).what, outcome::refused) << "too short for its addresses";
  EXPECT_EQ(parse_proxy_header(bytes_of(0x21, 0x11, std::string(5000, 'a'))).what, outcome::refused) << "too long";
}

/// Reading what is missing, again and again, reads all of the header and nothing else.
TEST(proxy_header, never_has_more_missing_than_there_is) {
  const std::vector<std::string> all{"PROXY UNKNOWN\r\n", "PROXY UNKNOWN a\r\n", "PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n",
                                     "PROXY TCP6 2001:db8::1 2001:db8:1111:2222:3333:4444:5555:6666 65535 65535\r\n", bytes_of(0x21, 0x11, ipv4),
                                     bytes_of(0x20, 0x00, ""), bytes_of(0x21, 0x21, ipv6 + "tlv")};
  for (const std::string& each : all) {
    const std::string sent = each + "behind it";
    std::string got;
    proxy_header found;
    for (std::size_t reads = 0; (found = parse_proxy_header(got)).what == outcome::incomplete; ++reads) {
      ASSERT_GT(found.missing, 0u) << got;
      ASSERT_LT(reads, each.size());
      got += sent.substr(got.size(), found.missing);
      ASSERT_LE(got.size(), each.size()) << got;
    }
    EXPECT_EQ(found.what, outcome::complete) << each;
    EXPECT_EQ(found.size, each.size());
    EXPECT_EQ(got, each);
  }
}

}  // namespace
}  // namespace tartan::http
