#include "web/proxies.h"

#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "web/server_fixture.h"
#include "web/tls_client_fixture.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::get;
using test::hear;
using test::rest_of;
using test::send;

const std::string in_bytes{"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x01\x0a\0\0\x01\x12\x34\x01\xbb", 28};
const std::string in_a_line = "PROXY TCP4 192.0.2.1 10.0.0.1 4660 443\r\n";

/// One behind a proxy: the client of the test.
class a_server_behind_a_proxy : public test::a_server {
 protected:
  a_server_behind_a_proxy() { with_.access_log = folder_ / "log"; }

  void trust_range(const std::string& text) { EXPECT_EQ(trust(with_.proxies, text), ""); }
  /// The client's address in the log.
  [[nodiscard]] std::vector<std::string> clients() const {
    std::vector<std::string> found;
    std::ifstream log{with_.access_log};
    for (std::string line; std::getline(log, line);) found.push_back(line.substr(0, line.find(' ')));
    return found;
  }
  /// Sends it, and hears of a page.
  void ask(const std::string& text) {
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      co_await send(c, text);
      const std::string came = (co_await rest_of(c)).text;
      EXPECT_TRUE(came.ends_with("a page")) << came;
    });
  }
  /// Sends it, and is not answered; what is said on stderr.
  [[nodiscard]] std::string ask_in_vain(const std::string& text) {
    testing::internal::CaptureStderr();
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      static_cast<void>(co_await c.write(text));  // fails if the server has heard enough after the first part
      static_cast<void>(c.shutdown_send());
      EXPECT_EQ((co_await rest_of(c)).text, "");
    });
    return testing::internal::GetCapturedStderr();
  }

  const std::string last_ = get("/page", "Connection: close\r\n");
};
INSTANTIATE_TEST_SUITE_P(on, a_server_behind_a_proxy, testing::Values(1u, 2u));

TEST_P(a_server_behind_a_proxy, believes_what_was_forwarded_if_it_trusts_the_proxy) {
  const std::string forwarded = get("/page", "X-Forwarded-For: 203.0.113.9, 192.0.2.1\r\nConnection: close\r\n");
  ask(forwarded);
  trust_range("127.0.0.2");
  ask(forwarded);
  trust_range("127.0.0.0/31");
  ask(get("/page", "X-Forwarded-For: 192.0.2.2\r\n") + get("/page") + forwarded);
  EXPECT_EQ(clients(), (std::vector<std::string>{"127.0.0.1", "127.0.0.1", "192.0.2.2", "127.0.0.1", "192.0.2.1"}));
}

TEST_P(a_server_behind_a_proxy, reads_a_header_of_the_proxy_protocol_from_a_trusted_one) {
  with_.proxies.speaks_protocol = true;
  trust_range("127.0.0.1");
  ask(in_a_line + last_);
  ask(in_bytes + last_);
  ask("PROXY UNKNOWN\r\n" + last_);
  ask(in_bytes + get("/page", "X-Forwarded-For: 203.0.113.9\r\nConnection: close\r\n"));
  trust_range("192.0.2.0/24");
  ask(in_bytes + get("/page", "X-Forwarded-For: 203.0.113.9\r\nConnection: close\r\n"));
  EXPECT_EQ(clients(), (std::vector<std::string>{"192.0.2.1", "192.0.2.1", "127.0.0.1", "192.0.2.1", "203.0.113.9"}));
}

TEST_P(a_server_behind_a_proxy, takes_no_header_from_others) {
  with_.proxies.speaks_protocol = true;
  trust_range("10.0.0.0/8");
  ask(last_);
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    co_await send(c, in_a_line + last_);
    const std::string came = (co_await rest_of(c)).text;
    EXPECT_TRUE(came.starts_with("HTTP/1.1 400 ")) << came;
  });
  EXPECT_EQ(clients(), (std::vector<std::string>{"127.0.0.1", "127.0.0.1"}));
}

TEST_P(a_server_behind_a_proxy, says_that_a_trusted_one_has_sent_no_header) {
  with_.proxies.speaks_protocol = true;
  trust_range("127.0.0.1");
  EXPECT_EQ(ask_in_vain(last_), "tartan-web: connections that had to be given up: 1 (a connection from the trusted proxy 127.0.0.1 does not begin with "
                                "a header of the PROXY protocol)\n");
  EXPECT_EQ(ask_in_vain(in_a_line.substr(0, 20)), "");
  EXPECT_EQ(ask_in_vain(""), "") << "a check whether it answers";
  EXPECT_TRUE(clients().empty());
}

TEST_P(a_server_behind_a_proxy, waits_for_a_header_as_long_as_for_a_head) {
  with_.proxies.speaks_protocol = true;
  with_.times.header = 1s;
  trust_range("127.0.0.1");
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    co_await send(c, in_a_line.substr(0, 20));
    co_await test::pass(1500ms);
    std::array<std::byte, 100> room;
    EXPECT_EQ(c.try_read_some(room).error(), tartan::errc::end_of_stream);
  });
}

TEST_P(a_server_behind_a_proxy, speaks_tls_behind_the_header) {
  test::use_tls(with_, folder_.path());
  with_.proxies.speaks_protocol = true;
  trust_range("127.0.0.1");
  for (const std::string& header : {in_a_line, in_bytes}) {
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      co_await send(c, header);
      test::tls_client client{c};
      co_await client.handshake();
      co_await client.send(last_);
      bool is_ended = false;
      const std::string came = (co_await rest_of(c)).text;
      EXPECT_TRUE(client.open(came, is_ended).ends_with("a page"));
    });
  }
  EXPECT_EQ(clients(), (std::vector<std::string>{"192.0.2.1", "192.0.2.1"}));
}

TEST(proxy_settings, say_what_is_no_range) {
  proxy_settings with;
  EXPECT_FALSE(with.are_any());
  EXPECT_EQ(trust(with, "10.0.0.1/8"), "'10.0.0.1/8' is no range of addresses, as \"10.0.0.0/8\", no address, and not \"unix\"");
  EXPECT_FALSE(with.are_any());
  EXPECT_EQ(trust(with, "unix"), "");
  EXPECT_TRUE(with.are_any());
  EXPECT_TRUE(with.trusts(*tartan::address::parse("unix:/tmp/a")));
  EXPECT_FALSE(with.trusts(*tartan::address::parse("10.0.0.1:80")));
  EXPECT_EQ(trust(with, "10.0.0.0/8"), "");
  EXPECT_TRUE(with.trusts(*tartan::address::parse("[::ffff:10.0.0.1]:80")));
}

}  // namespace
}  // namespace web
