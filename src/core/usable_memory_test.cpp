#include <tartan/core/usable_memory.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "core/fake_system.h"

namespace tartan {
namespace {

class usable_memory_of_a_fake_system : public test::fake_system {
 protected:
  [[nodiscard]] std::size_t bytes() const { return detail::usable_memory_below(root()); }
  const std::size_t all_ = detail::usable_memory_below("/nowhere");
};

TEST_F(usable_memory_of_a_fake_system, is_the_machines_if_nothing_else_is_known) {
  EXPECT_GT(all_, std::size_t{1} << 20);
  EXPECT_EQ(bytes(), all_);
  unified("/a/b");
  EXPECT_EQ(bytes(), all_);
  for (const char* const text : {"max", "", "many", "-1", "9223372036854771712", "99999999999999999999999"}) {
    file("/sys/fs/cgroup/a/b/memory.max", text);
    EXPECT_EQ(bytes(), all_) << text;
  }
}

TEST_F(usable_memory_of_a_fake_system, is_what_the_tightest_group_around_leaves) {
  unified("/a/b");
  file("/sys/fs/cgroup/a/b/memory.max", "3000");
  EXPECT_EQ(bytes(), 3000u);
  file("/sys/fs/cgroup/a/memory.max", "2000");
  EXPECT_EQ(bytes(), 2000u);
  file("/sys/fs/cgroup/memory.max", "1000");
  EXPECT_EQ(bytes(), 1000u);
  file("/sys/fs/cgroup/a/b/memory.high", "500");
  EXPECT_EQ(bytes(), 500u);
  file("/sys/fs/cgroup/else/memory.max", "10");
  EXPECT_EQ(bytes(), 500u);
}

TEST_F(usable_memory_of_a_fake_system, is_found_in_a_container_that_sees_its_own_group_as_the_root) {
  unified("/docker/abc", "/docker/abc");
  file("/sys/fs/cgroup/memory.max", "4000");
  EXPECT_EQ(bytes(), 4000u);
}

TEST_F(usable_memory_of_a_fake_system, knows_the_limit_of_version_1) {
  file("/proc/self/cgroup", "9:memory:/app\n4:cpu,cpuacct:/else\n0::/");
  file("/proc/self/mountinfo",
       "34 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
       "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory");
  for (const char* const other : {"else", "app"}) file(std::string{"/sys/fs/cgroup/cpu/"} + other + "/memory.limit_in_bytes", "10");
  EXPECT_EQ(bytes(), all_);
  file("/sys/fs/cgroup/memory/app/memory.limit_in_bytes", "5000");
  EXPECT_EQ(bytes(), 5000u);
}

TEST(usable_memory_of_this_machine, is_some_and_no_more_than_there_is) {
  EXPECT_GT(usable_memory(), 0u);
  EXPECT_LE(usable_memory(), detail::usable_memory_below("/nowhere"));
}

}  // namespace
}  // namespace tartan
