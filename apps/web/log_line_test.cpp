#include "web/log_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace web {
namespace {

std::string line_of(const log_entry& what) {
  std::string line;
  append(line, what);
  return line;
}

TEST(log_line, has_the_combined_format) {
  EXPECT_EQ(line_of({"::1", "06/Nov/1994:08:49:37 +0000", "GET / HTTP/1.1", 200, 5, "http://a/", "me"}),
            "::1 - - [06/Nov/1994:08:49:37 +0000] \"GET / HTTP/1.1\" 200 5 \"http://a/\" \"me\"\n");
  EXPECT_EQ(line_of({"-", "t", "", 400, 0, {}, {}}), "- - - [t] \"-\" 400 0 \"-\" \"-\"\n");
}

TEST(log_line, shows_bytes_that_could_end_a_text) {
  EXPECT_EQ(line_of({"a", "t", "\"\\\n\x7f\xff ~", 1, 1, {}, {}}), "a - - [t] \"\\x22\\x5c\\x0a\\x7f\\xff ~\" 1 1 \"-\" \"-\"\n");
}

TEST(log_line, has_no_more_than_1024_bytes_of_each_text) {
  const std::string text(1025, 'a');
  const std::string line = line_of({"a", "t", text, 1, 1, text, text});
  EXPECT_EQ(std::count(line.begin(), line.end(), 'a'), 1 + 3 * 1024);
}

}  // namespace
}  // namespace web
