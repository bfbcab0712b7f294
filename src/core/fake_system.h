#pragma once
/// For tests: a folder with what /proc and the control groups of a system say.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/temporary_folder.h"

namespace tartan::test {

class fake_system : public ::testing::Test {
 protected:
  [[nodiscard]] std::string root() const { return root_.path(); }

  void file(const std::string& path, const std::string& text) const {
    const std::filesystem::path full = root() + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream{full} << text << '\n';
  }
  /// The unified hierarchy as it is mounted on the machine itself.
  void unified(const std::string& path, const std::string& mount_root = "/") const {
    file("/proc/self/cgroup", "0::" + path);
    file("/proc/self/mountinfo",
         "24 23 0:5 / /proc rw shared:9 - proc proc rw\n"
         "31 23 0:28 " +
             mount_root + " /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate");
  }

 private:
  temporary_folder root_;
};

}  // namespace tartan::test
