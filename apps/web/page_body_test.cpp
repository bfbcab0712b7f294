#include "web/page_body.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "tests/web/failing_disk.h"

namespace web {
namespace {

using test::disk_call;
using test::failing_disk;

std::string text_of(char first, std::size_t bytes) {
  std::string text(bytes, ' ');
  for (std::size_t n = 0; n < bytes; ++n) text[n] = static_cast<char>(first + static_cast<char>(n % 23));
  return text;
}

/// As the kernel would send it.
std::string sendable(const page_body& body) {
  std::string text(body.size() + 1, ' ');
  const ssize_t got = ::pread(body.descriptor(), text.data(), text.size(), 0);
  return text.substr(0, got < 0 ? 0 : static_cast<std::size_t>(got));
}

/// Of page bodies, into this process.
int mappings() {
  std::ifstream all{"/proc/self/maps"};
  int found = 0;
  for (std::string line; std::getline(all, line);) found += line.find("tartan-web page") != std::string::npos ? 1 : 0;
  return found;
}

auto open_files() { return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {}); }

/// While it lives, this process may have no more of something.
class limited {
 public:
  limited(__rlimit_resource_t what, rlim_t most) : what_{what} {
    EXPECT_EQ(::getrlimit(what_, &before_), 0);
    const rlimit less{most, before_.rlim_max};
    EXPECT_EQ(::setrlimit(what_, &less), 0);
  }
  limited(const limited&) = delete;
  limited& operator=(const limited&) = delete;
  ~limited() { EXPECT_EQ(::setrlimit(what_, &before_), 0); }

 private:
  __rlimit_resource_t what_;
  rlimit before_{};
};

TEST(a_page_body, that_is_short_is_not_sent_by_the_kernel) {
  const page_body body{text_of('a', page_body::least_sent - 1)};
  EXPECT_FALSE(body.is_sendable());
  EXPECT_EQ(body.text(), text_of('a', page_body::least_sent - 1));
}

TEST(a_page_body, that_is_longer_is_there_for_both) {
  for (const std::size_t bytes : {page_body::least_sent, std::size_t{10'001}, std::size_t{65'536}}) {
    const page_body body{text_of('a', bytes)};
    ASSERT_TRUE(body.is_sendable());
    EXPECT_EQ(body.size(), bytes);
    EXPECT_TRUE(body.text() == text_of('a', bytes));
    EXPECT_TRUE(sendable(body) == text_of('a', bytes));
    EXPECT_GE(body.bytes(), bytes);
  }
}

TEST(a_page_body, gives_its_file_back) {
  const auto before = open_files();
  {
    const page_body body{text_of('a', 10'000)};
    EXPECT_EQ(open_files(), before + 1);
    EXPECT_EQ(mappings(), 1);
  }
  EXPECT_EQ(open_files(), before);
  EXPECT_EQ(mappings(), 0);
}

TEST(a_page_body, stays_whole_when_it_is_moved) {
  std::optional<page_body> first{std::in_place, text_of('a', 10'000)};
  page_body second{std::move(*first)};
  first.reset();
  EXPECT_TRUE(second.text() == text_of('a', 10'000) && sendable(second) == second.text());
  page_body third{text_of('b', 20'000)};
  third = std::move(second);
  EXPECT_TRUE(third.text() == text_of('a', 10'000) && sendable(third) == third.text());
  third = page_body{"short"};
  EXPECT_EQ(third.text(), "short");
  EXPECT_FALSE(third.is_sendable());
}

// What is on its way is the memory itself.
TEST(a_page_body, does_not_change_on_its_way_when_it_goes_and_another_one_comes) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const file near{ends[0]};
  const file far{ends[1]};
  std::optional<page_body> body{std::in_place, text_of('a', 20'000)};
  off_t from = 0;
  ASSERT_EQ(::sendfile(near.descriptor(), body->descriptor(), &from, 20'000), 20'000);
  const page_body next{text_of('b', 20'000)};
  body.reset();
  const page_body last{text_of('c', 20'000)};
  std::string came(20'000, ' ');
  ASSERT_EQ(::recv(far.descriptor(), came.data(), came.size(), MSG_WAITALL), 20'000);
  EXPECT_TRUE(came == text_of('a', 20'000));
}

TEST(a_page_body, stays_a_string_if_the_system_fails) {
  const auto before = open_files();
  for (const disk_call each : {disk_call::memfd_create, disk_call::pwrite, disk_call::mmap}) {
    const failing_disk failing{each, ENOMEM};
    const page_body body{text_of('a', 10'000)};
    EXPECT_FALSE(body.is_sendable());
    EXPECT_TRUE(body.text() == text_of('a', 10'000));
    EXPECT_EQ(open_files(), before);
  }
}

TEST(a_page_body, is_written_whole_however_often_that_is_interrupted) {
  for (const int error : {EINTR, 0}) {
    const failing_disk failing{disk_call::pwrite, error, 3};
    const page_body body{text_of('a', 10'000)};
    EXPECT_TRUE(body.is_sendable());
    EXPECT_TRUE(body.text() == text_of('a', 10'000));
  }
  const failing_disk older{disk_call::memfd_create, EINVAL};  // a kernel that does not know all that is asked for
  EXPECT_TRUE(page_body{text_of('a', 10'000)}.is_sendable());
}

TEST(a_page_body, stays_a_string_where_files_may_not_be_so_long) {
  const limited less{RLIMIT_FSIZE, 9'999};  // who writes more gets a SIGXFSZ
  const page_body body{text_of('a', 10'000)};
  EXPECT_FALSE(body.is_sendable());
  EXPECT_TRUE(body.text() == text_of('a', 10'000));
}

TEST(a_page_body, takes_a_file_of_a_sixteenth_of_all_at_most_and_leaves_it_to_the_next) {
  const limited less{RLIMIT_NOFILE, 10 * 16};
  for (int round = 0; round < 2; ++round) {
    std::vector<page_body> all;
    for (int n = 0; n < 12; ++n) all.emplace_back(text_of('a', 10'000));
    for (int n = 0; n < 12; ++n) {
      EXPECT_EQ(all[static_cast<std::size_t>(n)].is_sendable(), n < 10) << n;
      EXPECT_TRUE(all[static_cast<std::size_t>(n)].text() == text_of('a', 10'000));
    }
    {
      const failing_disk failing{disk_call::memfd_create, ENFILE};
      all.erase(all.begin());
      EXPECT_FALSE(page_body{text_of('a', 10'000)}.is_sendable());
    }
    EXPECT_TRUE(page_body{text_of('a', 10'000)}.is_sendable());
  }
}

}  // namespace
}  // namespace web
