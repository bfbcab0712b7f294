/// An accepted connection is watched only from its first operation that waits; docs/design/io.md, part 3.

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <string>
#include <tartan/tartan.h>

#include "tests/connected_socket.h"
#include "tests/io_failures/scenario.h"

namespace tartan {
namespace {

using test::call;
using test::failing_call;
using test::stage;

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span{text}); }

/// Until these bytes, or the end behind them, have come: loopback may take its time.
void await_arrival(const tcp::stream& at, short what = POLLIN) {
  pollfd asked{at.native_handle(), what, 0};
  while (::poll(&asked, 1, -1) != 1) {
  }
  EXPECT_NE(asked.revents & what, 0) << "it is broken";
}

/// What is done with a listener, and a client of the test's own that is connected to it.
void with_client(task<> (*what)(tcp::listener& door, int client)) {
  runtime rt;
  spawn_in(rt, stage, [&]() -> task<> {
    auto door = tcp::listen(rt, address::loopback(0), {.color = stage});
    const int client = test::connected_to(*door.local_address());
    co_await what(door, client);
    ::close(client);
  }).detach();
  rt.run_until_idle();
}

void say(int client) { EXPECT_EQ(::send(client, "x", 1, MSG_NOSIGNAL), 1); }

task<> hear_one(tcp::stream& peer) {
  std::array<std::byte, 8> room{};
  const auto got = co_await peer.read_some(room);
  EXPECT_EQ(got.value_or(0), 1u);
}

task<> hear_nothing_but(tcp::stream& peer, std::error_code error) {
  std::array<std::byte, 8> room{};
  const auto got = co_await peer.read_some(room);
  EXPECT_EQ(got.error(), error);
}

// A connection of one request: its bytes are there when it is accepted.
task<> answer_at_once(tcp::listener& door, int client) {
  say(client);
  const failing_call watched{call::epoll_ctl, EIO, 1'000};
  const failing_call forgotten{call::epoll_ctl_del, EIO, 1'000};
  auto peer = co_await door.accept(stage);
  await_arrival(*peer);
  co_await hear_one(*peer);
  const auto wrote = co_await peer->write(bytes("y"));
  EXPECT_TRUE(wrote);
  peer->close();
  std::array<std::byte, 8> room{};
  EXPECT_EQ(::recv(client, room.data(), room.size(), MSG_WAITALL), 1) << "the answer, and the end";
  EXPECT_EQ(watched.made(), 0u);
  EXPECT_EQ(forgotten.made(), 0u);
}

TEST(sockets, cost_no_call_to_be_watched_or_forgotten_if_they_never_wait) { with_client(answer_at_once); }

task<> wait_twice(tcp::stream& peer, int client) {
  for (int round = 0; round < 2; ++round) {
    auto reads = spawn_in(stage, hear_one(peer));
    co_await yield();  // it waits
    say(client);
    co_await reads.join();
  }
}

// The second connection is where the first one was.
task<> wait_in_turn(tcp::listener& door, int first) {
  const failing_call watched{call::epoll_ctl, EIO, 1'000};
  const failing_call forgotten{call::epoll_ctl_del, EIO, 1'000};
  const int second = test::connected_to(*door.local_address());
  unsigned connections = 0;
  for (const int client : {first, second}) {
    auto peer = co_await door.accept(stage);
    EXPECT_EQ(watched.made(), connections);
    co_await wait_twice(*peer, client);
    EXPECT_EQ(watched.made(), ++connections);
    peer->close();
    EXPECT_EQ(forgotten.made(), connections);
  }
  ::close(second);
}

TEST(sockets, are_watched_from_the_first_wait_until_they_are_closed) { with_client(wait_in_turn); }

// A short read says that nothing is left, and the end behind it has made no edge yet.
task<> hear_an_early_end(tcp::listener& door, int client) {
  say(client);
  EXPECT_EQ(::shutdown(client, SHUT_WR), 0);
  auto peer = co_await door.accept(stage);
  await_arrival(*peer, POLLRDHUP);
  co_await hear_one(*peer);
  co_await hear_nothing_but(*peer, errc::end_of_stream);
}

TEST(sockets, tell_of_an_end_that_came_before_the_first_wait) { with_client(hear_an_early_end); }

task<> hand_on(tcp::listener& door, int client) {
  auto peer = co_await door.accept(stage);
  const failing_call forgotten{call::epoll_ctl_del, EIO, 1'000};
  const int released = peer->release();
  EXPECT_EQ(forgotten.made(), 0u);
  auto again = tcp::stream::from_fd(released, stage);
  say(client);
  co_await hear_one(*again);
}

TEST(sockets, that_were_never_watched_are_handed_on_without_a_call) { with_client(hand_on); }

task<> do_without_a_watch(tcp::listener& door, int client) {
  auto peer = co_await door.accept(stage);
  {
    const failing_call fails{call::epoll_ctl, ENOSPC, 0, 1'000};
    co_await hear_nothing_but(*peer, std::error_code{ENOSPC, std::system_category()});
    say(client);
    await_arrival(*peer);
    co_await hear_one(*peer);  // it need not wait
  }
  EXPECT_EQ(::shutdown(client, SHUT_WR), 0);
  co_await hear_nothing_but(*peer, errc::end_of_stream);
}

TEST(sockets, end_the_first_wait_if_they_cannot_be_watched_and_the_next_one_may_succeed) { with_client(do_without_a_watch); }

// More than fits, then what fits, as soon as there is room again.
task<> write_without_a_watch(tcp::listener& door, int client) {
  auto peer = co_await door.accept(stage);
  EXPECT_TRUE(peer->set_send_buffer(16 * 1024));
  const failing_call fails{call::epoll_ctl, ENOSPC, 0, 1'000};
  const std::string much(900'000, ' ');
  const auto none = co_await peer->write(bytes(much));
  EXPECT_EQ(none.error(), std::errc::no_space_on_device);
  std::array<char, 65'536> room{};
  for (pollfd asked{peer->native_handle(), POLLOUT, 0}; ::poll(&asked, 1, 0) == 0;) {
    static_cast<void>(::recv(client, room.data(), room.size(), MSG_DONTWAIT));
  }
  const auto wrote = co_await peer->write(bytes("y"));
  EXPECT_TRUE(wrote) << "it need not wait";
}

TEST(sockets, end_a_write_that_waits_if_they_cannot_be_watched_and_the_next_one_that_need_not_succeeds) { with_client(write_without_a_watch); }

// It would go on in another event, which is on its way when the stream is closed.
task<> write_for_long_without_a_watch(tcp::listener& door, int) {
  auto peer = co_await door.accept(stage);
  EXPECT_TRUE(peer->set_send_buffer(8 * 1024 * 1024));
  const failing_call fails{call::epoll_ctl, ENOSPC, 0, 1'000};
  const std::string much(16 * 1024 * 1024, ' ');
  for (int n = 0; n < 2; ++n) {
    const auto wrote = co_await peer->write(bytes(much));
    EXPECT_EQ(wrote.error(), std::errc::no_space_on_device);
  }
  peer->close();
  co_await yield();
}

TEST(sockets, end_what_takes_more_than_one_event_if_they_cannot_be_watched) { with_client(write_for_long_without_a_watch); }

}  // namespace
}  // namespace tartan
