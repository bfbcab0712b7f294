#include "load/proc_file.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace load {
namespace {

TEST(a_proc_file, is_read_to_its_end) {
  const tartan::test::temporary_folder folder;
  for (const std::size_t bytes : std::vector<std::size_t>{0, 1, 4096, 10'000}) {
    const std::string wanted(bytes, 'x');
    std::ofstream{folder / "file"} << wanted;
    EXPECT_EQ(content_of(folder / "file"), wanted);
  }
  EXPECT_NE(content_of("/proc/self/stat").find(')'), std::string::npos);
}

TEST(a_proc_file, that_is_gone_is_empty) { EXPECT_EQ(content_of("/proc/self/no such file"), ""); }

// As a process does that ends between the two: a folder can be opened, and not be read.
TEST(a_proc_file, that_goes_while_it_is_read_is_empty) { EXPECT_EQ(content_of("/proc/self"), ""); }

}  // namespace
}  // namespace load
