#include "load/header.h"

#include <gtest/gtest.h>

namespace load {
namespace {

TEST(a_header, has_a_name_in_letters_of_either_case) {
  EXPECT_TRUE(is_named("Host: a", "host"));
  EXPECT_TRUE(is_named("hOST:", "host"));
  EXPECT_FALSE(is_named("Host", "host"));
  EXPECT_FALSE(is_named("X-Host: a", "host"));
  EXPECT_FALSE(is_named("Hosts: a", "host"));
}

TEST(a_header, may_be_what_a_browser_sends) {
  for (const char* const line : {"Accept-Encoding: br, gzip", "X:", "X:y", "Cookie: a=\"b\"; c=\xc3\xa9\t", "Referer: http://a/b", "Connections: 1",
                                 "Range: bytes=0-1"}) {
    EXPECT_EQ(wrong_with_header(line), "") << line;
  }
}

TEST(a_header, that_is_none_is_told_in_one_line) {
  for (const char* const line : {"", "X", ": x", "X y: z", "X : z", "X: a\nb", "X\nY: z", "X: a\r", "X: \x7f", "\x1b[1m: x", "\xc3\xa9: x"}) {
    const std::string said = wrong_with_header(line);
    EXPECT_NE(said, "") << line;
    EXPECT_EQ(said.find_first_of("\n\r\x1b\x7f"), std::string::npos) << line;
  }
}

TEST(a_header, that_says_what_the_injector_says_is_refused) {
  for (const char* const line : {"Connection: close", "content-Length: 1", "EXPECT: 100-continue", "Keep-Alive: 5", "TE: trailers",
                                 "Transfer-Encoding: chunked", "Upgrade: h2c"}) {
    EXPECT_NE(wrong_with_header(line).find("the injector's own"), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace load
