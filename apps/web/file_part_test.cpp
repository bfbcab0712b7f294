#include "web/file_part.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>

#include "web/server_fixture.h"
#include "tests/temporary_folder.h"
#include "tests/web/failing_disk.h"

namespace web {
namespace {

class a_file_part : public testing::Test {
 protected:
  a_file_part() { std::ofstream{path_} << all_; }

  [[nodiscard]] file_part part(http::byte_range what) const {
    file made{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
    struct stat now{};
    EXPECT_EQ(::fstat(made.descriptor(), &now), 0);
    return {std::make_shared<const shared_file>(std::move(made), file_version::of(now), "/file"), what};
  }
  /// What is in memory of its beginning; it counts as sent. Empty: it has to be waited for.
  [[nodiscard]] static std::string taken_at_hand(file_part& from) {
    std::string room(50'000, ' ');
    const tartan::result<std::size_t> got = from.read_at_hand(room);
    EXPECT_TRUE(got || got.error() == std::errc::operation_would_block) << got.error().message();
    room.resize(got ? *got : 0);
    from.advance(room.size());
    return room;
  }

  const std::string all_ = test::placed_text(1'000'000);
  tartan::test::temporary_folder folder_;
  const std::string path_ = folder_ / "file";
};

TEST_F(a_file_part, is_no_more_than_was_asked_for) {
  file_part middle = part({100, 60'000});
  EXPECT_EQ(taken_at_hand(middle), all_.substr(100, 50'000));
  EXPECT_FALSE(middle.is_over());
  EXPECT_EQ(taken_at_hand(middle), all_.substr(50'100, 10'000));
  EXPECT_TRUE(middle.is_over());
  file_part end = part({999'990, 10});
  std::string room;
  ASSERT_TRUE(end.read(room, 64));
  EXPECT_EQ(room, all_.substr(999'990));
}

/// As on overlayfs: the first piece is waited for, and what was brought with it is read without a thread, and no more than that.
TEST_F(a_file_part, has_more_brought_where_the_file_system_cannot_tell) {
  const test::failing_disk fails{test::disk_call::preadv2, EOPNOTSUPP, 1'000'000};
  file_part whole = part({0, all_.size()});
  EXPECT_EQ(taken_at_hand(whole), "");
  std::string sent;
  {
    const test::failing_disk reads{test::disk_call::pread, 0, 0};
    ASSERT_TRUE(whole.read(sent, 60'000));
    EXPECT_EQ(reads.calls(), 14u) << "60 000 bytes, and the rest of 256 KB in pieces of 16";
  }
  EXPECT_EQ(sent.size(), 60'000u);
  whole.advance(sent.size());
  for (std::string more = taken_at_hand(whole); !more.empty(); more = taken_at_hand(whole)) sent += more;
  EXPECT_EQ(sent.size(), 256u * 1024);
  EXPECT_TRUE(all_.starts_with(sent));
}

/// What was read is good all the same.
TEST_F(a_file_part, has_no_more_brought_behind_what_cannot_be_read) {
  const test::failing_disk fails{test::disk_call::preadv2, EOPNOTSUPP, 1'000'000};
  file_part whole = part({0, all_.size()});
  EXPECT_EQ(taken_at_hand(whole), "");
  const test::failing_disk reads{test::disk_call::pread, EIO, 1'000'000, 1};
  std::string sent;
  EXPECT_TRUE(whole.read(sent, 60'000));
  EXPECT_EQ(reads.calls(), 2u);
  whole.advance(sent.size());
  EXPECT_EQ(taken_at_hand(whole), "");
  EXPECT_EQ(reads.calls(), 2u) << "a worker would wait for it";
}

}  // namespace
}  // namespace web
