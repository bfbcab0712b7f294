#include <tartan/http/entity_tag.h>

#include <gtest/gtest.h>

namespace tartan::http {
namespace {

constexpr tag_comparison weak = tag_comparison::weak;
constexpr tag_comparison strong = tag_comparison::strong;

TEST(entity_tag, is_found_in_a_list) {
  for (const char* list :
       {"\"a\"", "*", " * ", "\"b\", \"a\"", "\"b\",\"a\"", ", ,\"b\" , \"a\" ,", "\"b,c\", \"a\"", "W/\"b\",\"a\""}) {
    EXPECT_TRUE(list_has_tag(list, "\"a\"", strong)) << list;
    EXPECT_TRUE(list_has_tag(list, "\"a\"", weak)) << list;
  }
  for (const char* list :
       {"", ",", "\"b\"", "a", "\"a", "a\"", "\"aa\"", "\"b\" \"a\"", "w/\"a\"", "\"b,\"a\"", "*, \"b\"", "\"A\""}) {
    EXPECT_FALSE(list_has_tag(list, "\"a\"", weak)) << list;
  }
}

TEST(entity_tag, that_is_weak_matches_only_weakly) {
  EXPECT_TRUE(list_has_tag("W/\"a\"", "\"a\"", weak));
  EXPECT_FALSE(list_has_tag("W/\"a\"", "\"a\"", strong));
  EXPECT_TRUE(list_has_tag("W/\"a\", \"a\"", "\"a\"", strong));
}

TEST(entity_tag, that_there_is_not_matches_nothing_but_any) {
  EXPECT_FALSE(list_has_tag("\"\"", "", weak));
  EXPECT_TRUE(list_has_tag("*", "", weak));
}

}  // namespace
}  // namespace tartan::http
