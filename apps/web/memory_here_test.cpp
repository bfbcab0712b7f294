#include "memory_here.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "settings.h"
#include "tests/temporary_folder.h"

namespace web {
namespace {

class memory_here_of_groups : public testing::Test {
 protected:
  void write(const std::string& path, std::string_view text) {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream{folder_ / path} << text;
  }
  [[nodiscard]] std::size_t memory() const { return memory_here(folder_ / "groups", folder_ / "own"); }

  tartan::test::temporary_folder folder_;
  const std::size_t all_ = memory_here("/nowhere", "/nowhere");
};

TEST_F(memory_here_of_groups, is_the_machines_without_one) {
  EXPECT_GT(all_, std::size_t{1} << 20);
  EXPECT_EQ(memory(), all_);
  write("own", "0::/a/b\n");
  EXPECT_EQ(memory(), all_);
  write("groups/a/b/memory.max", "max\n");
  EXPECT_EQ(memory(), all_);
  write("groups/a/b/memory.max", "18446744073709551615\n");
  EXPECT_EQ(memory(), all_);
  write("groups/a/b/memory.max", "99999999999999999999999\n");
  EXPECT_EQ(memory(), all_);
}

TEST_F(memory_here_of_groups, is_what_the_strictest_of_all_around_leaves) {
  write("own", "12:memory:/else\n0::/a/b\n");
  write("groups/a/b/memory.max", "3000\n");
  EXPECT_EQ(memory(), 3000u);
  write("groups/a/memory.max", "2000\n");
  EXPECT_EQ(memory(), 2000u);
  write("groups/memory.max", "1000\n");
  EXPECT_EQ(memory(), 1000u);
  write("groups/else/memory.max", "10\n");
  EXPECT_EQ(memory(), 1000u);
  write("groups/a/b/memory.high", "500\n");
  EXPECT_EQ(memory(), 500u);
}

TEST_F(memory_here_of_groups, is_that_of_the_outermost_one) {
  write("own", "0::/\n");
  write("groups/memory.max", "1000\n");
  EXPECT_EQ(memory(), 1000u);
}

TEST(usual_settings, give_pages_a_part_of_it) {
  const std::size_t bytes = usual_settings().pages.cache.bytes;
  EXPECT_LE(bytes, memory_here() / 16);
  EXPECT_LE(bytes, std::size_t{256} << 20);
  EXPECT_TRUE(bytes == memory_here() / 16 || bytes == std::size_t{256} << 20);
}

}  // namespace
}  // namespace web
