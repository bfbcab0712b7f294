#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <tartan/core/post.h>
#include <tartan/core/spawn.h>
#include <tartan/io/local.h>
#include <tartan/io/simulation.h>
#include <tartan/io/tcp.h>
#include <tartan/io/udp.h>
#include <tartan/time/sleep.h>
#include <tartan/time/with_timeout.h>
#include <thread>
#include <utility>
#include <vector>

#include "io/machine_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using test::here_color;

class simulated_sockets : public test::on_machine, public testing::WithParamInterface<test::place> {
 protected:
  [[nodiscard]] test::place where() const final { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(of, simulated_sockets, testing::ValuesIn(test::places_on(test::machine::simulated)), test::place_name);

constexpr std::array<std::byte, 1> one_byte{std::byte{'x'}};

task<> greet(tcp::listener& door) {
  auto peer = co_await door.accept(door.color());
  EXPECT_TRUE(peer);
  EXPECT_TRUE(co_await peer->write("hello"));
}
task<> read_greeting(address from, int& read) {
  auto stream = co_await tcp::connect(from);
  EXPECT_TRUE(stream);
  std::array<std::byte, 5> room{};
  EXPECT_TRUE(co_await stream->read_exactly(room));
  ++read;
}

TEST_P(simulated_sockets, are_opened_by_several_threads_that_are_first) {
  for (unsigned round = 0; round < test::rounds(50); ++round) {
    runtime& in = rt();
    std::array<tcp::listener, 2> doors;
    std::atomic<int> there{0};
    const auto open = [&](std::size_t n) {
      ++there;
      test::spin_until([&] { return there.load() == 2; });
      doors[n] = tcp::listen(in, "127.0.0.1:0", {.color = color{n + 1}});
    };
    std::thread other{[&] { open(1); }};
    open(0);
    other.join();
    int read = 0;
    for (tcp::listener& each : doors) {
      spawn_in(in, each.color(), greet, std::ref(each)).detach();
      spawn_in(in, here_color, read_greeting, *each.local_address(), std::ref(read)).detach();
    }
    in.run_until_idle();
    EXPECT_EQ(read, 2);
    for (tcp::listener& each : doors) each = {};
    end_runtime();
  }
}

TEST_P(simulated_sockets, end_when_what_was_not_passed_is_closed) {
  world_with.most_descriptors = 4;
  in_color([&]() -> task<> {
    auto carrier = local::pair();
    auto carried = local::pair();
    const std::array<int, 1> passed{carried->first.native_handle()};
    EXPECT_EQ((co_await carrier->first.send_with(one_byte, passed)).error(), std::errc::too_many_files_open);
    carried->first.close();
    std::array<std::byte, 1> room{};
    EXPECT_EQ((co_await with_timeout(1s, carried->second.read_some(room))).error(), errc::end_of_stream);
  });
}

TEST_P(simulated_sockets, share_a_port_evenly) {
  constexpr unsigned doors = 4;
  constexpr unsigned connects = 400;
  std::array<unsigned, doors> accepted{};
  in_color([&]() -> task<> {
    std::deque<tcp::listener> all;
    all.push_back(tcp::listen(rt(), "127.0.0.1:0", {.reuse_port = true, .color = here_color}));
    const address at = *all.front().local_address();
    while (all.size() < doors) all.push_back(tcp::listen(rt(), at, {.reuse_port = true, .color = here_color}));
    for (unsigned n = 0; n < connects; ++n) EXPECT_TRUE(co_await tcp::connect(at));
    for (unsigned n = 0; n < doors; ++n) {
      for (;;) {
        const auto peer = co_await with_timeout(1s, all[n].accept(here_color));
        if (!peer) break;
        ++accepted[n];
      }
    }
  });
  unsigned sum = 0;
  for (const unsigned each : accepted) {
    EXPECT_GT(each, connects / doors / 2);
    sum += each;
  }
  EXPECT_EQ(sum, connects);
}

TEST_P(simulated_sockets, get_all_datagrams_of_one_peer_if_they_share_a_port) {
  constexpr unsigned sockets = 4;
  constexpr unsigned peers = 80;
  std::array<std::set<std::string>, sockets> came;
  world_with.loss_percent = 0;
  in_color([&]() -> task<> {
    std::deque<udp::socket> all;
    all.push_back(udp::bind(rt(), "127.0.0.1:0", {.reuse_port = true, .color = here_color}));
    const address at = *all.front().local_address();
    while (all.size() < sockets) all.push_back(udp::bind(rt(), at, {.reuse_port = true, .color = here_color}));
    for (unsigned n = 0; n < peers; ++n) {
      auto peer = udp::bind(rt(), "127.0.0.1:0", {.color = here_color});
      for (int times = 0; times < 3; ++times) EXPECT_TRUE(co_await peer.send_to(one_byte, at));
    }
    std::array<std::byte, 4> room{};
    for (unsigned n = 0; n < sockets; ++n) {
      unsigned got = 0;
      for (;;) {
        const auto datagram = co_await with_timeout(1s, all[n].receive_from(room));
        if (!datagram) break;
        came[n].insert(datagram->from.to_string());
        ++got;
      }
      EXPECT_EQ(got, 3 * came[n].size()) << "a peer's datagrams stay together";
    }
  });
  std::size_t sum = 0;
  for (const auto& each : came) {
    EXPECT_GT(each.size(), peers / sockets / 4);
    sum += each.size();
  }
  EXPECT_EQ(sum, peers);
}

TEST_P(simulated_sockets, answer_from_the_address_that_was_asked) {
  in_color([&]() -> task<> {
    for (const char* any : {"0.0.0.0:0", "[::]:0"}) {
      auto server = udp::bind(rt(), any, {.color = here_color});
      const address at = *address::parse((any[0] == '[' ? "[::1]:" : "127.0.0.1:") + std::to_string(server.local_address()->port()));
      auto client = udp::bind(rt(), any, {.color = here_color});
      EXPECT_TRUE(client.connect(at));
      EXPECT_TRUE(co_await client.send(one_byte));
      std::array<std::byte, 4> room{};
      const auto asked = co_await with_timeout(1s, server.receive_from(room));
      EXPECT_TRUE(asked);
      EXPECT_EQ(asked->from, *client.local_address());
      EXPECT_TRUE(co_await server.send_to(one_byte, asked->from));
      EXPECT_TRUE(co_await with_timeout(1s, client.receive(room))) << "a connected socket hears its peer only";
    }
  });
}

TEST_P(simulated_sockets, prefer_the_one_that_is_connected_to_the_sender) {
  in_color([&]() -> task<> {
    auto from = udp::bind(rt(), "127.0.0.1:0", {.color = here_color});
    for (const bool first : {true, false}) {
      auto one = udp::bind(rt(), "127.0.0.1:0", {.reuse_port = true, .color = here_color});
      auto two = udp::bind(rt(), *one.local_address(), {.reuse_port = true, .color = here_color});
      udp::socket& its_own = first ? one : two;
      EXPECT_TRUE(its_own.connect(*from.local_address()));
      EXPECT_TRUE(co_await from.send_to(one_byte, *one.local_address()));
      std::array<std::byte, 4> room{};
      EXPECT_TRUE(co_await with_timeout(1s, its_own.receive(room)));
    }
  });
}

TEST_P(simulated_sockets, connect_to_every_address_of_this_machine) {
  in_color([&]() -> task<> {
    for (const char* host : {"127.0.0.1", "[::1]"}) {
      auto door = tcp::listen(rt(), *address::parse(std::string{host} + ":0"), {.color = here_color});
      const address at = *door.local_address();
      const address any = *address::parse((host[0] == '[' ? "[::]:" : "0.0.0.0:") + std::to_string(at.port()));
      for (const address& to : {at, any}) {
        auto near = co_await tcp::connect(to);
        EXPECT_TRUE(near) << near.error().message();
        auto far = co_await door.accept(here_color);
        EXPECT_EQ(*near->peer_address(), at);
        EXPECT_EQ(near->local_address()->family(), at.family());
        EXPECT_EQ(*far->peer_address(), *near->local_address());
        EXPECT_EQ(*far->local_address(), at);
      }
    }
  });
}

TEST_P(simulated_sockets, have_ports_of_their_own) {
  world_with.most_descriptors = 100'000;
  in_color([&]() -> task<> {
    std::deque<udp::socket> all;
    std::set<std::uint16_t> ports;
    std::error_code refused;
    while (!refused && all.size() < 65'536) {
      auto made = udp::try_bind(rt(), address::loopback(0), {.color = here_color});
      refused = made.error();
      if (!made) break;
      EXPECT_TRUE(ports.insert(made->local_address()->port()).second);
      all.push_back(std::move(*made));
    }
    EXPECT_EQ(refused, std::errc::address_in_use);
    all.pop_back();
    EXPECT_TRUE(udp::try_bind(rt(), address::loopback(0), {.color = here_color}));
    co_return;
  });
}

TEST_P(simulated_sockets, are_broken_at_once_for_who_has_seen_the_reset) {
  world_with.reset_percent = 100;
  in_color([&]() -> task<> {
    auto ends = local::pair();
    EXPECT_EQ((co_await ends->first.write("x")).error(), std::errc::connection_reset);
    EXPECT_EQ((co_await ends->first.write("x")).error(), std::errc::broken_pipe);
    std::array<std::byte, 1> room{};
    EXPECT_EQ((co_await ends->second.read_some(room)).error(), std::errc::connection_reset);
  });
}

TEST_P(simulated_sockets, of_one_runtime_are_no_news_for_the_next) {
  for (int n = 0; n < 10; ++n) {
    EXPECT_TRUE(local::pair(rt(), here_color, color{8}));  // is ready to be written to, which nobody looks at
    end_runtime();
    int ended = 0;
    in_color([&]() -> task<> {
      EXPECT_TRUE(co_await sleep(1s));
      ++ended;
    });
    EXPECT_EQ(ended, 1);
    end_runtime();
  }
}

}  // namespace
}  // namespace tartan
