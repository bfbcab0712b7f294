#include "web/read_buffer.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "web/received_fixture.h"

namespace web {
namespace {

using test::receive;

std::string letters(std::size_t size) {
  std::string text;
  for (std::size_t n = 0; n < size; ++n) text.push_back(static_cast<char>('a' + n % 23));
  return text;
}

TEST(read_buffer, keeps_what_was_received_in_one_piece) {
  const std::string text = letters(50'000);
  read_buffer buffer;
  receive(buffer, std::string_view{text}.substr(0, 20'000));
  buffer.drop(15'000);
  receive(buffer, std::string_view{text}.substr(20'000));
  EXPECT_EQ(buffer.text(), std::string_view{text}.substr(15'000));
}

TEST(read_buffer, is_small_again_when_all_was_taken) {
  read_buffer buffer;
  EXPECT_EQ(buffer.room().size(), read_buffer::first);
  receive(buffer, letters(30'000));
  buffer.drop(29'999);
  EXPECT_EQ(buffer.text().size(), 1u);
  buffer.drop(1);
  EXPECT_EQ(buffer.room().size(), read_buffer::usual);
  receive(buffer, "again");
  EXPECT_EQ(buffer.text(), "again");
}

TEST(read_buffer, is_larger_for_who_has_filled_it) {
  read_buffer buffer;
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(buffer.room().size(), read_buffer::first);
    receive(buffer, letters(read_buffer::first - 1));
    buffer.drop(buffer.size());
  }
  receive(buffer, letters(read_buffer::first));
  buffer.drop(buffer.size());
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(buffer.room().size(), read_buffer::usual);
    receive(buffer, letters(read_buffer::usual));
    buffer.drop(buffer.size());
  }
}

TEST(read_buffer, is_larger_for_who_leaves_a_part_in_it) {
  read_buffer buffer;
  receive(buffer, letters(read_buffer::first));
  buffer.drop(read_buffer::first - 100);
  EXPECT_EQ(buffer.room().size(), read_buffer::usual - 100);
  EXPECT_EQ(buffer.text(), std::string_view{letters(read_buffer::first)}.substr(read_buffer::first - 100));
}

TEST(read_buffer, has_room_for_more_than_a_few_bytes) {
  read_buffer buffer;
  receive(buffer, letters(read_buffer::first - read_buffer::first / 8));
  EXPECT_EQ(buffer.room().size(), read_buffer::first / 8);
  receive(buffer, "a");
  EXPECT_EQ(buffer.room().size(), read_buffer::usual - buffer.size());
  receive(buffer, letters(read_buffer::usual - read_buffer::usual / 8 + 1 - buffer.size()));
  EXPECT_EQ(buffer.room().size(), 2 * read_buffer::usual - buffer.size());
}

}  // namespace
}  // namespace web
