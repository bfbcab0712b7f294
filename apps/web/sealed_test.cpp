/// What is said to clients of a port for TLS, beside the answers.
#include "web/server_fixture.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>

#include "web/tls_client_fixture.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::get;
using test::rest_of;
using test::send;
using test::tls_client;

class a_server_of_tls_alone : public test::a_server {
 protected:
  a_server_of_tls_alone() { test::use_tls(with_, folder_.path()); }
};
INSTANTIATE_TEST_SUITE_P(on, a_server_of_tls_alone, testing::Values(1u, 2u));

TEST_P(a_server_of_tls_alone, tells_plain_http_to_come_with_tls) {
  with_.access_log = folder_ / "log";
  for (const char* const method : {"GET", "POST", "HEAD"}) {
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      co_await send(c, std::string{method} + " /page HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
      const test::heard all = co_await rest_of(c);
      EXPECT_TRUE(all.text.starts_with("HTTP/1.1 400 Bad Request\r\n")) << all.text;
      EXPECT_NE(all.text.find("\r\nConnection: close\r\n"), std::string::npos);
      EXPECT_TRUE(all.text.ends_with("use https://\n")) << all.text;
      EXPECT_EQ(all.end, tartan::errc::end_of_stream);
    });
  }
  std::ifstream log{with_.access_log};
  const std::string lines{std::istreambuf_iterator<char>{log}, {}};
  EXPECT_NE(lines.find("] \"-\" 400 "), std::string::npos) << lines;
}

TEST_P(a_server_of_tls_alone, answers_a_farewell_with_one) {
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    tls_client client{c};
    co_await client.handshake();
    co_await client.send(get("/page"));
    co_await client.say_farewell();
    const test::heard all = co_await rest_of(c);
    bool is_ended = false;
    EXPECT_TRUE(client.open(all.text, is_ended).ends_with("a page"));
    EXPECT_TRUE(is_ended);
    EXPECT_EQ(all.end, tartan::errc::end_of_stream);
  });
}

/// All of the answer is sealed at once, and what the client does not take is not sent yet.
TEST_P(a_server_of_tls_alone, cuts_off_who_takes_no_answer) {
  constexpr std::size_t bytes = 10'000;
  with_.times.write = 1s;
  with_.times.idle = 1h;
  network_.stream_buffer = 4'000;
  write("page", std::string(bytes, 'x'));
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    tls_client client{c};
    co_await client.handshake();
    co_await client.send(get("/page"));
    co_await test::pass(3s);
    bool is_ended = false;
    const std::string came = (co_await rest_of(c)).text;
    const std::string text = client.open(came, is_ended);
    EXPECT_LT(static_cast<std::size_t>(std::count(text.begin(), text.end(), 'x')), bytes);
    EXPECT_FALSE(is_ended);
  });
}

TEST_P(a_server_of_tls_alone, finds_a_host_by_the_name_that_the_client_asks_for) {
  const tartan::test::temporary_folder other;
  with_.hosts[0].names = {"a.example"};
  with_.hosts.push_back(with_.hosts[0]);
  with_.hosts[1].names = {"b.example"};
  test::give_certificate(with_.hosts[1], other.path(), "b");
  for (const auto& [name, expected] : {std::pair{"a.example", "a"}, {"b.example", "b"}, {"B.example.", "b"}, {"c.example", "a"}}) {
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      tls_client client{c};
      client.ask_for(name);
      co_await client.handshake();
      EXPECT_EQ(client.peer_name(), expected) << name;
    });
  }
}

}  // namespace
}  // namespace web
