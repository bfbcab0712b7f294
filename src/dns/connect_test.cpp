#include <tartan/dns/connect.h>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <tartan/core/post.h>
#include <tartan/time/sleep.h>
#include <tartan/time/with_timeout.h>
#include <vector>

#include "dns/resolver_fixture.h"
#include "tests/temporary_folder.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using detail::record_type;
using test::asked;
using test::both_machines;
using test::here_color;
using test::name_server;
using test::place_name;
using test::places_on;
using test::reply;

const std::string ipv6_loopback = std::string(15, '\0') + '\1';
const std::string ipv4_loopback{"\x7f\0\0\1", 4};
const std::string ipv4_without_server{"\x7f\0\0\2", 4};  ///< 127.0.0.2, where nobody listens

/// What each family has: the bytes of addresses.
struct host {
  std::vector<std::string> ipv6;
  std::vector<std::string> ipv4;
  [[nodiscard]] name_server::replies operator()(const asked& q) const {
    reply all{q};
    for (const std::string& each : q.type == record_type::aaaa ? ipv6 : ipv4) all.add(q.name, q.type, 60, each);
    return all;
  }
};

std::string text_of(const std::vector<tcp::connect_attempt>& attempts) {
  std::string all;
  for (const auto& each : attempts) {
    all += each.to.with_port(0).to_string() + (each.error == std::errc::connection_refused ? " refused; "
                                               : each.error                                ? " failed; "
                                                                                           : " won; ");
  }
  return all;
}

/// Listeners at one port of several addresses, which has to be free at all of them.
std::vector<tcp::listener> listen_at(runtime& rt, const std::vector<std::string>& hosts,
                                     tcp::listen_options with = {.color = here_color}) {
  for (;;) {
    std::vector<tcp::listener> doors;
    std::uint16_t port = 0;
    for (const std::string& host : hosts) {
      auto door = tcp::try_listen(rt, address::parse(host + ":" + std::to_string(port)).value(), with);
      if (!door) break;
      port = door->local_address().value().port();
      doors.push_back(std::move(*door));
    }
    if (doors.size() == hosts.size()) return doors;
  }
}

class connecting_by_name : public test::with_name_server {
 protected:
  /// Connects to a host whose servers listen at `at`, and says how.
  std::string connect_to(name_server::function serve, const std::vector<std::string>& at) {
    std::vector<tcp::connect_attempt> attempts;
    std::error_code error;
    ask(std::move(serve), [&](dns::resolver& names, name_server&) -> task<> {
      const std::vector<tcp::listener> doors = listen_at(rt(), at);
      const std::uint16_t port = doors.empty() ? std::uint16_t{9} : doors.front().local_address().value().port();
      auto made = co_await tcp::connect(names, "example.org", port, {.attempts = &attempts});
      error = made.error();
      if (made) {
        EXPECT_EQ(made->color(), here_color);
        EXPECT_EQ(made->peer_address().value(), attempts.back().to);
      }
    });
    return text_of(attempts) + (error ? error.message() : "");
  }
};
INSTANTIATE_TEST_SUITE_P(on, connecting_by_name, testing::ValuesIn(both_machines()), place_name);

TEST_P(connecting_by_name, tries_ipv6_first) {
  EXPECT_EQ(connect_to(host{{ipv6_loopback}, {ipv4_loopback}}, {"[::1]", "127.0.0.1"}), "[::1]:0 won; ");
}

TEST_P(connecting_by_name, goes_on_at_once_when_an_address_refuses) {
  EXPECT_EQ(connect_to(host{{ipv6_loopback}, {ipv4_loopback}}, {"127.0.0.1"}), "[::1]:0 refused; 127.0.0.1:0 won; ");
}

TEST_P(connecting_by_name, takes_what_one_family_has) {
  EXPECT_EQ(connect_to(host{{}, {ipv4_without_server, ipv4_loopback}}, {"127.0.0.1"}),
            "127.0.0.2:0 refused; 127.0.0.1:0 won; ");
}

TEST_P(connecting_by_name, says_what_was_tried_last_when_all_fail) {
  EXPECT_EQ(connect_to(host{{ipv6_loopback, ipv6_loopback}, {ipv4_without_server, ipv4_loopback}}, {}),
            "[::1]:0 refused; 127.0.0.2:0 refused; 127.0.0.1:0 refused; Connection refused");
}

TEST_P(connecting_by_name, tells_that_there_is_no_such_host) {
  EXPECT_EQ(connect_to([](const asked& q) { return reply{q, 3}; }, {}), "no such host");
}

TEST_P(connecting_by_name, needs_no_name_server_for_a_number) {
  unsigned questions = 0;
  ask(
      [&](const asked& q) {
        ++questions;
        return reply{q, 3};
      },
      [&](dns::resolver& names, name_server&) -> task<> {
        auto door = tcp::listen(rt(), "127.0.0.1:0", {.color = here_color});
        const auto made = co_await tcp::connect(names, "127.0.0.1", door.local_address().value().port());
        EXPECT_TRUE(made) << made.error().message();
      });
  EXPECT_EQ(questions, 0u);
}

TEST_P(connecting_by_name, makes_a_resolver_of_its_own_if_it_is_given_none) {
  in_color([&]() -> task<> {
    auto door = tcp::listen(rt(), "127.0.0.1:0", {.color = here_color});
    const auto made = co_await tcp::connect("127.0.0.1", door.local_address().value().port());
    EXPECT_TRUE(made) << made.error().message();
  });
}

TEST_P(connecting_by_name, is_refused_by_a_resolver_that_is_full) {
  ask(
      host{},
      [&](dns::resolver& names, name_server&) -> task<> {
        const auto made = co_await tcp::connect(names, "example.org", 80);
        EXPECT_EQ(made.error(), errc::busy);
      },
      [](dns::resolver_options& with) { with.most_in_flight = 0; });
}

TEST_P(connecting_by_name, ends_when_it_is_canceled) {
  ask([](const asked&) { return name_server::replies{}; },
      [&](dns::resolver& names, name_server&) -> task<> {
        const auto made = co_await with_timeout(1ms, tcp::connect(names, "example.org", 80));
        EXPECT_EQ(made.error(), errc::timed_out);
      });
}

TEST_P(connecting_by_name, listens_at_each_address_of_a_host) {
  ask(host{{ipv6_loopback}, {ipv4_loopback, ipv4_without_server}}, [&](dns::resolver& names, name_server&) -> task<> {
    auto doors = co_await tcp::listen(rt(), names, "example.org:0", {.color = here_color});
    EXPECT_TRUE(doors) << doors.error().message();
    if (!doors) co_return;
    EXPECT_EQ(doors->size(), 3u);
    for (tcp::listener& door : *doors) {
      const auto peer = co_await tcp::connect(door.local_address().value());
      EXPECT_TRUE(peer) << peer.error().message();
    }
  });
}

TEST_P(connecting_by_name, listens_at_this_machine_and_at_numbers) {
  ask(host{}, [&](dns::resolver& names, name_server&) -> task<> {
    const auto both = co_await tcp::listen(rt(), names, "localhost:0", {.color = here_color});
    EXPECT_TRUE(both && both->size() == 2);
    const auto one = co_await tcp::listen(rt(), names, "127.0.0.1:0", {.color = here_color});
    EXPECT_TRUE(one && one->size() == 1);
    const auto no_port = co_await tcp::listen(rt(), names, "localhost");
    EXPECT_EQ(no_port.error(), std::errc::invalid_argument);
    const auto no_number = co_await tcp::listen(rt(), names, "localhost:http");
    EXPECT_EQ(no_number.error(), std::errc::invalid_argument);
    const auto nowhere = co_await tcp::listen(rt(), names, "missing:80");
    EXPECT_EQ(nowhere.error(), dns::errc::no_data);
  });
}

/// A simulated machine has every address.
class listening_by_name : public test::with_name_server {};
INSTANTIATE_TEST_SUITE_P(on, listening_by_name, testing::ValuesIn(places_on(test::machine::kernel)), place_name);

TEST_P(listening_by_name, leaves_out_addresses_of_other_machines) {
  ask(host{{}, {test::ipv4_one, ipv4_loopback}}, [&](dns::resolver& names, name_server&) -> task<> {
    const auto doors = co_await tcp::listen(rt(), names, "example.org:0", {.color = here_color});
    EXPECT_TRUE(doors && doors->size() == 1);
  });
  ask(host{{}, {test::ipv4_one}}, [&](dns::resolver& names, name_server&) -> task<> {
    const auto doors = co_await tcp::listen(rt(), names, "example.org:0", {.color = here_color});
    EXPECT_EQ(doors.error(), std::errc::address_not_available);
  });
}

/// Where time passes: in a simulation.
class racing_by_name : public test::with_name_server {
 protected:
  /// A listener that answers nobody: its line is full.
  task<tcp::listener> silent_door(const std::string& at, std::optional<tcp::stream>& in_line) {
    auto door = tcp::listen(rt(), at, {.backlog = 1, .color = here_color});
    auto first = co_await tcp::connect(door.local_address().value());
    EXPECT_TRUE(first);
    in_line.emplace(std::move(*first));
    co_return door;
  }
  static std::uint16_t port_of(const tcp::listener& door) { return door.local_address().value().port(); }
};
INSTANTIATE_TEST_SUITE_P(on, racing_by_name, testing::ValuesIn(places_on(test::machine::simulated)), place_name);

TEST_P(racing_by_name, begins_the_next_attempt_when_one_is_silent) {
  std::vector<tcp::connect_attempt> attempts;
  ask(host{{ipv6_loopback}, {ipv4_loopback}}, [&](dns::resolver& names, name_server&) -> task<> {
    std::optional<tcp::stream> in_line;
    const auto silent = co_await silent_door("[::1]:0", in_line);
    const auto open = tcp::listen(rt(), "127.0.0.1:" + std::to_string(port_of(silent)), {.color = here_color});
    const auto begun = rt().now();
    const auto made = co_await tcp::connect(names, "example.org", port_of(silent), {.attempts = &attempts});
    EXPECT_TRUE(made) << made.error().message();
    EXPECT_GE(rt().now() - begun, 250ms);
    EXPECT_LT(rt().now() - begun, 260ms);
  });
  EXPECT_EQ(text_of(attempts), "127.0.0.1:0 won; ");
}

TEST_P(racing_by_name, lets_a_slow_attempt_win_over_those_that_fail) {
  std::vector<tcp::connect_attempt> attempts;
  ask(host{{ipv6_loopback}, {ipv4_without_server, ipv4_loopback}}, [&](dns::resolver& names, name_server&) -> task<> {
    std::optional<tcp::stream> in_line;
    auto slow = co_await silent_door("[::1]:0", in_line);
    spawn_in(here_color, [&]() -> task<> {
      static_cast<void>(co_await sleep(400ms));
      static_cast<void>(co_await slow.accept());
    }).detach();
    const auto made = co_await tcp::connect(names, "example.org", port_of(slow), {.attempts = &attempts});
    EXPECT_TRUE(made) << made.error().message();
  });
  EXPECT_EQ(text_of(attempts), "127.0.0.2:0 refused; 127.0.0.1:0 refused; [::1]:0 won; ");
}

TEST_P(racing_by_name, waits_a_little_for_ipv6_and_no_longer) {
  for (const auto& [ipv6_takes, expected] : {std::pair{30ms, "[::1]:0 won; "}, std::pair{70ms, "127.0.0.1:0 won; "}}) {
    std::vector<tcp::connect_attempt> attempts;
    ask(host{{ipv6_loopback}, {ipv4_loopback}}, [&](dns::resolver& names, name_server& server) -> task<> {
      server.delay = [takes = ipv6_takes](const asked& q) { return q.type == record_type::aaaa ? takes : 0ms; };
      const auto first = tcp::listen(rt(), "[::1]:0", {.color = here_color});
      const auto second = tcp::listen(rt(), "127.0.0.1:" + std::to_string(port_of(first)), {.color = here_color});
      const auto begun = rt().now();
      const auto made = co_await tcp::connect(names, "example.org", port_of(first), {.attempts = &attempts});
      EXPECT_TRUE(made) << made.error().message();
      EXPECT_LT(rt().now() - begun, 60ms);
    });
    EXPECT_EQ(text_of(attempts), expected);
  }
}

TEST_P(racing_by_name, does_not_wait_for_ipv6_once_it_is_known_that_there_is_none) {
  ask(host{{}, {ipv4_loopback}}, [&](dns::resolver& names, name_server& server) -> task<> {
    server.delay = [](const asked& q) { return q.type == record_type::aaaa ? 0ms : 20ms; };
    const auto door = tcp::listen(rt(), "127.0.0.1:0", {.color = here_color});
    const auto begun = rt().now();
    const auto made = co_await tcp::connect(names, "example.org", port_of(door));
    EXPECT_TRUE(made) << made.error().message();
    EXPECT_LT(rt().now() - begun, 40ms);
  });
}

TEST_P(racing_by_name, takes_addresses_that_come_while_it_tries_others) {
  std::vector<tcp::connect_attempt> attempts;
  ask(host{{ipv6_loopback}, {ipv4_loopback}}, [&](dns::resolver& names, name_server& server) -> task<> {
    server.delay = [](const asked& q) { return q.type == record_type::aaaa ? 0ms : 100ms; };
    const auto door = tcp::listen(rt(), "127.0.0.1:0", {.color = here_color});
    const auto made = co_await tcp::connect(names, "example.org", port_of(door), {.attempts = &attempts});
    EXPECT_TRUE(made) << made.error().message();
  });
  EXPECT_EQ(text_of(attempts), "[::1]:0 refused; 127.0.0.1:0 won; ");
}

TEST_P(racing_by_name, closes_what_has_lost) {
  ask(host{{ipv6_loopback}, {ipv4_loopback}}, [&](dns::resolver& names, name_server&) -> task<> {
    std::optional<tcp::stream> in_line;
    auto silent = co_await silent_door("[::1]:0", in_line);
    auto open = tcp::listen(rt(), "127.0.0.1:" + std::to_string(port_of(silent)), {.color = here_color});
    const auto made = co_await tcp::connect(names, "example.org", port_of(silent));
    EXPECT_TRUE(made) << made.error().message();
    const auto first = co_await silent.accept();
    EXPECT_TRUE(first);
    const auto second = co_await with_timeout(10s, silent.accept());
    EXPECT_EQ(second.error(), errc::timed_out) << "the loser came in after it was canceled";
  });
}

}  // namespace
}  // namespace tartan
