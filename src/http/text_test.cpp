#include <tartan/http/text.h>

#include <gtest/gtest.h>

#include <string>

namespace tartan::http {
namespace {

bool is_letter(unsigned c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

TEST(text, is_compared_without_the_case_of_letters) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      const bool same = a == b || (is_letter(a) && is_letter(b) && (a ^ b) == 0x20);
      ASSERT_EQ(same_letters(std::string(1, static_cast<char>(a)), std::string(1, static_cast<char>(b))), same)
          << a << ' ' << b;
    }
  }
  EXPECT_TRUE(same_letters("Accept-Encoding", "aCCEPT-encodinG"));
  EXPECT_FALSE(same_letters("Accept", "Accept-"));
  EXPECT_TRUE(same_letters("", ""));
}

TEST(text, loses_blanks_at_both_ends) {
  EXPECT_EQ(trimmed(" \t a b\t "), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \t"), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed("\ra\n"), "\ra\n");
}

/// It is looked at eight bytes at a time. The others are the first and the last of those that are plain: what disturbs a neighbor would show.
TEST(text, is_plain_from_the_blank_to_the_tilde) {
  EXPECT_TRUE(is_plain(""));
  for (const char other : {' ', 'x', '~'}) {
    for (std::size_t size = 1; size <= 24; ++size) {
      EXPECT_TRUE(is_plain(std::string(size, other)));
      for (std::size_t at = 0; at < size; ++at) {
        for (unsigned byte = 0; byte < 256; ++byte) {
          std::string text(size, other);
          text[at] = static_cast<char>(byte);
          ASSERT_EQ(is_plain(text), byte >= ' ' && byte <= '~') << size << " bytes, " << byte << " at " << at;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tartan::http
