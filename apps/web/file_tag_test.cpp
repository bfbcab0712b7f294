#include "web/file_tag.h"

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

TEST(file_tag, tells_each_state_of_a_file_from_the_others) {
  const std::string tag = file_tag(version_of(784111777, 5, 12));
  EXPECT_EQ(tag, "\"2ebc98a1.5-a-c\"");
  for (const file_version& other : {version_of(784111778, 5, 12), version_of(784111777, 6, 12), version_of(784111777, 5, 13)}) {
    EXPECT_NE(file_tag(other), tag);
  }
  file_version another = version_of(784111777, 5, 12);
  another.number = 11;  // renamed over it within the same tick of the clock
  EXPECT_NE(file_tag(another), tag);
  EXPECT_EQ(file_tag(version_of(784111777, 5, 12), "-gz"), "\"2ebc98a1.5-a-c-gz\"");
}

TEST(file_tag, goes_by_what_nobody_can_set) {
  file_version dated = version_of(784111777, 5, 12);
  dated.modified = {3, 4};
  EXPECT_EQ(file_tag(dated), file_tag(version_of(784111777, 5, 12)));
}

/// An image file system keeps no time of change, and the next image may have the same inode: only what opens it is
/// another process.
TEST(file_tag, of_a_file_whose_own_times_say_nothing_tells_when_its_folder_was_opened) {
  const file_time first{1'700'000'000, 5};
  const file_time second{1'700'000'000, 6};
  EXPECT_EQ(file_tag(version_of(1, 0, 12), "", first), "\"1.0-a-c-6553f100.5\"");
  EXPECT_NE(file_tag(version_of(1, 0, 12), "", second), file_tag(version_of(1, 0, 12), "", first));
  EXPECT_EQ(file_tag(version_of(1, 0, 12), ".gz", first), "\"1.0-a-c-6553f100.5.gz\"");
  const file_version other = version_of(784111777, 5, 12);
  EXPECT_EQ(file_tag(other, "", first), file_tag(other));
}

}  // namespace
}  // namespace web
