// Handshakes: verification, and what the two ends agree on.

#include <gtest/gtest.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tartan/time/sleep.h>
#include <tartan/tls/self_signed.h>

#include "tls/connection_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class handshakes : public test::tls_ends {};
INSTANTIATE_TEST_SUITE_P(tls, handshakes, testing::Bool(), test::network_name);

TEST_P(handshakes, succeed_with_a_trusted_certificate_of_that_host_alone) {
  tls::server to{serving()};
  tls::client from{trusting()};
  struct attempt {
    const char* host;
    std::error_code expected;
  };
  const std::array attempts{
      attempt{"example.org", {}},
      attempt{"EXAMPLE.org.", {}},
      attempt{"127.0.0.1", {}},
      attempt{"example.com", {X509_V_ERR_HOSTNAME_MISMATCH, tls::certificate_category()}},
      attempt{"127.0.0.2", {X509_V_ERR_IP_ADDRESS_MISMATCH, tls::certificate_category()}},
      attempt{"no host", std::make_error_code(std::errc::invalid_argument)},
      attempt{".org", std::make_error_code(std::errc::invalid_argument)},  // for OpenSSL: any host below
      attempt{"a..b", std::make_error_code(std::errc::invalid_argument)},
  };
  std::size_t n = 0;
  play(
      [&](tcp::stream& near, tcp::stream& far) -> task<> {
        const attempt& each = attempts[n++];
        ends both = co_await seal(from, to, std::move(near), std::move(far), each.host);
        EXPECT_EQ(both.near.error(), each.expected) << each.host << ": " << both.near.error().message();
        if (!each.expected) {
          EXPECT_EQ(both.near->version(), "TLSv1.3");
          EXPECT_EQ(both.near->peer_subject(), "CN=a server");
        }
      },
      static_cast<int>(attempts.size()));
}

TEST_P(handshakes, fail_with_an_authority_that_is_not_trusted_and_both_ends_hear_of_it) {
  tls::server to{serving()};
  test::authority others;
  tls::client_settings with;
  with.authorities = others.file();
  tls::client from{with};
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    // It stays open: closing it with unread bytes would reset the connection, and the alert might be lost.
    tls::stream client = from.begin(std::move(near), "example.org");
    auto [shaken, served] = co_await when_all(client.handshake(), to.accept(std::move(far)));
    EXPECT_EQ(shaken.error().category(), tls::certificate_category());
    EXPECT_NE(shaken.error().message().find("certificate not accepted"), std::string::npos);
    // By TLS 1.3 the server may have ended its part when the client refuses; then its first read hears of it.
    std::error_code heard = served.error();
    if (served) static_cast<void>(co_await test::read_all(*served, &heard));
    EXPECT_EQ(heard.category(), tls::alert_category()) << heard.message();
  });
}

TEST_P(handshakes, take_the_certificate_of_the_host_that_is_asked_for) {
  tls::server_settings with = serving();
  with.identities.push_back(by_.identity("DNS:*.example.net"));
  with.identities.push_back(by_.identity("DNS:told.example", {"Told.example"}));
  tls::server to{with};
  tls::client from{trusting()};
  const std::array<const char*, 3> hosts{"example.org", "www.example.net", "told.example"};
  std::size_t n = 0;
  play(
      [&](tcp::stream& near, tcp::stream& far) -> task<> {
        const char* const host = hosts[n++];
        ends both = co_await seal(from, to, std::move(near), std::move(far), host);
        EXPECT_TRUE(both.near) << host << ": " << both.near.error().message();
        EXPECT_EQ(both.far.value().host(), host);
      },
      static_cast<int>(hosts.size()));
}

TEST_P(handshakes, agree_on_a_protocol_or_fail) {
  tls::server_settings with = serving();
  with.protocols = {"h9", "http/1.1"};
  tls::server to{with};
  struct offer {
    std::vector<std::string> protocols;
    const char* chosen;  // null: none in common
  };
  const std::array offers{offer{{"http/1.1", "h9"}, "h9"}, offer{{"http/1.1"}, "http/1.1"}, offer{{}, ""}, offer{{"spdy"}, nullptr}};
  std::size_t n = 0;
  play(
      [&](tcp::stream& near, tcp::stream& far) -> task<> {
        const offer& each = offers[n++];
        tls::client_settings offering = trusting();
        offering.protocols = each.protocols;
        tls::client from{offering};
        ends both = co_await seal(from, to, std::move(near), std::move(far));
        if (each.chosen == nullptr) {
          EXPECT_EQ(both.near.error(), tls::errc::no_common_protocol);
          EXPECT_EQ(both.far.error(), tls::errc::no_common_protocol);
        } else {
          EXPECT_EQ(both.near.value().protocol(), each.chosen);
          EXPECT_EQ(both.far.value().protocol(), each.chosen);
        }
      },
      static_cast<int>(offers.size()));
}

TEST_P(handshakes, ask_the_client_for_a_certificate) {
  tls::server_settings with = serving();
  with.clients = tls::server_settings::client_certificates::required;
  with.client_authorities = by_.file();
  tls::server to{with};
  const test::authority::issued own = by_.make("a client", "");
  bool has_one = false;
  play(
      [&](tcp::stream& near, tcp::stream& far) -> task<> {
        tls::client_settings showing = trusting();
        if (has_one) {
          showing.certificate = own.certificate;
          showing.key = own.key;
        }
        tls::client from{showing};
        ends both = co_await seal(from, to, std::move(near), std::move(far));
        if (has_one) {
          EXPECT_EQ(both.far.value().peer_subject(), "CN=a client");
        } else {
          EXPECT_EQ(both.far.error(), tls::errc::no_certificate);
        }
        has_one = true;
      },
      2);
}

TEST_P(handshakes, want_one_of_the_pinned_keys) {
  tls::server to{serving()};
  std::string pin;
  int n = 0;
  play(
      [&](tcp::stream& near, tcp::stream& far) -> task<> {
        tls::client_settings with = trusting();
        if (n == 1) with.pins = {pin};
        if (n == 2) with.pins = {"sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="};
        tls::client from{with};
        ends both = co_await seal(from, to, std::move(near), std::move(far));
        if (n == 0) pin = both.near.value().peer_key_hash();
        EXPECT_EQ(both.near.error(), n == 2 ? make_error_code(tls::errc::pin_missing) : std::error_code{}) << n;
        ++n;
      },
      3);
}

TEST_P(handshakes, have_their_time) {
  tls::server_settings with = serving();
  with.handshake_limit = 50ms;
  tls::server to{with};
  play([&](tcp::stream& /*near*/, tcp::stream& far) -> task<> {
    const result<tls::stream> made = co_await to.accept(std::move(far));
    EXPECT_EQ(made.error(), errc::timed_out);
  });
}

TEST_P(handshakes, tell_http_without_tls_and_leave_the_stream_to_answer_on) {
  tls::server to{serving()};
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    EXPECT_TRUE(co_await near.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    tls::stream made = to.begin(std::move(far));
    EXPECT_EQ((co_await made.handshake()).error(), tls::errc::plain_http);
    EXPECT_EQ((co_await made.handshake()).error(), tls::errc::plain_http) << "again";
    EXPECT_TRUE(co_await made.under()->write("HTTP/1.1 400 no\r\n\r\n"));
    EXPECT_TRUE(co_await made.under()->shutdown_send());  // closing it would reset the connection if bytes are unread
    const std::string came = co_await test::read_all(near);
    EXPECT_NE(came.find("HTTP/1.1 400 no"), std::string::npos);
  });
}

TEST_P(handshakes, may_begin_in_the_middle_of_a_connection) {
  tls::server to{serving()};
  tls::client from{trusting()};
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    EXPECT_TRUE(co_await near.write("STARTTLS\n"));
    std::string line;
    EXPECT_TRUE(co_await far.read_until(line, "\n", 100));
    EXPECT_TRUE(co_await far.write("go\n"));
    line.clear();
    EXPECT_TRUE(co_await near.read_until(line, "\n", 100));
    ends both = co_await seal(from, to, std::move(near), std::move(far));
    EXPECT_TRUE(both.near && both.far);
  });
}

TEST_P(handshakes, resume_sessions_by_tickets_once_each) {
  tls::server to{serving()};
  tls::client from{trusting()};
  int n = 0;
  play(
      [&](tcp::stream& near, tcp::stream& far) -> task<> {
        ends both = co_await seal(from, to, std::move(near), std::move(far));
        EXPECT_EQ(both.near.value().is_resumed(), n != 0) << n;
        EXPECT_TRUE(co_await both.far.value().write("x"));  // behind the tickets
        std::array<std::byte, 1> room;
        EXPECT_TRUE(co_await both.near->read_some(room));
        ++n;
      },
      3);
}

TEST_P(handshakes, go_by_new_certificates_after_a_reload_and_connections_go_on) {
  tls::server to{serving()};
  tls::client from{trusting()};
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    ends both = co_await seal(from, to, std::move(near), std::move(far));
    const std::string before = both.near.value().peer_key_hash();
    to.reload(serving());
    EXPECT_TRUE(co_await both.far.value().write("x"));
    std::array<std::byte, 1> room;
    EXPECT_TRUE(co_await both.near->read_some(room));
    auto door = tcp::listen(*rt_, "127.0.0.1:0", {.color = test::where});
    auto again = co_await tcp::connect(door.local_address().value());
    auto accepted = co_await door.accept(test::where);
    ends next = co_await seal(from, to, std::move(*again), std::move(*accepted));
    EXPECT_NE(next.near.value().peer_key_hash(), before);
    EXPECT_FALSE(next.near->is_resumed());
  });
}

TEST_P(handshakes, resume_after_a_reload_with_another_server_of_the_same_certificate) {
  const tls::server_settings with = serving();
  tls::server to{with};
  tls::client from{trusting()};
  int n = 0;
  play(
      [&](tcp::stream& near, tcp::stream& far) -> task<> {
        ends both = co_await seal(from, to, std::move(near), std::move(far));
        EXPECT_EQ(both.near.value().is_resumed(), n != 0) << n;
        EXPECT_TRUE(co_await both.far.value().write("x"));  // behind the tickets
        std::array<std::byte, 1> room;
        EXPECT_TRUE(co_await both.near->read_some(room));
        to.reload(tls::server{with});
        ++n;
      },
      2);
}

TEST_P(handshakes, leave_their_secrets_in_the_key_log) {
  tls::server_settings with = serving();
  with.key_log = by_.path("secrets");
  tls::server to{with};
  tls::client from{trusting()};
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    ends both = co_await seal(from, to, std::move(near), std::move(far));
    EXPECT_TRUE(both.near && both.far);
  });
  std::ifstream file{with.key_log};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_NE(text.find("CLIENT_HANDSHAKE_TRAFFIC_SECRET "), std::string::npos) << text;
  EXPECT_EQ(text.back(), '\n');
}

/// In simulated time.
class tickets : public test::tls_ends {
 protected:
  /// A connection after so long, by a client that keeps its sessions. Gives whether it has resumed one.
  [[nodiscard]] task<bool> resumes_after(std::chrono::minutes so_long, tls::client& from, tls::server& to) {
    EXPECT_TRUE(co_await sleep(so_long));
    auto door = tcp::listen(*rt_, "127.0.0.1:0", {.color = test::where});
    auto near = co_await tcp::connect(door.local_address().value());
    auto far = co_await door.accept(test::where);
    ends both = co_await seal(from, to, std::move(*near), std::move(*far));
    EXPECT_TRUE(co_await both.far.value().write("x"));  // behind the tickets
    std::array<std::byte, 1> room;
    EXPECT_TRUE(co_await both.near->read_some(room));
    co_return both.near->is_resumed();
  }
};
INSTANTIATE_TEST_SUITE_P(tls, tickets, testing::Values(true), test::network_name);

TEST_P(tickets, are_opened_by_the_key_before_and_by_none_before_that_when_keys_rotate) {
  tls::server to{serving()};  // a rotation takes two hours
  tls::client from{trusting()};
  play([&](tcp::stream& /*near*/, tcp::stream& /*far*/) -> task<> {
    const bool first = co_await resumes_after(0min, from, to);
    EXPECT_FALSE(first);
    const bool by_the_same_key = co_await resumes_after(119min, from, to);
    EXPECT_TRUE(by_the_same_key);
    const bool by_the_last_key = co_await resumes_after(100min, from, to);
    EXPECT_TRUE(by_the_last_key);
    const bool by_a_key_that_is_gone = co_await resumes_after(500min, from, to);
    EXPECT_FALSE(by_a_key_that_is_gone);
  });
}

TEST_P(tickets, end_with_a_reload_that_asks_clients_for_certificates) {
  tls::server_settings with = serving();
  tls::server to{with};
  tls::client from{trusting()};
  play([&](tcp::stream& /*near*/, tcp::stream& /*far*/) -> task<> {
    static_cast<void>(co_await resumes_after(0min, from, to));
    to.reload(with);
    const bool with_the_same = co_await resumes_after(1min, from, to);
    EXPECT_TRUE(with_the_same);
    with.clients = tls::server_settings::client_certificates::welcome;
    with.client_authorities = by_.file();
    to.reload(with);
    const bool of_one_that_was_not_asked = co_await resumes_after(1min, from, to);
    EXPECT_FALSE(of_one_that_was_not_asked);
    const bool of_one_that_was_asked = co_await resumes_after(1min, from, to);
    EXPECT_TRUE(of_one_that_was_asked);
    to.reload(with);
    const bool before_the_next_reload = co_await resumes_after(1min, from, to);
    EXPECT_FALSE(before_the_next_reload);
  });
}

TEST_P(tickets, are_not_given_if_they_have_no_life) {
  tls::server_settings with = serving();
  with.ticket_life = {};
  tls::server to{with};
  tls::client from{trusting()};
  play([&](tcp::stream& /*near*/, tcp::stream& /*far*/) -> task<> {
    static_cast<void>(co_await resumes_after(0min, from, to));
    const bool again = co_await resumes_after(0min, from, to);
    EXPECT_FALSE(again);
  });
}

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const std::exception& why) {
    return why.what();
  }
  return {};
}

// A log for debugging ends no connection.
TEST_P(handshakes, succeed_although_the_key_log_is_full) {
  tls::server_settings with = serving();
  with.key_log = "/dev/full";
  tls::server to{with};
  tls::client from{trusting()};
  play([&](tcp::stream& near, tcp::stream& far) -> task<> {
    ends both = co_await seal(from, to, std::move(near), std::move(far));
    EXPECT_TRUE(both.near && both.far);
  });
}

TEST_P(handshakes, succeed_with_a_self_signed_certificate_that_the_client_trusts) {
  const test::temporary_folder folder;
  tls::server_settings with;
  with.identities = {tls::self_signed(folder.path().string(), {"example.org", "127.0.0.1"})};
  tls::server to{with};
  struct stat key{};
  ASSERT_EQ(::stat((folder / "self-signed.key").c_str(), &key), 0);
  EXPECT_EQ(key.st_mode & 0777, 0600u);
  const std::array hosts{"example.org", "127.0.0.1", "example.com"};
  std::size_t n = 0;
  play(
      [&](tcp::stream& near, tcp::stream& far) -> task<> {
        tls::client_settings trusting_it;
        trusting_it.authorities = (folder / "self-signed.pem").string();
        tls::client from{trusting_it};
        ends both = co_await seal(from, to, std::move(near), std::move(far), hosts[n]);
        EXPECT_EQ(both.near.has_value(), n != 2) << hosts[n];
        ++n;
      },
      static_cast<int>(hosts.size()));
}

TEST(a_self_signed_certificate, is_not_made_without_a_name_or_a_folder) {
  const test::temporary_folder folder;
  EXPECT_NE(refusal([&] { static_cast<void>(tls::self_signed(folder.path().string(), {})); }), "");
  EXPECT_NE(refusal([&] { static_cast<void>(tls::self_signed((folder / "absent").string(), {"a"})); }).find("absent"), std::string::npos);
}

TEST(tls_settings, say_what_is_wrong_with_them) {
  test::authority by;
  EXPECT_NE(refusal([] { tls::server{{}}; }).find("no identity"), std::string::npos);
  tls::server_settings with;
  with.identities = {{by.path("absent"), by.path("absent")}};
  EXPECT_NE(refusal([&] { tls::server{with}; }).find("absent' (No such file or directory)"), std::string::npos);
  const test::authority::issued one = by.make("one", "DNS:a");
  const test::authority::issued two = by.make("two", "DNS:a");
  with.identities = {{one.certificate, two.key}};
  EXPECT_NE(refusal([&] { tls::server{with}; }).find("key values mismatch"), std::string::npos);
  with.identities = {{one.certificate, one.key}};
  with.clients = tls::server_settings::client_certificates::welcome;
  EXPECT_NE(refusal([&] { tls::server{with}; }).find("client_authorities"), std::string::npos);
  tls::client_settings client;
  client.pins = {"sha1/x"};
  EXPECT_NE(refusal([&] { tls::client{client}; }).find("is no pin"), std::string::npos);
  client = {};
  client.protocols = {""};
  EXPECT_NE(refusal([&] { tls::client{client}; }).find("application protocol"), std::string::npos);
  client = {};
  client.key_log = by.path("no folder/secrets");
  EXPECT_NE(refusal([&] { tls::client{client}; }).find("no folder/secrets' (No such file or directory)"), std::string::npos);
  client = {};
  client.authorities = by.path("absent");
  EXPECT_NE(refusal([&] { tls::client{client}; }).find("cannot use the authorities"), std::string::npos);
}

}  // namespace
}  // namespace tartan
