#include <tartan/http/header_lines.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tartan::http {
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

/// Those of the first `count` lines.
line_places places_of(std::string_view text, std::size_t count) {
  line_places made;
  for (std::size_t at = 0; at < text.size() && count != 0; --count) {
    const std::size_t behind = text.find('\n', at) + 1;
    made.add(at, text.find(':', at) - at, behind);
    at = behind;
  }
  return made;
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
  const line_places places = places_of(sample.text(), 5);
  header_lines{sample.text(), &places}.each("X", [&](std::string_view) { return ++seen == 0; });
  EXPECT_EQ(seen, 2);
}

TEST(header_lines, have_one_value_if_it_is_the_only_one) {
  EXPECT_EQ(sample.only("Host"), "a");
  EXPECT_EQ(sample.only("X-Long"), "3");
  EXPECT_EQ(sample.only("X"), "");
  EXPECT_EQ(sample.only("Y"), "");
  EXPECT_TRUE(sample.has("EMPTY"));
  EXPECT_FALSE(sample.has("Y"));
}

TEST(header_lines, are_the_same_whether_their_places_are_known_or_not) {
  for (std::size_t count = 0; count <= 5; ++count) {
    const line_places places = places_of(sample.text(), count);
    const header_lines noted{sample.text(), &places};
    for (const std::string_view name : {"Host", "X", "empty", "X-Long", "Y", ""}) {
      EXPECT_EQ(values_of(noted, name), values_of(sample, name)) << count << name;
    }
    EXPECT_EQ(noted.only("Host"), "a");
    EXPECT_TRUE(noted.has("EMPTY"));
  }
}

TEST(header_lines, beyond_the_places_are_found_all_the_same) {
  std::string text;
  for (std::size_t n = 0; n < 2 * line_places::most; ++n) {
    const std::string number = std::to_string(n);
    text.append("X-").append(number).append(": ").append(number).append("\r\nSame: ").append(number).append("\r\n");
  }
  const line_places places = places_of(text, 4 * line_places::most);
  EXPECT_EQ(places.size(), line_places::most);
  const header_lines noted{text, &places};
  for (std::size_t n = 0; n < 2 * line_places::most; ++n)
    EXPECT_EQ(noted.only("x-" + std::to_string(n)), std::to_string(n));
  EXPECT_EQ(values_of(noted, "same"), values_of(header_lines{text}, "same"));
  EXPECT_EQ(values_of(noted, "same").size(), 2 * line_places::most);
}

}  // namespace
}  // namespace tartan::http
