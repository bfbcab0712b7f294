#include "page_body.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <optional>
#include <string>

namespace web {
namespace {

std::string text_of(char first, std::size_t bytes) {
  std::string text(bytes, ' ');
  for (std::size_t n = 0; n < bytes; ++n) text[n] = static_cast<char>(first + static_cast<char>(n % 23));
  return text;
}

class a_page_body : public testing::Test {
 protected:
  /// As the kernel would send it.
  static std::string sendable(const page_body& body) {
    std::string text(body.size(), ' ');
    EXPECT_EQ(::pread(body.descriptor(), text.data(), text.size(), static_cast<off_t>(body.first())), static_cast<ssize_t>(text.size()));
    return text;
  }

  /// Bytes that the system has given.
  [[nodiscard]] std::size_t taken() const {
    struct stat now{};
    EXPECT_EQ(::fstat(memory_->descriptor(), &now), 0);
    return static_cast<std::size_t>(now.st_blocks) * 512;
  }

  std::shared_ptr<const page_memory> memory_ = std::make_shared<const page_memory>();
};

TEST_F(a_page_body, that_is_short_is_not_sent_by_the_kernel) {
  const page_body body{text_of('a', page_body::least_sent - 1), memory_};
  EXPECT_FALSE(body.is_sendable());
  EXPECT_EQ(body.text(), text_of('a', page_body::least_sent - 1));
  EXPECT_EQ(taken(), 0u);
}

TEST_F(a_page_body, that_is_longer_is_there_for_both) {
  for (const std::size_t bytes : {page_body::least_sent, std::size_t{10'001}, std::size_t{65'536}}) {
    const page_body body{text_of('a', bytes), memory_};
    ASSERT_TRUE(body.is_sendable());
    EXPECT_EQ(body.size(), bytes);
    EXPECT_TRUE(body.text() == text_of('a', bytes));
    EXPECT_TRUE(sendable(body) == text_of('a', bytes));
    EXPECT_EQ(body.bytes(), taken());
  }
  EXPECT_EQ(taken(), 0u) << "the system has its memory back";
}

TEST_F(a_page_body, stays_whole_when_it_is_moved) {
  std::optional<page_body> first{std::in_place, text_of('a', 10'000), memory_};
  page_body second{std::move(*first)};
  first.reset();
  EXPECT_TRUE(second.text() == text_of('a', 10'000) && sendable(second) == second.text());
  page_body third{text_of('b', 20'000), memory_};
  third = std::move(second);
  EXPECT_TRUE(third.text() == text_of('a', 10'000) && sendable(third) == third.text());
  third = page_body{"short"};
  EXPECT_EQ(third.text(), "short");
  EXPECT_FALSE(third.is_sendable());
}

// What is on its way is the memory itself: another page that came to lie there would be sent instead.
TEST_F(a_page_body, does_not_change_on_its_way_when_it_goes_and_another_one_comes) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const file near{ends[0]};
  const file far{ends[1]};
  std::optional<page_body> body{std::in_place, text_of('a', 20'000), memory_};
  off_t from = static_cast<off_t>(body->first());
  ASSERT_EQ(::sendfile(near.descriptor(), body->descriptor(), &from, 20'000), 20'000);
  const page_body next{text_of('b', 20'000), memory_};
  body.reset();
  const page_body last{text_of('c', 20'000), memory_};
  std::string came(20'000, ' ');
  ASSERT_EQ(::recv(far.descriptor(), came.data(), came.size(), MSG_WAITALL), 20'000);
  EXPECT_TRUE(came == text_of('a', 20'000));
}

TEST_F(a_page_body, stays_in_the_program_where_there_is_no_other_memory) {
  EXPECT_FALSE((page_body{text_of('a', 10'000), nullptr}.is_sendable()));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1 << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);  // who writes behind that gets a SIGXFSZ
  const auto none = std::make_shared<const page_memory>();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  const page_body body{text_of('a', 10'000), none};
  EXPECT_FALSE(body.is_sendable());
  EXPECT_EQ(body.text(), text_of('a', 10'000));
  EXPECT_EQ(none->add("x"), -1);
}

}  // namespace
}  // namespace web
