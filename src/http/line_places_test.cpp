#include <tartan/http/line_places.h>

#include <gtest/gtest.h>

#include <vector>

namespace tartan::http {
namespace {

std::vector<std::uint32_t> begins_of(const line_places& places) {
  std::vector<std::uint32_t> found;
  for (const auto [at, name] : places) found.push_back(at);
  return found;
}

TEST(line_places, have_none_behind_a_line_that_was_left_out) {
  line_places places;
  places.add(0, 4, 9);
  places.add(12, 1, 16);  // something is between
  EXPECT_EQ(begins_of(places), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(places.behind(), 9u);
}

TEST(line_places, are_as_many_as_there_is_room_for) {
  line_places places;
  for (std::size_t n = 0; n <= line_places::most; ++n) places.add(10 * n, 1, 10 * n + 10);
  EXPECT_EQ(places.size(), line_places::most);
  EXPECT_EQ(places.behind(), 10 * line_places::most);
}

TEST(line_places, have_none_that_32_bits_cannot_tell) {
  line_places places;
  places.add(0, 1, std::size_t{1} << 32);
  EXPECT_EQ(places.size(), 0u);
  EXPECT_EQ(places.behind(), 0u);
}

TEST(line_places, are_the_same_when_they_are_copied) {
  line_places places;
  places.add(0, 4, 9);
  places.add(9, 1, 16);
  line_places copied{places};
  EXPECT_EQ(begins_of(copied), (std::vector<std::uint32_t>{0, 9}));
  EXPECT_EQ(copied.begin()[1].name, 1u);
  EXPECT_EQ(copied.behind(), 16u);
  copied = line_places{};
  EXPECT_EQ(copied.size(), 0u);
  EXPECT_EQ(copied.behind(), 0u);
}

}  // namespace
}  // namespace tartan::http
