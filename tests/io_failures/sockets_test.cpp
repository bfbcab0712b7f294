/// Every failure of the calls by which sockets and pipes are made, used and watched.

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <tartan/tartan.h>
#include <thread>

#include "tests/connected_socket.h"
#include "tests/io_failures/scenario.h"
#include "tests/temporary_folder.h"

namespace tartan {
namespace {

using test::call;
using test::failing_call;
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

/// How often a worker has gone to sleep until a descriptor is ready.
unsigned long sleeps() { return test::calls_made(call::epoll_pwait2) + test::calls_made(call::select); }

/// Waits until a worker has slept since the scenario began. One wait may not be enough: on a busy machine its time can
/// pass before the worker gets to sleep.
task<> wait_for_a_sleep(tcp::stream& peer, unsigned long before, told& errors) {
  while (sleeps() == before) {
    std::array<std::byte, 1> room{};
    const auto got = co_await with_timeout(std::chrono::milliseconds{1}, peer.read_some(room));
    if (got) co_return;
    if (got.error() != std::errc::timed_out) {
      errors.note(got.error());
      co_return;
    }
  }
}

task<> ask(tcp::listener& door, unsigned long sleeps_before, told& errors) {
  const auto at = door.local_address();
  if (errors.ok(at)) {
    auto peer = co_await tcp::connect(*at);
    if (errors.ok(peer)) {
      errors.ok(peer->set_no_delay(true));
      errors.ok(peer->peer_address());
      co_await wait_for_a_sleep(*peer, sleeps_before, errors);
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
  spawn_in(rt, stage, [&errors, before = sleeps(), door = std::move(*made)]() mutable -> task<> {
    auto other = spawn_in(stage, answer(door, errors));
    co_await ask(door, before, errors);
    co_await other.join();
  }).detach();
}

TEST(sockets, listeners_of_ipv6_tell_of_each_failure) {
  const auto play = [](runtime& rt, told& errors) { errors.ok(tcp::try_listen(rt, *address::parse("[::]:0"), {.color = stage})); };
  if (!test::has_ipv6()) return;  // where it cannot be listened on, nothing fails on the way
  fails_everywhere(play, {{call::setsockopt, ENOPROTOOPT, outcome::told}, {call::bind, EADDRNOTAVAIL, outcome::told}});
}

TEST(sockets, tcp_tells_of_each_failure) {
  fails_everywhere(tcp_talk, {
                                 {call::epoll_create1, EMFILE, outcome::told},
                                 {call::eventfd, EMFILE, outcome::told},  // that of the guard's bed, and that of epoll
                                 {call::epoll_ctl, ENOSPC, outcome::told},  // of an accepted one by the first operation that waits
                                 {call::epoll_ctl_del, ENOENT, outcome::retried},
                                 {call::socket, EMFILE, outcome::told},
                                 {call::setsockopt, ENOMEM, outcome::told},
                                 {call::bind, EADDRINUSE, outcome::told},
                                 {call::listen, EADDRINUSE, outcome::told},
                                 {call::getsockname, ENOBUFS, outcome::told},
                                 {call::connect, ENETUNREACH, outcome::told},
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

void tcp_refusal(runtime& rt, told& errors) {
  auto made = tcp::try_listen(rt, address::loopback(0), {.color = stage});
  const address at = *made->local_address();
  made->close();  // nobody is there
  spawn_in(rt, stage, [&errors, at]() -> task<> {
    const auto peer = co_await tcp::connect(at);
    if (peer.error() != std::errc::connection_refused) errors.note(peer.error());
  }).detach();
}

// The first eventfd is that of the guard's bed.
TEST(sockets, several_workers_get_their_guards_bed_at_the_next_attempt) {
  const failing_call fails{call::eventfd, EMFILE, 0};
  options with;
  with.workers = 2;
  runtime rt{with};
  const auto refused = tcp::try_listen(rt, address::loopback(0), {.color = stage});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), std::errc::too_many_files_open);
  told errors;
  tcp_talk(rt, errors);
  rt.run_until_idle();
  EXPECT_TRUE(errors.nothing()) << errors.text();
  EXPECT_TRUE(fails.struck());
}

TEST(sockets, tcp_tells_of_each_failure_to_say_why_it_has_failed) {
  fails_everywhere(tcp_refusal, {{call::getsockopt, ENOMEM, outcome::told}, {call::getpeername, ENOBUFS, outcome::told}});
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
                                 // How often a worker that searches looks depends on how long it is let run.
                                 {call::epoll_wait, EINTR, outcome::retried, 50},
                                 {call::epoll_pwait2, EINTR, outcome::retried, 50},
                                 {call::epoll_pwait2, ENOSYS, outcome::retried, 50},
                                 {call::close, EINTR, outcome::retried},
                             });
}

TEST(sockets, by_select_tell_of_each_failure_and_hide_what_can_be_tried_again) {
  for (const char* const scheduler : {"shared_queue:select", "per_worker:select"}) {
    SCOPED_TRACE(scheduler);
    fails_everywhere(tcp_talk,
                     {
                         {call::eventfd, EMFILE, outcome::told},
                         {call::fstat, ENOMEM, outcome::noticed},  // before one is watched: an accepted one is closed
                         {call::accept4, EMFILE, outcome::retried},
                         {call::recv, ECONNRESET, outcome::told},
                         {call::select, EINTR, outcome::retried, 50},
                         {call::select, ENOMEM, outcome::retried, 50},
                         {call::select, EBADF, outcome::retried, 50},
                     },
                     scheduler);
  }
}

// That there are connections is no news while they cannot be taken.
TEST(sockets, listeners_that_pause_are_not_told_of_connections_meanwhile) {
  for (const char* const scheduler : {"default", "shared_queue:select", "per_worker:select"}) {
    options with;
    with.workers = 1;
    with.scheduler = scheduler;
    runtime rt{with};
    bool accepted = false;
    auto door = tcp::listen(rt, address::loopback(0), {.color = stage});
    const int peer = test::connected_to(*door.local_address());
    spawn_in(rt, stage, [&]() -> task<> { accepted = static_cast<bool>(co_await door.accept(stage)); }).detach();
    {
      const failing_call refused{call::accept4, EMFILE, 0, 10'000};
      for (int n = 0; n < 1000; ++n) rt.run_for(std::chrono::nanoseconds{0});
      EXPECT_TRUE(refused.struck());
      EXPECT_LT(refused.made(), 100u) << scheduler;  // one, and one more for each 100 ms that this takes
    }
    rt.run_until_idle();
    EXPECT_TRUE(accepted);
    ::close(peer);
  }
}

// As a filter of system calls does that forbids this one.
TEST(sockets, listeners_that_are_refused_without_end_let_others_go_first) {
  for (const unsigned workers : {1u, 2u}) {
    options with;
    with.workers = workers;
    runtime rt{with};
    bool accepted = false;
    spawn_in(rt, stage, [&]() -> task<> {
      auto door = tcp::listen(rt, address::loopback(0), {.color = stage});
      const auto peer = co_await tcp::connect(*door.local_address());
      {
        const failing_call refused{call::accept4, EPERM, 0, 10'000};
        door.accept(stage, [&](const result<tcp::stream>& came) { accepted = static_cast<bool>(came); });
        EXPECT_TRUE(refused.struck());
        EXPECT_LT(refused.made(), 1000u);  // 64, and 64 more if the news of the connection comes just then
      }
      while (!accepted) co_await yield();
    }).detach();
    rt.run_until_idle();
    EXPECT_TRUE(accepted);
  }
}

TEST(sockets, cost_one_call_besides_close_when_they_are_closed) {
  runtime rt;
  spawn_in(rt, stage, [&]() -> task<> {
    auto both = local::pair();
    const failing_call counted{call::epoll_ctl_del, EIO, 1'000};
    both->first.close();
    EXPECT_EQ(counted.made(), 1u);
    both->second.close();
    EXPECT_EQ(counted.made(), 2u);
    co_return;
  }).detach();
  rt.run_until_idle();
}

TEST(sockets, do_not_ask_why_a_connect_failed_that_has_not) {
  runtime rt;
  spawn_in(rt, stage, [&]() -> task<> {
    auto door = tcp::listen(rt, address::loopback(0), {.color = stage});
    const auto at = address::unix_path("@tartan-asks-once-" + std::to_string(::getpid()));
    auto local_door = local::listen(rt, *at, {.color = stage});
    const failing_call errors_asked{call::getsockopt, EIO, 1'000};
    const failing_call peers_asked{call::getpeername, EIO, 1'000};
    const auto local_stream = co_await local::connect(*at);
    EXPECT_TRUE(local_stream);
    EXPECT_EQ(errors_asked.made() + peers_asked.made(), 0u) << "it was over at once";
    const address here = *door.local_address();
    const auto stream = co_await tcp::connect(here);
    EXPECT_TRUE(stream);
    EXPECT_EQ(errors_asked.made(), 0u);
    EXPECT_LE(peers_asked.made(), 2u);
  }).detach();
  rt.run_until_idle();
}

/// Stops runtimes until one of them had to be woken for it, and its bell gave an error.
void stop_with_a_bell_that_fails(int error) {
  for (bool struck = false; !struck;) {
    runtime rt;
    auto door = tcp::listen(rt, address::loopback(0));
    const failing_call fails{call::write, error, 0};
    std::thread outside{[&] { rt.stop(); }};
    EXPECT_EQ(rt.run(), 0);
    outside.join();
    struck = fails.struck();
  }
}

TEST(sockets, workers_are_woken_though_the_call_was_interrupted) { stop_with_a_bell_that_fails(EINTR); }

TEST(sockets, workers_that_cannot_be_woken_end_the_program_with_the_reason) {
  EXPECT_DEATH(stop_with_a_bell_that_fails(EBADF), "workers cannot be woken");
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
                                   {call::epoll_ctl, ENOMEM, outcome::told},
                                   {call::sendmsg, ETOOMANYREFS, outcome::told},
                                   {call::sendmsg, EINTR, outcome::retried},
                                   {call::recvmsg, ENOMEM, outcome::told},
                                   {call::recvmsg, EINTR, outcome::retried},
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
                                     {call::epoll_ctl, ENOSPC, outcome::told},
                                 });
}

// It cannot tell anybody: then the file stays.
TEST(sockets, unix_listeners_leave_a_file_that_they_cannot_look_at_or_remove) {
  const test::temporary_folder folder;
  const std::string path = folder / "door";
  const auto play = [&](runtime& rt, told& errors) {
    std::filesystem::remove(path);
    auto made = local::try_listen(rt, *address::unix_path(path), {.unlink_on_close = true, .color = stage});
    if (errors.ok(made)) made->close();
  };
  fails_everywhere(play, {{call::lstat, EIO, outcome::retried}, {call::unlink, EROFS, outcome::retried}});
  runtime rt;
  for (const call each : {call::lstat, call::unlink}) {
    std::filesystem::remove(path);
    const failing_call fails{each, EIO, 0};
    auto made = local::try_listen(rt, *address::unix_path(path), {.unlink_on_close = true, .color = stage});
    made->close();
    EXPECT_TRUE(fails.struck());
    EXPECT_TRUE(std::filesystem::exists(path));
  }
}

TEST(sockets, addresses_tell_that_there_is_no_such_interface) {
  EXPECT_TRUE(address::parse("[fe80::1%lo]:80"));
  const failing_call fails{call::if_nametoindex, ENXIO, 0};
  EXPECT_EQ(address::parse("[fe80::1%lo]:80").error(), std::errc::invalid_argument);
  EXPECT_TRUE(fails.struck());
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

void udp_talk_of_many(runtime& rt, told& errors) {
  auto one = udp::try_bind(rt, address::loopback(0), {.color = stage});
  if (!errors.ok(one)) return;
  spawn_in(rt, stage, [&errors, s = std::move(*one)]() mutable -> task<> {
    std::vector<udp::outgoing> all;
    for (int n = 0; n < 3; ++n) all.push_back({.bytes = "x", .to = *s.local_address()});
    const auto sent = co_await s.send_many(all);
    if (!errors.ok(sent)) co_return;
    char room[4];
    udp::incoming place{.room = room};
    for (int n = 0; n < 3; ++n) {
      const auto got = co_await s.receive_many({&place, 1});
      errors.ok(got);
    }
  }).detach();
}

TEST(sockets, udp_tells_of_each_failure_of_many) {
  fails_everywhere(udp_talk_of_many, {
                                         {call::sendmmsg, ENOBUFS, outcome::told},
                                         {call::sendmmsg, EINTR, outcome::retried},
                                         {call::recvmmsg, ENOMEM, outcome::told},
                                         {call::recvmmsg, EINTR, outcome::retried},
                                     });
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

// The signal that a pipe's write raises is taken back; also in a thread that has it blocked, and not if it was there before.
TEST(sockets, pipes_without_a_reader_raise_no_signal_whatever_is_interrupted) {
  const auto play = [](runtime& rt, told& errors) {
    auto made = pipe::open(rt, stage, stage);
    if (!errors.ok(made)) return;
    spawn_in(rt, stage, [&errors, both = std::move(*made)]() mutable -> task<> {
      both.read.close();
      const auto wrote = co_await both.write.write("x");
      if (wrote.error() != std::errc::broken_pipe) errors.note(wrote.error());
      sigset_t pending;
      sigpending(&pending);
      if (sigismember(&pending, SIGPIPE) != 0) errors.note(std::make_error_code(std::errc::interrupted));
    }).detach();
  };
  fails_everywhere(play, {{call::sigtimedwait, EINTR, outcome::retried}});
  sigset_t pipe_only;
  sigset_t before;
  sigemptyset(&pipe_only);
  sigaddset(&pipe_only, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
  fails_everywhere(play, {{call::sigtimedwait, EINTR, outcome::retried}, {call::sigpending, EFAULT, outcome::retried, 1}});
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace tartan
