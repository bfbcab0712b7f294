#include "header_lines.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace web {
namespace {

const header_lines sample{"Host: a\r\nX:1\r\nx: \t2 \r\nEmpty:\r\nX-Long: 3\r\n"};

std::vector<std::string> values_of(const header_lines& lines, std::string_view name) {
  std::vector<std::string> found;
  lines.each(name, [&](std::string_view value) {
    found.emplace_back(value);
    return true;
  });
  return found;
}

TEST(header_lines, are_found_by_name_in_their_order) {
  EXPECT_EQ(values_of(sample, "X"), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(values_of(sample, "empty"), (std::vector<std::string>{""}));
  EXPECT_TRUE(values_of(sample, "").empty());
  EXPECT_TRUE(values_of(header_lines{}, "X").empty());
}

TEST(header_lines, are_looked_at_only_until_one_is_taken) {
  int seen = 0;
  sample.each("X", [&](std::string_view) { return ++seen == 0; });
  EXPECT_EQ(seen, 1);
}

TEST(header_lines, have_one_value_if_it_is_the_only_one) {
  EXPECT_EQ(sample.only("Host"), "a");
  EXPECT_EQ(sample.only("X-Long"), "3");
  EXPECT_EQ(sample.only("X"), "");
  EXPECT_EQ(sample.only("Y"), "");
  EXPECT_TRUE(sample.has("EMPTY"));
  EXPECT_FALSE(sample.has("Y"));
}

}  // namespace
}  // namespace web
