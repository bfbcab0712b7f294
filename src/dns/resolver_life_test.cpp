/// How look-ups end that are not answered, and how many there may be.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <tartan/core/when_all.h>
#include <tartan/dns/resolver.h>
#include <tartan/time/with_timeout.h>
#include <vector>

#include <tartan/dns/connect.h>

#include "dns/resolver_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using test::asked;
using test::both_machines;
using test::examples;
using test::name_server;
using test::place_name;
using test::text_of;

class resolver_lives : public test::with_name_server {};
INSTANTIATE_TEST_SUITE_P(on, resolver_lives, testing::ValuesIn(both_machines()), place_name);

TEST_P(resolver_lives, run_beside_each_other_up_to_their_limit) {
  std::vector<std::string> got(5);
  ask(
      examples,
      [&](dns::resolver& names, name_server&) -> task<> {
        std::vector<task<>> all;
        for (std::string& each : got) {
          all.push_back([](dns::resolver& from, std::string& into) -> task<> {
            const auto found = co_await from.addresses("four.example.org");
            into = text_of(found);
          }(names, each));
        }
        co_await when_all(std::move(all));
        const auto later = co_await names.addresses("four.example.org");
        EXPECT_EQ(text_of(later), "192.0.2.1:0/300");
      },
      [](dns::resolver_options& with) { with.most_in_flight = 3; });
  std::ranges::sort(got);
  const std::string busy = make_error_code(errc::busy).message();
  EXPECT_EQ(got, (std::vector<std::string>{"192.0.2.1:0/300", "192.0.2.1:0/300", "192.0.2.1:0/300", busy, busy}));
}

TEST_P(resolver_lives, end_when_they_are_canceled_or_run_out_of_time) {
  const auto silent = [](const asked&) { return name_server::replies{}; };
  ask(silent, [&](dns::resolver& names, name_server&) -> task<> {
    const auto found = co_await with_timeout(1ms, names.addresses("example.org"));
    EXPECT_EQ(found.error(), errc::timed_out);
    auto handle = spawn_in(test::here_color, [&]() -> task<> {
      const auto canceled = co_await names.addresses("example.org");
      EXPECT_EQ(canceled.error(), errc::canceled);
    });
    co_await until([&] { return server_->count() >= 2; });
    handle.cancel();
    co_await handle.join();
  });
}

TEST_P(resolver_lives, end_when_the_resolver_is_closed_or_destroyed) {
  for (const bool is_destroyed : {false, true}) {
    const auto silent = [](const asked&) { return name_server::replies{}; };
    const auto run = [&](dns::resolver& names, name_server&) -> task<> {
      const auto begun = rt().now();
      std::error_code error;
      auto handle = spawn_in(test::here_color, [&]() -> task<> {
        const auto found = co_await names.addresses("example.org");
        error = found.error();
      });
      co_await until([&] { return server_->count() >= 2; });
      if (is_destroyed) {
        const dns::resolver gone = std::move(names);
      } else {
        names.close();
      }
      co_await handle.join();
      EXPECT_EQ(error, errc::closed);
      EXPECT_LT(rt().now() - begun, 30min) << "the time that the server was given has passed";
      if (!is_destroyed) {
        const auto later = co_await names.addresses("127.0.0.1");
        EXPECT_EQ(later.error(), errc::closed);
      }
    };
    ask(silent, run, [](dns::resolver_options& with) { with.timeout = 1h; });
  }
}

TEST_P(resolver_lives, end_when_the_runtime_stops) {
  server_.emplace(rt(), test::here_color, [](const asked&) { return name_server::replies{}; });
  std::error_code error;
  auto handle = spawn_in(rt(), test::here_color, [&]() -> task<> {
    const dns::resolver names{test::only(*server_)};
    const auto found = co_await names.addresses("example.org");
    error = found.error();
  });
  handle.detach();
  while (server_->count() < 2) rt().run_for(1ms);
  const drained left = rt().drain(10s);
  EXPECT_TRUE(left.complete) << left.destroyed;
  EXPECT_EQ(error, errc::canceled);
  server_.reset();
}

TEST_P(resolver_lives, leave_nothing_when_the_runtime_ends_under_them) {
  const auto silent = [](const asked&) { return name_server::replies{}; };
  server_.emplace(rt(), test::here_color, silent);
  {
    const dns::resolver names{rt(), test::only(*server_)};
    for (int n = 0; n < 3; ++n) {
      auto handle = spawn_in(rt(), test::here_color,
                             [&names]() -> task<> { static_cast<void>(co_await names.addresses("example.org")); });
      handle.detach();
    }
    while (server_->count() < 6) rt().run_for(std::chrono::milliseconds{1});
  }
  server_.reset();
  end_runtime();
}

// The connecting coroutine may be destroyed before its look-up, and is the last one that has the resolver.
TEST_P(resolver_lives, leave_nothing_when_the_runtime_ends_under_a_connection_by_name) {
  const auto silent = [](const asked&) { return name_server::replies{}; };
  server_.emplace(rt(), test::here_color, silent);
  rt().post(test::here_color, [&] {
    for (int n = 0; n < 3; ++n) {
      spawn_in(test::here_color, [](dns::resolver_options with) -> task<> {
        const dns::resolver names{with};
        static_cast<void>(co_await tcp::connect(names, "example.org", 80));
      }, test::only(*server_)).detach();
    }
  });
  while (server_->count() < 6) rt().run_for(std::chrono::milliseconds{1});
  server_.reset();
  end_runtime();
}

TEST_P(resolver_lives, may_be_closed_while_nothing_runs) {
  for (const bool has_look_up : {false, true}) {
    dns::resolver names{rt(), test::only_at(address::loopback(53))};
    const auto never_awaited =
        has_look_up ? names.addresses("example.org") : task<result<std::vector<dns::host_address>>>{};
    names.close();
  }
}

TEST_P(resolver_lives, refuse_options_out_of_range) {
  const auto refused = [&](const std::function<void(dns::resolver_options&)>& set) {
    dns::resolver_options with;
    set(with);
    EXPECT_THROW((dns::resolver{rt(), with}), std::invalid_argument);
  };
  refused([](auto& with) { with.servers.assign(9, address::loopback(53)); });
  refused([](auto& with) { with.servers = {address{}}; });
  refused([](auto& with) { with.search = std::vector<std::string>(17, "a"); });
  refused([](auto& with) { with.search = {"a b"}; });
  refused([](auto& with) { with.timeout = 0ms; });
  refused([](auto& with) { with.timeout = 61min; });
  refused([](auto& with) { with.attempts = 0; });
  refused([](auto& with) { with.attempts = 9; });
}

}  // namespace
}  // namespace tartan
