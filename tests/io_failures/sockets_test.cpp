/// Every failure of the calls by which sockets and pipes are made, used and watched.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <tartan/tartan.h>

#include "tests/io_failures/scenario.h"

namespace tartan {
namespace {

using test::call;
using test::failure;
using test::fails_everywhere;
using test::outcome;
using test::stage;
using test::told;

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span{text}); }

constexpr std::size_t large = 600'000;  // more than a socket's buffer takes at once

task<> answer(tcp::listener& door, told& errors) {
  auto peer = co_await door.accept(stage);
  if (!errors.ok(peer)) {
    door.close();
    co_return;
  }
  std::string line;
  const auto head = co_await peer->read_until(line, "\n", 100);
  if (!errors.ok(head)) co_return;
  const std::string body(large, 'x');
  const auto wrote = co_await peer->write(body);
  if (!errors.ok(wrote)) co_return;
  errors.ok(peer->shutdown_send());
}

task<> ask(tcp::listener& door, told& errors) {
  const auto at = door.local_address();
  if (errors.ok(at)) {
    auto peer = co_await tcp::connect(*at);
    if (errors.ok(peer)) {
      errors.ok(peer->set_no_delay(true));
      errors.ok(peer->peer_address());
      const std::array<std::span<const std::byte>, 2> parts{bytes("hel"), bytes("lo\n")};
      const auto asked = co_await peer->write(std::span<const std::span<const std::byte>>{parts});
      if (errors.ok(asked)) {
        std::string body(large, ' ');
        const auto got = co_await peer->read_exactly(std::as_writable_bytes(std::span{body}));
        errors.ok(got);
      }
    }
  }
  door.close();  // if nobody came, the other does not wait
}

void tcp_talk(runtime& rt, told& errors) {
  auto made = tcp::try_listen(rt, address::loopback(0), {.color = stage});
  if (!errors.ok(made)) return;
  spawn_in(rt, stage, [&errors, door = std::move(*made)]() mutable -> task<> {
    auto other = spawn_in(stage, answer(door, errors));
    co_await ask(door, errors);
    co_await other.join();
  }).detach();
}

TEST(sockets, tcp_tells_of_each_failure) {
  fails_everywhere(tcp_talk, {
                                 {call::epoll_create1, EMFILE, outcome::told},
                                 {call::eventfd, EMFILE, outcome::told},
                                 {call::epoll_ctl, ENOSPC, outcome::noticed},  // an accepted one is closed
                                 {call::socket, EMFILE, outcome::told},
                                 {call::setsockopt, ENOMEM, outcome::told},
                                 {call::bind, EADDRINUSE, outcome::told},
                                 {call::listen, EADDRINUSE, outcome::told},
                                 {call::getsockname, ENOBUFS, outcome::told},
                                 {call::connect, ENETUNREACH, outcome::told},
                                 {call::getsockopt, ENOMEM, outcome::told},
                                 {call::getpeername, ENOBUFS, outcome::told},
                                 {call::accept4, EINVAL, outcome::told},
                                 {call::recv, ECONNRESET, outcome::told},
                                 {call::recv, ENOMEM, outcome::told},
                                 {call::send, EPIPE, outcome::told},
                                 {call::send, ENOBUFS, outcome::told},
                                 {call::sendmsg, ECONNRESET, outcome::told},
                                 {call::shutdown, ENOTCONN, outcome::told},
                             });
}

TEST(sockets, tcp_hides_what_can_be_tried_again) {
  fails_everywhere(tcp_talk, {
                                 {call::connect, EINTR, outcome::retried},
                                 {call::accept4, EINTR, outcome::retried},
                                 {call::accept4, ECONNABORTED, outcome::retried},
                                 {call::accept4, EMFILE, outcome::retried},
                                 {call::accept4, ENFILE, outcome::retried},
                                 {call::accept4, ENOMEM, outcome::retried},
                                 {call::recv, EINTR, outcome::retried},
                                 {call::send, EINTR, outcome::retried},
                                 {call::sendmsg, EINTR, outcome::retried},
                                 {call::epoll_wait, EINTR, outcome::retried},
                                 {call::epoll_pwait2, EINTR, outcome::retried},
                                 {call::epoll_pwait2, ENOSYS, outcome::retried},
                                 {call::close, EINTR, outcome::retried},
                             });
}

void local_talk(runtime& rt, told& errors) {
  auto made = local::pair(rt, stage, stage);
  if (!errors.ok(made)) return;
  spawn_in(rt, stage, [&errors, both = std::move(*made)]() mutable -> task<> {
    auto& [one, other] = both;
    const std::array<int, 1> passed{STDIN_FILENO};
    const auto sent = co_await one.send_with(bytes("x"), passed);
    if (!errors.ok(sent)) co_return;
    std::array<std::byte, 8> room{};
    std::array<int, 2> came{-1, -1};
    const auto got = co_await other.receive_with(room, came);
    if (!errors.ok(got)) co_return;
    ::close(came[0]);
    one.close();
    const auto end = co_await other.read_some(room);
    if (end.error() != errc::end_of_stream) errors.note(end.error());
    const int released = other.release();
    auto again = local::stream::from_fd(released, stage);
    if (!errors.ok(again)) ::close(released);
  }).detach();
}

TEST(sockets, unix_streams_tell_of_each_failure) {
  fails_everywhere(local_talk, {
                                   {call::socketpair, EMFILE, outcome::told},
                                   {call::epoll_create1, EMFILE, outcome::told},
                                   {call::epoll_ctl, ENOMEM, outcome::told, 3},  // the fourth forgets one, which cannot fail so
                                   {call::sendmsg, ETOOMANYREFS, outcome::told},
                                   {call::sendmsg, EINTR, outcome::retried},
                                   {call::recvmsg, ENOMEM, outcome::told},
                                   {call::recvmsg, EINTR, outcome::retried},
                                   {call::recv, ENOMEM, outcome::told},
                                   {call::fcntl, EBADF, outcome::told},
                               });
}

void local_listen(runtime& rt, told& errors) {
  auto at = address::unix_path("@tartan-failures-" + std::to_string(::getpid()));
  auto made = local::try_listen(rt, *at, {.color = stage});
  if (!errors.ok(made)) return;
  spawn_in(rt, stage, [&errors, at = *at, door = std::move(*made)]() mutable -> task<> {
    auto other = spawn_in(stage, [&]() -> task<> {
      auto peer = co_await door.accept(stage);
      errors.ok(peer);
      door.close();
    });
    auto peer = co_await local::connect(at);
    std::array<std::byte, 1> room{};
    if (errors.ok(peer)) static_cast<void>(co_await peer->read_some(room));  // until the other side has closed it
    door.close();
    co_await other.join();
  }).detach();
}

TEST(sockets, unix_listeners_tell_of_each_failure) {
  fails_everywhere(local_listen, {
                                     {call::socket, EMFILE, outcome::told},
                                     {call::bind, EADDRINUSE, outcome::told},
                                     {call::listen, EADDRINUSE, outcome::told},
                                     {call::connect, ECONNREFUSED, outcome::told},
                                     {call::accept4, EINVAL, outcome::told},
                                     {call::accept4, ENFILE, outcome::retried},
                                     {call::epoll_ctl, ENOSPC, outcome::noticed},
                                 });
}

void udp_talk(runtime& rt, told& errors) {
  auto one = udp::try_bind(rt, address::loopback(0), {.color = stage});
  if (!errors.ok(one)) return;
  auto other = udp::try_bind(rt, address::loopback(0), {.color = stage});
  if (!errors.ok(other)) return;
  spawn_in(rt, stage, [&errors, one = std::move(*one), other = std::move(*other)]() mutable -> task<> {
    const auto at = one.local_address();
    if (!errors.ok(at)) co_return;
    if (!errors.ok(other.connect(*at))) co_return;
    const auto sent = co_await other.send(bytes("ping"));
    if (!errors.ok(sent)) co_return;
    std::array<std::byte, 8> room{};
    const auto got = co_await one.receive_from(room);
    errors.ok(got);
  }).detach();
}

TEST(sockets, udp_tells_of_each_failure) {
  fails_everywhere(udp_talk, {
                                 {call::socket, EMFILE, outcome::told},
                                 {call::bind, EADDRINUSE, outcome::told},
                                 {call::epoll_ctl, ENOSPC, outcome::told},
                                 {call::getsockname, ENOBUFS, outcome::told},
                                 {call::connect, ENETUNREACH, outcome::told},
                                 {call::sendmsg, ECONNREFUSED, outcome::told},
                                 {call::sendmsg, EINTR, outcome::retried},
                                 {call::recvmsg, ECONNREFUSED, outcome::told},
                                 {call::recvmsg, EINTR, outcome::retried},
                             });
}

void pipe_talk(runtime& rt, told& errors) {
  auto made = pipe::open(rt, stage, stage);
  if (!errors.ok(made)) return;
  spawn_in(rt, stage, [&errors, both = std::move(*made)]() mutable -> task<> {
    auto writing = spawn_in(stage, [&]() -> task<> {
      const std::string all(large, 'x');
      const auto wrote = co_await both.write.write(all);
      errors.ok(wrote);
      both.write.close();
    });
    std::string room(large, ' ');
    const auto got = co_await both.read.read_exactly(std::as_writable_bytes(std::span{room}));
    errors.ok(got);
    both.read.close();
    co_await writing.join();
  }).detach();
}

TEST(sockets, pipes_tell_of_each_failure) {
  fails_everywhere(pipe_talk, {
                                  {call::pipe2, EMFILE, outcome::told},
                                  {call::epoll_create1, ENOMEM, outcome::told},
                                  {call::epoll_ctl, ENOSPC, outcome::told},
                                  {call::read, EIO, outcome::told},
                                  {call::read, EINTR, outcome::retried},
                                  {call::writev, EPIPE, outcome::told},
                                  {call::writev, EINTR, outcome::retried},
                              });
}

}  // namespace
}  // namespace tartan
