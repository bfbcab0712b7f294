#include <tartan/rpc/server.h>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <tartan/core/yield.h>
#include <tartan/io/local.h>
#include <tartan/time/sleep.h>
#include <vector>

#include "rpc/rpc_fixture.h"
#include "tests/temporary_folder.h"

namespace tartan::rpc {
namespace {

using test::kiosk_v1;

/// A server on the machine, and clients of it. The kiosk is called from several colors: only `echo` and `add` here.
class rpc_servers : public tartan::test::on_machine, public testing::WithParamInterface<tartan::test::place> {
 protected:
  [[nodiscard]] tartan::test::place where() const override { return GetParam(); }

  struct stateless {
    static xdr::data<> echo(xdr::data<> all) { return all; }
    static std::int32_t add(std::int32_t a, std::int32_t b) { return a + b; }
    static void wait(xdr::text<16> what, const call_info&, reply<xdr::text<16>> to) { to(what); }
  };

  stateless served;
  server_settings with;

  [[nodiscard]] programs all() {
    programs made;
    made.add<kiosk_v1>(served);
    return made;
  }

  /// Runs f(the server) in a color of the test's, and closes the server.
  void play(std::function<task<>(server&)> f) {
    server made{rt(), all(), with};
    in_color([&]() -> task<> {
      co_await f(made);
      co_await made.close(std::chrono::seconds{1});
    });
  }
  static task<connection> to(address at, rpc::settings with = {}) {
    auto made = co_await tcp::connect(at);
    co_return connection{any_stream{*std::move(made)}, std::move(with)};
  }
};
INSTANTIATE_TEST_SUITE_P(on, rpc_servers, testing::ValuesIn(tartan::test::both_machines()), tartan::test::place_name);

TEST_P(rpc_servers, serve_clients_on_tcp) {
  play([&](server& site) -> task<> {
    const address at = site.listen("127.0.0.1:0");
    std::vector<join_handle<>> all;
    for (int n = 0; n < 5; ++n) {
      all.push_back(spawn_in(tartan::test::here_color, [&, n]() -> task<> {
        const connection c = co_await to(at);
        for (int k = 0; k < 10; ++k) {
          const auto sum = co_await c.call<kiosk_v1::add>(n, k);
          EXPECT_EQ(sum.value(), n + k);
        }
      }));
    }
    for (auto& each : all) co_await each.join();
  });
}

TEST_P(rpc_servers, serve_clients_on_a_unix_socket) {
  const tartan::test::temporary_folder folder;
  play([&](server& site) -> task<> {
    const std::string path = "unix:" + (folder / "rpc").string();
    const address at = site.listen(path);
    auto made = co_await local::connect(at);
    const connection c{any_stream{*std::move(made)}};
    const auto back = co_await c.call<kiosk_v1::echo>(xdr::data<>{"hello"});
    EXPECT_EQ(back.value(), "hello");
  });
}

TEST_P(rpc_servers, serve_clients_on_udp) {
  play([&](server& site) -> task<> {
    const address at = site.listen_udp("127.0.0.1:0");
    udp::socket own = udp::bind(rt(), "127.0.0.1:0", {.color = tartan::test::here_color});
    const connection c{std::move(own)};
    for (int n = 0; n < 5; ++n) {
      call_options there;
      there.to = at;
      const auto sum = co_await c.call_with<kiosk_v1::add>(std::move(there), n, 1);
      EXPECT_EQ(sum.value(), n + 1);
    }
  });
}

TEST_P(rpc_servers, disconnect_clients_beyond_the_limit) {
  with.most_connections = 1;
  play([&](server& site) -> task<> {
    const address at = site.listen("127.0.0.1:0");
    const connection first = co_await to(at);
    EXPECT_TRUE(co_await first.call<kiosk_v1::null>());
    const connection second = co_await to(at);
    const auto refused = co_await second.call<kiosk_v1::null>();
    EXPECT_FALSE(refused);
    const std::size_t there = co_await site.connections();
    EXPECT_EQ(there, 1u);
  });
}

TEST_P(rpc_servers, end_their_connections_when_they_close) {
  play([&](server& site) -> task<> {
    const connection c = co_await to(site.listen("127.0.0.1:0"));
    EXPECT_TRUE(co_await c.call<kiosk_v1::null>());
    co_await site.close(std::chrono::seconds{1});
    EXPECT_EQ(co_await c.ended(), errc::disconnected);
    const std::size_t there = co_await site.connections();
    EXPECT_EQ(there, 0u);
  });
}

/// Its procedure takes as long as the test wants.
struct slow {
  static xdr::data<> echo(xdr::data<> all) { return all; }
  task<std::int32_t> add(std::int32_t a, std::int32_t b) {
    has_begun = true;
    while (!may_end) static_cast<void>(co_await sleep(std::chrono::milliseconds{1}));
    has_ended = true;
    co_return a + b;
  }
  static void wait(xdr::text<16> what, const call_info&, reply<xdr::text<16>> to) { to(what); }

  std::atomic<bool> has_begun{false};  // in the connection's color
  std::atomic<bool> may_end{false};
  std::atomic<bool> has_ended{false};
};

TEST_P(rpc_servers, close_when_no_procedure_runs_any_more) {
  slow handler;
  programs its;
  its.add<kiosk_v1>(handler);
  server site{rt(), std::move(its), with};
  in_color([&]() -> task<> {
    {
      const connection c = co_await to(site.listen("127.0.0.1:0"));
      c.call_back<kiosk_v1::add>([](result<std::int32_t>) {}, {}, 1, 2);
      co_await until([&] { return handler.has_begun.load(); });
      c.close();
    }
    auto closing = spawn_in(tartan::test::here_color, [&]() -> task<> {
      co_await site.close(std::chrono::hours{1});
      EXPECT_TRUE(handler.has_ended);
    });
    for (int n = 0; n < 20; ++n) co_await moment();
    handler.may_end = true;
    co_await closing.join();
  });
}

TEST_P(rpc_servers, say_which_setting_is_wrong) {
  for (const std::size_t calls : {std::size_t{0}, std::size_t{65537}}) {
    with.most_calls = calls;
    EXPECT_THROW((server{rt(), all(), with}), std::invalid_argument);
  }
  with = {};
  with.most_outstanding = 0;
  EXPECT_THROW((server{rt(), all(), with}), std::invalid_argument);
}

TEST_P(rpc_servers, say_which_address_is_none) {
  server site{rt(), all()};
  EXPECT_THROW(site.listen("nowhere"), std::invalid_argument);
}

}  // namespace
}  // namespace tartan::rpc
