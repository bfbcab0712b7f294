// Servers that no tls::server is: older, or with messages in pieces.

#include <gtest/gtest.h>
#include <openssl/pem.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <tartan/time/sleep.h>
#include <tartan/time/with_timeout.h>

#include "tls/bare_peer_fixture.h"
#include "tls/connection_fixture.h"
#include "tls/context.h"
#include "tls/key_hash.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using tls::detail::owned;
using tls::detail::session;

class odd_servers : public test::tls_ends {
 protected:
  odd_servers() {
    const test::authority::issued own = by_.make("a server", "DNS:example.org");
    tls::detail::use_identity(*context_, own.certificate, own.key);
  }
  [[nodiscard]] session served() const {
    owned<SSL> made{SSL_new(context_.get())};
    SSL_set_accept_state(made.get());
    return session{std::move(made)};
  }
  /// Of the authority's key.
  [[nodiscard]] std::string authority_pin() const {
    std::FILE* const file = std::fopen(by_.file().c_str(), "r");
    const owned<X509> read{PEM_read_X509(file, nullptr, nullptr, nullptr)};
    std::fclose(file);
    return tls::detail::key_hash(*read);
  }

  owned<SSL_CTX> context_ = tls::detail::new_context(TLS_server_method());
};
INSTANTIATE_TEST_SUITE_P(tls, odd_servers, testing::Bool(), test::network_name);

// By TLS 1.2 OpenSSL has a session to keep before anybody has looked at the pins.
TEST_P(odd_servers, without_a_pinned_key_are_refused_again_when_they_speak_tls_1_2) {
  SSL_CTX_set_max_proto_version(context_.get(), TLS1_2_VERSION);
  tls::client_settings with = trusting();
  with.pins = {"sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="};
  tls::client from{with};
  play(
      [&](tcp::stream& near, tcp::stream& far) -> task<> {
        session server = served();
        const auto both = co_await when_all(from.connect(std::move(near), "example.org"), test::bare_peer::shake_hands(server, far));
        EXPECT_EQ(std::get<0>(both).error(), tls::errc::pin_missing);
      },
      2);
}

// Anybody can send the certificate of the pinned key behind its own.
TEST_P(odd_servers, have_the_pinned_key_themselves_if_nobody_verifies_the_chain) {
  tls::client_settings with = trusting();
  with.pins = {authority_pin()};
  play(
      [&](tcp::stream& near, tcp::stream& far) -> task<> {
        tls::client from{with};
        session server = served();
        const auto both = co_await when_all(from.connect(std::move(near), "example.org"), test::bare_peer::shake_hands(server, far));
        EXPECT_EQ(std::get<0>(both).has_value(), with.verify) << std::get<0>(both).error().message();
        with.verify = false;
      },
      2);
}

// A ticket that holds the client's certificate needs two records of that size. What has come of it keeps OpenSSL from sealing.
TEST_P(odd_servers, may_send_a_message_in_pieces_while_the_client_writes) {
  SSL_CTX_set_max_send_fragment(context_.get(), 512);
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_load_verify_file(context_.get(), by_.file().c_str());
  SSL_CTX_set_session_id_context(context_.get(), reinterpret_cast<const unsigned char*>("x"), 1);
  const test::authority::issued own = by_.make("a client with a long name in its certificate", "DNS:" + std::string(200, 'a'));
  tls::client_settings with = trusting();
  with.certificate = own.certificate;
  with.key = own.key;
  tls::client from{with};
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    session server = served();
    const auto shake_hands = [&]() -> task<> {  // and keep back what follows
      for (;;) {
        const session::need next = server.handshake();
        if (next == session::need::nothing) co_return;
        co_await test::bare_peer::send(server, far);
        const bool goes_on = co_await test::bare_peer::receive(server, far);
        if (!goes_on) co_return;
      }
    };
    auto both = co_await when_all(from.connect(std::move(near), "example.org"), shake_hands());
    tls::stream& client = std::get<0>(both).value();
    const std::span<const std::byte> tickets = server.to_send();
    const std::size_t first = 5 + static_cast<std::size_t>(tickets[3]) * 256 + static_cast<std::size_t>(tickets[4]);
    EXPECT_LT(first, tickets.size());
    std::array<std::byte, 8> room;
    EXPECT_TRUE(co_await far.write(tickets.first(first)));
    EXPECT_TRUE(co_await with_timeout(10s, client.readable()));
    for (int n = 0; n < 100; ++n) {  // on the simulated network it arrives in parts
      EXPECT_EQ(client.try_read_some(room).error(), std::errc::operation_would_block);
      if (!GetParam()) break;
      EXPECT_TRUE(co_await sleep(1ms));
    }
    EXPECT_EQ(client.try_write("x").error(), std::errc::operation_would_block);
    const auto read = [&]() -> task<> { EXPECT_EQ((co_await client.read_some(room)).value(), 3u); };
    const auto write = [&]() -> task<> { EXPECT_EQ((co_await client.write("four")).value(), 4u); };
    const auto serve = [&]() -> task<> {
      EXPECT_TRUE(co_await far.write(tickets.subspan(first)));
      server.sent();
      std::size_t got = 0;
      std::array<std::byte, 8> heard;
      while (server.open(heard, got) == session::need::input) {
        const bool goes_on = co_await test::bare_peer::receive(server, far);
        EXPECT_TRUE(goes_on);
        if (!goes_on) co_return;
      }
      EXPECT_EQ(got, 4u);
      std::size_t taken = 0;
      static_cast<void>(server.seal(std::as_bytes(std::span{std::string_view{"end"}}), taken));
      co_await test::bare_peer::send(server, far);
    };
    co_await when_all(read(), write(), serve());
  });
}

}  // namespace
}  // namespace tartan
