#include "document_root.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/temporary_folder.h"
#include "tests/web/failing_disk.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::disk_call;
using test::failing_disk;

class folder : public testing::Test {
 protected:
  folder() { std::ofstream{path_ / "page"} << "a page"; }

  [[nodiscard]] static auto open_files() {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{});
  }

  tartan::test::temporary_folder path_;
  const document_root root_{path_.path()};
  const test::files_changed old_{-60s};
};

TEST_F(folder, tells_of_each_failure_of_the_system) {
  struct {
    disk_call call;
    int error;
    unsigned times;
    status expected;
  } const cases[] = {
      {disk_call::openat2, ENOENT, 1, status::not_found},
      {disk_call::openat2, ENOTDIR, 1, status::not_found},
      {disk_call::openat2, ENAMETOOLONG, 1, status::not_found},
      {disk_call::openat2, EACCES, 1, status::forbidden},
      {disk_call::openat2, EPERM, 1, status::forbidden},
      {disk_call::openat2, EXDEV, 1, status::forbidden},
      {disk_call::openat2, ELOOP, 1, status::forbidden},
      {disk_call::openat2, ENXIO, 1, status::forbidden},
      {disk_call::openat2, EMFILE, 1, status::unavailable},
      {disk_call::openat2, ENFILE, 1, status::unavailable},
      {disk_call::openat2, ENOMEM, 1, status::unavailable},
      {disk_call::openat2, EIO, 1, status::internal_error},
      {disk_call::openat2, EINTR, 1, status::ok},
      {disk_call::openat2, EAGAIN, 1, status::ok},
      {disk_call::openat2, EAGAIN, 1000, status::unavailable},
      {disk_call::fstat, EIO, 1, status::internal_error},
      {disk_call::pread, EIO, 1, status::internal_error},
      {disk_call::pread, EINTR, 5, status::ok},
      {disk_call::pread, 0, 1, status::internal_error},
  };
  const auto before = open_files();
  for (const auto& each : cases) {
    const failing_disk fails{each.call, each.error, each.times};
    const document found = root_.load("/page", 100);
    EXPECT_EQ(found.code, each.expected) << static_cast<unsigned>(each.call) << ", error " << each.error;
    EXPECT_EQ(found.content.body, each.expected == status::ok ? "a page" : "");
  }
  EXPECT_EQ(open_files(), before);
}

TEST_F(folder, knows_a_page_by_its_version) {
  const document first = root_.load("/page", 100);
  EXPECT_FALSE(first.unchanged);
  EXPECT_TRUE(root_.load("/page", 100, first.content.version).unchanged);
  std::ofstream{path_ / "page"} << "another";
  EXPECT_EQ(root_.load("/page", 100, first.content.version).content.body, "another");
}

TEST_F(folder, has_a_version_that_nothing_equals_of_what_may_change_unseen) {
  const failing_disk after_the_read{disk_call::fstat, EIO, 1, 1};
  EXPECT_EQ(root_.load("/page", 100).content.version, file_version{});
  const test::files_changed just_now{60s};  // this machine is slow, and may have no time to lose
  const document young = root_.load("/page", 100);
  EXPECT_EQ(young.content.body, "a page");
  EXPECT_EQ(young.content.version, file_version{});
}

}  // namespace
}  // namespace web
