#include "web/shared_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "tests/temporary_folder.h"
#include "tests/web/failing_disk.h"

namespace web {
namespace {

class a_shared_file : public testing::Test {
 protected:
  a_shared_file() { std::ofstream{path_} << "0123456789"; }

  [[nodiscard]] shared_file opened() const {
    file made{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
    struct stat now{};
    EXPECT_EQ(::fstat(made.descriptor(), &now), 0);
    return shared_file{std::move(made), file_version::of(now), "/file"};
  }
  /// What can be read from there on: of what is in memory; "end" if the file is another one, "wait" if it has to be waited for.
  [[nodiscard]] static std::string at_hand(const shared_file& from, std::uint64_t first, std::uint64_t brought = 0) {
    std::array<char, 8> room{};
    const tartan::result<std::size_t> got = from.read_at_hand(room, first, brought);
    if (got) return {room.data(), *got};
    if (got.error() == tartan::errc::end_of_stream) return "end";
    return got.error() == std::errc::operation_would_block ? "wait" : got.error().message();
  }
  /// The same, of the disk.
  [[nodiscard]] static std::string on_disk(const shared_file& from, std::uint64_t first) {
    std::array<char, 8> room{};
    return from.read(room, first, room.size()) != 0 ? std::string{room.data(), room.size()} : "end";
  }
  void write_in_place(std::string_view text) const {
    const auto before = std::filesystem::last_write_time(path_);
    std::ofstream{path_} << text;
    std::filesystem::last_write_time(path_, before + std::chrono::seconds{1});  // where the system's clock ticks slowly
  }

  tartan::test::temporary_folder folder_;
  const std::string path_ = folder_ / "file";
};

TEST_F(a_shared_file, is_read_from_memory_as_far_as_it_goes) {
  const shared_file whole = opened();
  EXPECT_EQ(at_hand(whole, 0), "01234567");
  EXPECT_EQ(at_hand(whole, 4), "456789");
  EXPECT_EQ(at_hand(whole, 10), "wait") << "some systems find the end of what they have in memory";
  EXPECT_EQ(on_disk(whole, 2), "23456789");
  EXPECT_EQ(on_disk(whole, 3), "end");
  EXPECT_TRUE(whole.is_as_it_was());
}

TEST_F(a_shared_file, is_waited_for_if_it_is_not_in_memory_or_nobody_knows) {
  const shared_file whole = opened();
  for (const int error : {EAGAIN, EOPNOTSUPP, EIO}) {
    const test::failing_disk fails{test::disk_call::preadv2, error};
    EXPECT_EQ(at_hand(whole, 0), "wait") << error;
  }
  EXPECT_EQ(at_hand(whole, 0), "01234567");
}

/// As on overlayfs.
TEST_F(a_shared_file, that_was_brought_is_read_where_the_file_system_cannot_tell) {
  const shared_file whole = opened();
  const test::failing_disk fails{test::disk_call::preadv2, EOPNOTSUPP, 1'000'000};
  EXPECT_EQ(at_hand(whole, 0), "wait");
  EXPECT_EQ(at_hand(whole, 0, 100), "01234567");
  std::ofstream{path_, std::ios::app} << "a line";
  EXPECT_EQ(at_hand(whole, 0), "wait");
  EXPECT_EQ(at_hand(whole, 0, 100), "01234567") << "it has only grown";
}

/// Which cannot tell either.
TEST_F(a_shared_file, is_never_waited_for_where_there_is_no_disk) {
  file made{::memfd_create("file", MFD_CLOEXEC)};
  ASSERT_EQ(::write(made.descriptor(), "0123456789", 10), 10);
  struct stat now{};
  ASSERT_EQ(::fstat(made.descriptor(), &now), 0);
  const shared_file whole{std::move(made), file_version::of(now), "/file"};
  EXPECT_EQ(at_hand(whole, 2), "23456789");
  ASSERT_EQ(::ftruncate(whole.descriptor(), 5), 0);
  EXPECT_EQ(at_hand(whole, 2), "end");
}

/// What is known of it may be given out; of what was read, nobody knows whether it was there.
TEST_F(a_shared_file, that_cannot_be_looked_at_has_nothing_that_counts) {
  const shared_file whole = opened();
  const test::failing_disk fails{test::disk_call::statx, EIO, 1'000'000};
  EXPECT_TRUE(whole.is_as_it_was());
  EXPECT_EQ(at_hand(whole, 0), "end");
  EXPECT_EQ(on_disk(whole, 0), "end");
}

TEST_F(a_shared_file, that_ends_is_told_from_one_that_cannot_be_read) {
  const shared_file whole = opened();
  std::array<char, 20> room{};
  {
    const test::failing_disk is_interrupted{test::disk_call::pread, EINTR};
    EXPECT_FALSE(read_all(whole, room, 0));
    EXPECT_EQ(errno, 0);
  }
  const test::failing_disk fails{test::disk_call::pread, EIO};
  EXPECT_FALSE(read_all(whole, room, 0));
  EXPECT_EQ(errno, EIO);
}

/// Also what is still there: the system may have filled it with zeros between.
TEST_F(a_shared_file, that_is_cut_has_nothing_that_counts) {
  const shared_file whole = opened();
  std::filesystem::resize_file(path_, 9);
  EXPECT_EQ(at_hand(whole, 0), "end");
  EXPECT_EQ(on_disk(whole, 0), "end");
  EXPECT_FALSE(whole.is_as_it_was());
}

TEST_F(a_shared_file, that_is_written_to_has_nothing_that_counts) {
  const shared_file whole = opened();
  write_in_place("abcdefghij");
  EXPECT_EQ(at_hand(whole, 0), "end");
  EXPECT_EQ(on_disk(whole, 0), "end");
  EXPECT_FALSE(whole.is_as_it_was());
}

TEST_F(a_shared_file, that_is_written_anew_and_longer_has_nothing_that_counts) {
  for (const std::string_view text : {"a23456789 and more", "012345678x and more", "abc", "aaaaaaaaaaaaaaaaaaaaaa"}) {
    write_in_place("0123456789");
    const shared_file whole = opened();
    write_in_place(text);
    EXPECT_EQ(at_hand(whole, 0), "end") << text;
    EXPECT_EQ(on_disk(whole, 0), "end") << text;
  }
}

/// It would have to be waited for, in order to know whether it only grows.
TEST_F(a_shared_file, that_grows_is_waited_for_if_its_ends_are_not_in_memory) {
  struct statfs where{};
  ASSERT_EQ(::statfs(path_.c_str(), &where), 0);
  if (where.f_type == TMPFS_MAGIC) return;  // where nothing is waited for
  const shared_file whole = opened();
  std::ofstream{path_, std::ios::app} << "a line";
  const test::failing_disk fails{test::disk_call::preadv2, EAGAIN, 1, 1};
  EXPECT_EQ(at_hand(whole, 0), "wait");
  EXPECT_EQ(at_hand(whole, 0), "01234567");
}

TEST_F(a_shared_file, that_grows_has_what_was_promised) {
  const shared_file whole = opened();
  std::ofstream{path_, std::ios::app} << "a line";
  EXPECT_EQ(at_hand(whole, 0), "01234567");
  EXPECT_EQ(on_disk(whole, 0), "01234567");
  EXPECT_FALSE(whole.is_as_it_was()) << "a new response has more";
}

TEST_F(a_shared_file, whose_name_another_one_takes_is_as_it_was) {
  const shared_file whole = opened();
  std::ofstream{folder_ / "new"} << "abc";
  std::filesystem::rename(folder_ / "new", path_);
  EXPECT_EQ(at_hand(whole, 0), "01234567");
  EXPECT_TRUE(whole.is_as_it_was());
}

TEST_F(a_shared_file, of_which_nothing_can_be_known_is_taken_to_be_as_it_was_but_not_read) {
  const shared_file none{file{}, {}, "/none"};
  EXPECT_TRUE(none.is_as_it_was());
  EXPECT_EQ(at_hand(none, 0), "wait");
  EXPECT_EQ(on_disk(none, 0), "end");
}

}  // namespace
}  // namespace web
