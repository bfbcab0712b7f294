#include "io/select/select_system.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/yield.h>
#include <tartan/io/pipe.h>
#include <tartan/io/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "io/source_fixture.h"
#include "tests/connected_socket.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using test::connected_to;

constexpr color here_color{7};

TEST(select_system, forgets_what_it_closes) {
  detail::select_system system{1};
  test::notebook book{system};
  const test::wire stays;
  int ends[2];
  ASSERT_EQ(system.open_pair(AF_UNIX, SOCK_STREAM, ends), 0);
  ASSERT_EQ(system.watch(ends[0], 7), 0);
  system.want(ends[0], detail::flow::out);
  system.close(ends[0]);
  ASSERT_EQ(::fcntl(stays.ends[0], F_DUPFD_CLOEXEC, ends[0]), ends[0]);  // somebody else's, under this number
  EXPECT_FALSE(system.source().harvest(0));
  EXPECT_TRUE(book.out.empty());
  ::close(ends[0]);
  system.close(ends[1]);
}

/// While it lives, each descriptor that is opened has a number that does not fit into a set.
class no_room_in_a_set {
 public:
  no_room_in_a_set() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit more = before_;
    more.rlim_cur = std::max<rlim_t>(FD_SETSIZE + 64, before_.rlim_cur);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &more), 0);
    while (taken_.empty() || taken_.back() < FD_SETSIZE - 1) taken_.push_back(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  }
  no_room_in_a_set(const no_room_in_a_set&) = delete;
  no_room_in_a_set& operator=(const no_room_in_a_set&) = delete;
  ~no_room_in_a_set() {
    for (const int each : taken_) ::close(each);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0);
  }

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

class by_select : public test::leaves_nothing, public testing::WithParamInterface<const char*> {
 protected:
  [[nodiscard]] static options with() {
    options with;
    with.workers = 2;
    with.scheduler = GetParam();
    return with;
  }
};
std::string scheduler_name(const testing::TestParamInfo<const char*>& info) {
  const std::string name = info.param;
  return name.substr(0, name.find(':'));
}
INSTANTIATE_TEST_SUITE_P(on, by_select, testing::Values("shared_queue:select", "per_worker:select"), scheduler_name);

TEST_P(by_select, listeners_pause_while_no_number_fits_into_a_set) {
  runtime rt{with()};
  auto door = tcp::listen(rt, address::loopback(0), {.color = here_color});
  auto room = pipe::open(rt, here_color, here_color);
  const int one = connected_to(*door.local_address());
  const int other = connected_to(*door.local_address());
  bool accepted = false;
  spawn_in(rt, here_color, [&]() -> task<> {
    const auto peer = co_await door.accept(here_color);
    accepted = static_cast<bool>(peer);
  }).detach();
  {
    const no_room_in_a_set none;
    char byte = 0;
    test::spin_until([&] {
      rt.run_for(std::chrono::nanoseconds{0});
      return ::recv(one, &byte, 1, MSG_DONTWAIT) == 0;  // it was closed
    });
    EXPECT_FALSE(accepted);
    EXPECT_EQ(pipe::open(rt, here_color, here_color).error(), std::errc::too_many_files_open);
  }
  spawn_in(rt, here_color, [&]() -> task<> {
    room->read.close();  // the listener need not wait until it tries again by itself
    co_return;
  }).detach();
  rt.run_until_idle();
  EXPECT_TRUE(accepted);
  ::close(one);
  ::close(other);
}

// The first read takes all that has come, and says so: the second one, which waits behind it, has to be told anew.
TEST_P(by_select, each_that_waits_in_line_is_told) {
  runtime rt{with()};
  auto door = tcp::listen(rt, address::loopback(0), {.color = here_color});
  const int peer = connected_to(*door.local_address());
  const auto send = [&] { EXPECT_EQ(::send(peer, "x", 1, MSG_NOSIGNAL), 1); };
  std::size_t got = 0;
  spawn_in(rt, here_color, [&]() -> task<> {
    auto stream = co_await door.accept(here_color);
    std::array<std::byte, 8> room{};
    const auto reading = [&]() -> task<> {
      const auto bytes = co_await stream->read_some(room);
      got += bytes ? *bytes : 0;
      if (got == 1) send();
    };
    auto one = spawn_in(here_color, reading);
    auto other = spawn_in(here_color, reading);
    post(here_color, send);  // when both wait
    co_await one.join();
    co_await other.join();
  }).detach();
  rt.run_until_idle();
  EXPECT_EQ(got, 2u);
  ::close(peer);
}

// The other worker may be in a call with it.
TEST_P(by_select, peers_of_what_is_closed_while_somebody_waits_for_it_hear_of_it) {
  runtime rt{with()};
  auto door = tcp::listen(rt, address::loopback(0), {.color = here_color});
  for (int round = 0; round < 20; ++round) {
    const int peer = connected_to(*door.local_address());
    bool canceled = false;
    spawn_in(rt, here_color, [&]() -> task<> {
      auto stream = co_await door.accept(here_color);
      std::array<std::byte, 8> room{};
      auto reading = spawn_in(here_color, [&]() -> task<> {
        const auto got = co_await stream->read_some(room);
        canceled = got.error() == errc::closed;
      });
      for (int n = 0; n < 100; ++n) co_await yield();
      stream->close();
      char byte = 0;
      EXPECT_EQ(::recv(peer, &byte, 1, MSG_DONTWAIT), 0) << errno;
      co_await reading.join();
    }).detach();
    rt.run_until_idle();
    EXPECT_TRUE(canceled);
    ::close(peer);
  }
}

}  // namespace
}  // namespace tartan
