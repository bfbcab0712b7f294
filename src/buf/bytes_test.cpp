#include <tartan/buf/bytes.h>

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tartan/buf/chain.h>
#include <tartan/buf/slice.h>
#include <vector>

namespace tartan {
namespace {

template <class T>
constexpr bool is_room = std::convertible_to<T, mutable_bytes>;
template <class T>
constexpr bool is_written = std::convertible_to<T, const_bytes>;

std::string_view text_of(const_bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

TEST(byte_ranges, of_every_kind_are_read_into) {
  static_assert(is_room<std::string&> && is_room<std::vector<char>&> && is_room<std::vector<unsigned char>&>);
  static_assert(is_room<std::vector<std::byte>&> && is_room<std::array<char, 4>&> && is_room<std::array<std::byte, 4>&>);
  static_assert(is_room<std::array<std::uint8_t, 4>&> && is_room<char (&)[4]> && is_room<unsigned char (&)[4]>);
  static_assert(is_room<std::byte (&)[4]>);
  static_assert(is_room<std::span<std::byte>> && is_room<std::span<char, 4>> && is_room<const std::span<unsigned char>&>);
  static_assert(is_room<mutable_bytes> && is_room<const mutable_bytes&>);
  char room[8] = {};
  const mutable_bytes all{room};
  EXPECT_EQ(static_cast<void*>(all.data()), static_cast<void*>(room));
  EXPECT_EQ(all.size(), 8u);
  const mutable_bytes part{room + 2, 3};
  EXPECT_EQ(static_cast<void*>(part.data()), static_cast<void*>(room + 2));
  EXPECT_EQ(part.size(), 3u);
  std::string text(5, 'x');
  EXPECT_EQ(mutable_bytes{text}.size(), 5u);
  EXPECT_TRUE(mutable_bytes{}.empty());
}

TEST(byte_ranges, that_are_const_or_temporary_are_not_read_into) {
  static_assert(!is_room<const std::string&> && !is_room<const std::vector<std::byte>&> && !is_room<const char (&)[4]>);
  static_assert(!is_room<std::string_view> && !is_room<std::span<const std::byte>> && !is_room<const std::array<char, 4>&>);
  static_assert(!is_room<std::string> && !is_room<std::vector<char>> && !is_room<std::array<std::byte, 4>>);
  static_assert(!is_room<const_bytes> && !is_room<buf::slice&> && !is_room<char*>);
}

TEST(byte_ranges, of_other_things_are_refused) {
  static_assert(!is_room<std::vector<int>&> && !is_room<std::u8string&> && !is_room<std::vector<bool>&> && !is_room<int>);
  static_assert(!is_written<std::vector<int>&> && !is_written<std::wstring> && !is_written<int> && !is_written<int*>);
  static_assert(!is_written<std::span<const std::span<const std::byte>>> && !is_written<buf::chain&>);
  static_assert(!is_written<const unsigned char*> && !is_written<std::nullptr_t>);
}

TEST(byte_ranges, of_every_kind_are_written) {
  static_assert(is_written<const std::string&> && is_written<std::string> && is_written<std::string_view>);
  static_assert(is_written<std::vector<char>> && is_written<const std::vector<std::byte>&>);
  static_assert(is_written<std::array<unsigned char, 4>&> && is_written<const std::array<std::byte, 4>&>);
  static_assert(is_written<const unsigned char (&)[4]> && is_written<std::byte (&)[4]> && is_written<const char (&)[4]>);
  static_assert(is_written<std::span<const std::byte>> && is_written<std::span<char>> && is_written<mutable_bytes>);
  static_assert(is_written<buf::slice> && is_written<const buf::slice&> && is_written<const char*> && is_written<char*>);
  EXPECT_EQ(text_of(buf::slice::copy_of("a slice")), "a slice");
  EXPECT_EQ(text_of(std::vector<char>{'a', 'b'}), "ab");
  const char* const pointer = "pointed at";
  EXPECT_EQ(text_of(pointer), "pointed at");
  EXPECT_TRUE(const_bytes{}.empty());
}

TEST(byte_ranges, of_literals_end_before_their_nul) {
  EXPECT_EQ(text_of("text"), "text");
  EXPECT_EQ(text_of(""), "");
  using namespace std::string_view_literals;
  EXPECT_EQ(text_of("a\0b"), "a\0b"sv) << "only the NUL at the end is left out";
  static constexpr char named[] = "named";
  EXPECT_EQ(text_of(named), "named");
  static constexpr char packet[] = {'\1', '\0', '\2'};
  EXPECT_EQ(text_of(packet), "\1\0\2"sv);
  static constexpr unsigned char octets[] = {1, 0};
  EXPECT_EQ(text_of(octets), "\1\0"sv) << "no text: all of it";
}

// snprintf has written to it, or it is a packet: nothing tells.
TEST(byte_ranges, of_an_array_of_char_need_a_word) {
  static_assert(!is_written<char (&)[4]>);
  char line[8] = "text";
  EXPECT_EQ(text_of(std::string_view{line}), "text");
  EXPECT_EQ(const_bytes{std::span{line}}.size(), 8u);
}

}  // namespace
}  // namespace tartan
