// A server whose workers come and go all the time serves every request.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <random>
#include <span>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/io/tcp.h>
#include <thread>
#include <utility>

#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "tests/connected_socket.h"
#include "tests/seed.h"
#include "tests/workers.h"

namespace tartan {
namespace {

class a_server_whose_workers_change : public test::leaves_nothing, public testing::WithParamInterface<unsigned> {};
INSTANTIATE_TEST_SUITE_P(most, a_server_whose_workers_change, testing::Values(2u, 4u, 8u));

task<> echo(tcp::stream peer) {
  std::array<std::byte, 16> bytes;
  while (const auto got = co_await peer.read_some(bytes)) {
    if (!co_await peer.write(std::span<const std::byte>{bytes}.first(*got))) co_return;
  }
}

task<> serve(tcp::listener& door, unsigned peers) {
  for (unsigned n = 0; n < peers; ++n) {
    auto peer = co_await door.accept();
    if (!peer) co_return;
    spawn_in(peer->color(), echo, std::move(*peer));
  }
}

/// A client of the same runtime, in a color of its own. Each request has another number, and so has each answer.
task<> ask(address at, unsigned client, unsigned requests, std::atomic<unsigned>& answered) {
  auto stream = co_await tcp::connect(at);
  if (!stream) co_return;
  for (unsigned n = 0; n < requests; ++n) {
    const std::array<std::byte, 3> sent{std::byte(client), std::byte(n), std::byte(n >> 8)};
    std::array<std::byte, 3> got{};
    if (!co_await stream->write(std::span<const std::byte>{sent})) co_return;
    if (!co_await stream->read_exactly(got) || got != sent) co_return;
    answered.fetch_add(1);
  }
}

// With few clients all workers sleep between two requests, the one that polls as well: it may be the one that has to leave.
TEST_P(a_server_whose_workers_change, serves_every_request) {
  for (const unsigned clients : {1u, 3u, 24u}) {
    const unsigned requests = test::rounds(1200 / clients);
    options with;
    with.workers = 1;
    with.max_workers = GetParam();
    with.scheduler = "default";
    std::atomic<unsigned> answered{0};
    runtime rt{with};
    auto door = tcp::listen(rt, "127.0.0.1:0");
    const address at = door.local_address().value();
    spawn_in(rt, door.color(), serve, std::ref(door), clients);
    for (unsigned n = 0; n < clients; ++n) spawn_in(rt, color{1 + n}, ask, at, n, requests, std::ref(answered));
    std::jthread changer{[&](const std::stop_token& over) {
      std::mt19937 dice{static_cast<unsigned>(test::seed())};
      while (!over.stop_requested()) {
        rt.set_workers(1 + static_cast<unsigned>(dice() % GetParam()));
        const unsigned before = answered.load();  // some requests pass between two changes
        for (unsigned n = 0; n < 200 && answered.load() - before < dice() % 8; ++n) std::this_thread::yield();
      }
    }};
    rt.run_until_idle();
    EXPECT_EQ(answered.load(), clients * requests);
  }
}

/// One request of a client on the test's own thread.
bool is_answered(int socket) {
  char byte = 'x';
  if (::send(socket, &byte, 1, MSG_NOSIGNAL) != 1) return false;
  return ::recv(socket, &byte, 1, 0) == 1 && byte == 'x';  // waits for ever if nobody polls
}

// All workers sleep, one of them where readiness wakes it; that one has to leave in some of the rounds. No post wakes another one afterwards.
TEST_P(a_server_whose_workers_change, is_still_woken_by_readiness_when_the_worker_that_polled_has_left) {
  const unsigned all = GetParam();
  options with;
  with.workers = all;
  with.max_workers = all;
  with.scheduler = "default";
  runtime rt{with};
  auto door = tcp::listen(rt, "127.0.0.1:0");
  const address at = door.local_address().value();
  spawn_in(rt, door.color(), serve, std::ref(door), 1u);
  unsigned answered = 0;
  std::thread client{[&] {
    const int socket = test::connected_to(at);
    const auto asleep = [&](unsigned workers) {
      const detail::idle_view seen = rt.state().life().sleepers().view();
      return seen.sleeping() == workers && seen.awake() == 0;
    };
    for (unsigned round = 0; round < test::rounds(60); ++round) {
      rt.set_workers(all);
      answered += is_answered(socket);
      test::spin_until([&] { return asleep(all); });
      rt.set_workers(1);
      test::spin_until([&] { return asleep(1); });
      answered += is_answered(socket);
    }
    ::close(socket);
  }};
  rt.run_until_idle();
  client.join();
  EXPECT_EQ(answered, 2 * test::rounds(60));
}

}  // namespace
}  // namespace tartan
