#include <array>
#include <cstddef>
#include <string>

#include "web/server_fixture.h"
#include "web/tls_client_fixture.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::get;
using test::pass;
using test::reload;
using test::tls_client;

/// The clock is simulated for the server; OpenSSL's, by which a session ends after two hours, stands still.
class a_server_of_tickets : public test::a_server {
 protected:
  a_server_of_tickets() {
    test::use_tls(with_, folder_.path());
    with_.times.idle = 100h;  // the first client is there for all of the test
    with_.times.header = 100h;
  }

  /// Asks for a page on a new connection, and leaves. Gives whether the session was resumed, and takes the one that
  /// there is then.
  [[nodiscard]] tartan::task<bool> visit(tartan::address at, tls_client::session& known) const {
    auto c = co_await tartan::tcp::connect(at);
    tls_client client{*c, version_};
    if (known != nullptr) client.offer(known);
    co_await client.handshake();
    co_await client.send(get("/page"));
    std::string came;
    while (came.find("a page") == std::string::npos) {
      std::array<std::byte, 5000> room;
      const auto got = co_await c->read_some(room);
      EXPECT_TRUE(got);
      if (!got) break;
      bool is_ended = false;
      came += client.open({reinterpret_cast<const char*>(room.data()), *got}, is_ended);
    }
    known = client.session_so_far();
    co_return client.is_resumed();
  }
  /// The same without taking the new one.
  [[nodiscard]] tartan::task<bool> is_resumed(tartan::address at, const tls_client::session& known) const {
    tls_client::session copy{SSL_SESSION_dup(known.get())};
    const bool was = co_await visit(at, copy);
    co_return was;
  }

  int version_ = TLS1_3_VERSION;
};
INSTANTIATE_TEST_SUITE_P(on, a_server_of_tickets, testing::Values(1u, 2u));

TEST_P(a_server_of_tickets, opens_those_of_the_last_key_until_the_next_rotation) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    version_ = version;
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      const tartan::address at = *c.peer_address();
      tls_client::session first;
      const bool without_one = co_await visit(at, first);
      EXPECT_FALSE(without_one);
      const std::pair<std::chrono::minutes, bool> cases[] = {
          {119min, true}, {2min, true}, {118min, true}, {2min, false}, {10h, false}};
      for (const auto& [so_long, expected] : cases) {
        co_await pass(so_long);
        const bool found = co_await is_resumed(at, first);
        EXPECT_EQ(found, expected) << version << ", after " << so_long.count();
      }
    });
  }
}

TEST_P(a_server_of_tickets, gives_a_new_one_for_one_of_the_last_key) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    version_ = version;
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      const tartan::address at = *c.peer_address();
      tls_client::session latest;
      static_cast<void>(co_await visit(at, latest));
      for (int n = 0; n < 5; ++n) {
        co_await pass(121min);
        const bool found = co_await visit(at, latest);
        EXPECT_TRUE(found) << n;
      }
    });
  }
}

TEST_P(a_server_of_tickets, opens_them_after_a_reload_unless_the_first_certificate_is_another_one) {
  play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    const tartan::address at = *c.peer_address();
    tls_client::session first;
    static_cast<void>(co_await visit(at, first));
    settings next = with_;
    next.hosts[0].with.listings = true;
    co_await reload(s, next);
    const bool after_a_reload = co_await is_resumed(at, first);
    EXPECT_TRUE(after_a_reload);
    test::use_tls(next, folder_.path());
    next.listen_tls = with_.listen_tls;
    co_await reload(s, next);
    const bool with_another = co_await is_resumed(at, first);
    EXPECT_FALSE(with_another);
  });
}

}  // namespace
}  // namespace web
