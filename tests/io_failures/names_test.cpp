/// Every failure of the calls by which names are looked up.

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <tartan/dns/resolver.h>
#include <tartan/tartan.h>

#include "tests/io_failures/scenario.h"
#include "tests/temporary_folder.h"

namespace tartan {
namespace {

using test::call;
using test::fails_everywhere;
using test::outcome;
using test::stage;
using test::told;

/// A question as an answer; truncated, or with the address 192.0.2.1.
std::string answer_to(std::string question, bool is_truncated) {
  question[2] = static_cast<char>(is_truncated ? 0x83 : 0x81);
  if (is_truncated) return question;
  question[7] = 1;
  return question + std::string{"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc0\0\2\1", 16};
}

/// A name server that says by UDP that it will say it by TCP.
struct server {
  udp::socket datagrams;
  tcp::listener connections;
};

/// If the server fails, nobody else would end the look-up.
task<> serve_datagram(server& self, dns::resolver& names, told& errors) {
  std::array<std::byte, 512> room{};
  const auto got = co_await self.datagrams.receive_from(room);
  if (errors.ok(got)) {
    const std::string truncated = answer_to({reinterpret_cast<const char*>(room.data()), got->bytes}, true);
    const auto sent = co_await self.datagrams.send_to(std::as_bytes(std::span{truncated}), got->from);
    if (errors.ok(sent)) co_return;
  }
  names.close();
}

task<> serve_connection(server& self, dns::resolver& names, told& errors) {
  auto peer = co_await self.connections.accept(stage);
  if (!peer) co_return;
  std::array<std::byte, 2> head{};
  const auto length = co_await peer->read_exactly(head);
  if (errors.ok(length)) {
    std::string question(static_cast<std::size_t>(head[1]), ' ');
    const auto got = co_await peer->read_exactly(std::as_writable_bytes(std::span{question}));
    if (errors.ok(got)) {
      const std::string answer = answer_to(question, false);
      const std::string framed = std::string{"\0", 1} + static_cast<char>(answer.size()) + answer;
      const auto sent = co_await peer->write(std::as_bytes(std::span{framed}));
      if (errors.ok(sent)) co_return;
    }
  }
  names.close();
}

task<> look_up(server& from, dns::resolver& names, told& errors) {
  const auto found = co_await names.addresses("example.org", dns::address_family::ipv4);
  if (errors.ok(found)) {
    EXPECT_EQ(found->size(), 1u);
  }
  from.datagrams.close();
  from.connections.close();
}

void ask_a_server(runtime& rt, told& errors) {
  auto connections = tcp::try_listen(rt, address::loopback(0), {.color = stage});
  if (!errors.ok(connections)) return;
  const auto at = connections->local_address();
  if (!errors.ok(at)) return connections->close();
  auto datagrams = udp::try_bind(rt, *at, {.color = stage});
  if (datagrams.error() == std::errc::address_in_use) {  // by a program that has it for datagrams only: another one
    connections->close();
    return ask_a_server(rt, errors);
  }
  if (!errors.ok(datagrams)) return connections->close();
  dns::resolver_options with;
  with.servers = {*at};
  with.attempts = 1;
  with.timeout = std::chrono::minutes{1};
  with.search.emplace();
  with.configuration_file.clear();
  with.hosts_file.clear();
  spawn_in(rt, stage,
           [&errors, own = server{std::move(*datagrams), std::move(*connections)}, with]() mutable -> task<> {
             dns::resolver names{with};
             task_group all;
             all.spawn_in(stage, serve_datagram, std::ref(own), std::ref(names), std::ref(errors));
             all.spawn_in(stage, serve_connection, std::ref(own), std::ref(names), std::ref(errors));
             all.spawn_in(stage, look_up, std::ref(own), std::ref(names), std::ref(errors));
             co_await all.join();
           })
      .detach();
}

TEST(name_look_ups, tell_of_each_failure_of_a_socket) {
  fails_everywhere(ask_a_server, {
                                     {call::socket, EMFILE, outcome::told},
                                     {call::connect, ENETUNREACH, outcome::told},
                                     {call::fcntl, EMFILE, outcome::told},
                                     {call::epoll_ctl, ENOSPC, outcome::told},
                                     {call::poll, ENOMEM, outcome::told},
                                     {call::sendmsg, EPERM, outcome::told},
                                     {call::recvmsg, ECONNREFUSED, outcome::told},
                                     {call::getrandom, ENOSYS, outcome::told},
                                 });
}

TEST(name_look_ups, hide_what_can_be_tried_again) {
  fails_everywhere(ask_a_server, {
                                     {call::connect, EINTR, outcome::retried},
                                     {call::poll, EINTR, outcome::retried},
                                     {call::sendmsg, EINTR, outcome::retried},
                                     {call::recvmsg, EINTR, outcome::retried},
                                     {call::getrandom, EINTR, outcome::retried},
                                     {call::close, EINTR, outcome::retried},
                                 });
}

/// Files whose entries are looked up, once more after they were asked whether they have changed.
class host_files {
 public:
  host_files() {
    std::ofstream{folder_ / "hosts"} << "192.0.2.9 box\n";
    std::ofstream{folder_ / "resolv.conf"} << "nameserver 192.0.2.1\n";
  }

  void operator()(runtime& rt, told& errors) const {
    dns::resolver_options with;
    with.hosts_file = folder_ / "hosts";
    with.configuration_file = folder_ / "resolv.conf";
    with.look_at_files_every = std::chrono::milliseconds{0};
    spawn_in(rt, stage, [&errors, with]() -> task<> {
      const dns::resolver names{with};
      for (int n = 0; n < 2; ++n) {
        const auto found = co_await names.addresses("box", dns::address_family::ipv4);
        errors.ok(found);
      }
    }).detach();
  }

 private:
  test::temporary_folder folder_;
};

TEST(name_look_ups, tell_of_each_failure_of_a_file) {
  const host_files files;
  fails_everywhere([&](runtime& rt, told& errors) { files(rt, errors); },
                   {
                       {call::open, EMFILE, outcome::told},
                       {call::fstat, EIO, outcome::told},
                       {call::read, EIO, outcome::told},
                       {call::open, EINTR, outcome::retried},
                       {call::read, EINTR, outcome::retried},
                       {call::stat, EACCES, outcome::retried},
                       {call::gethostname, ENAMETOOLONG, outcome::retried},
                   });
}

}  // namespace
}  // namespace tartan
