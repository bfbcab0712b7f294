#include "web/entity_tag.h"

#include <gtest/gtest.h>

namespace web {
namespace {

file_version version_of(std::int64_t seconds, std::int64_t nanoseconds, std::int64_t size) {
  file_version made;
  made.changed = {seconds, nanoseconds};
  made.size = size;
  made.number = 10;
  return made;
}

TEST(entity_tag, tells_each_state_of_a_file_from_the_others) {
  const std::string tag = entity_tag(version_of(784111777, 5, 12));
  EXPECT_EQ(tag, "\"2ebc98a1.5-a-c\"");
  for (const file_version& other : {version_of(784111778, 5, 12), version_of(784111777, 6, 12), version_of(784111777, 5, 13)}) {
    EXPECT_NE(entity_tag(other), tag);
  }
  file_version another = version_of(784111777, 5, 12);
  another.number = 11;  // renamed over it within the same tick of the clock
  EXPECT_NE(entity_tag(another), tag);
  EXPECT_EQ(entity_tag(version_of(784111777, 5, 12), "-gz"), "\"2ebc98a1.5-a-c-gz\"");
}

TEST(entity_tag, goes_by_what_nobody_can_set) {
  file_version dated = version_of(784111777, 5, 12);
  dated.modified = {3, 4};
  EXPECT_EQ(entity_tag(dated), entity_tag(version_of(784111777, 5, 12)));
}

/// An image file system keeps no time of change, and the next image may have the same inode: only what opens it is
/// another process.
TEST(entity_tag, of_a_file_whose_own_times_say_nothing_tells_when_its_folder_was_opened) {
  const file_time first{1'700'000'000, 5};
  const file_time second{1'700'000'000, 6};
  EXPECT_EQ(entity_tag(version_of(1, 0, 12), "", first), "\"1.0-a-c-6553f100.5\"");
  EXPECT_NE(entity_tag(version_of(1, 0, 12), "", second), entity_tag(version_of(1, 0, 12), "", first));
  EXPECT_EQ(entity_tag(version_of(1, 0, 12), ".gz", first), "\"1.0-a-c-6553f100.5.gz\"");
  const file_version other = version_of(784111777, 5, 12);
  EXPECT_EQ(entity_tag(other, "", first), entity_tag(other));
}

TEST(entity_tag, is_found_in_a_list) {
  for (const char* list : {"\"a\"", "*", " * ", "\"b\", \"a\"", "\"b\",\"a\"", ", ,\"b\" , \"a\" ,", "\"b,c\", \"a\"", "W/\"b\",\"a\""}) {
    EXPECT_TRUE(list_has_tag(list, "\"a\"", false)) << list;
    EXPECT_TRUE(list_has_tag(list, "\"a\"", true)) << list;
  }
  for (const char* list : {"", ",", "\"b\"", "a", "\"a", "a\"", "\"aa\"", "\"b\" \"a\"", "w/\"a\"", "\"b,\"a\"", "*, \"b\"", "\"A\""}) {
    EXPECT_FALSE(list_has_tag(list, "\"a\"", true)) << list;
  }
}

TEST(entity_tag, that_is_weak_matches_only_weakly) {
  EXPECT_TRUE(list_has_tag("W/\"a\"", "\"a\"", true));
  EXPECT_FALSE(list_has_tag("W/\"a\"", "\"a\"", false));
  EXPECT_TRUE(list_has_tag("W/\"a\", \"a\"", "\"a\"", false));
}

TEST(entity_tag, that_there_is_not_matches_nothing_but_any) {
  EXPECT_FALSE(list_has_tag("\"\"", "", true));
  EXPECT_TRUE(list_has_tag("*", "", true));
}

}  // namespace
}  // namespace web
