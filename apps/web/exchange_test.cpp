/// What connections of one worker use one after the other: nothing of one client may be seen by the next.
#include "web/server_fixture.h"

#include <string>

#include "web/tls_client_fixture.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::get;
using test::hear;
using test::pass;
using test::reload;
using test::rest_of;
using test::send;

class an_exchange : public test::a_server {
 protected:
  an_exchange() { network_.partial_percent = 0; }
};
INSTANTIATE_TEST_SUITE_P(on, an_exchange, testing::Values(1u));

TEST_P(an_exchange, has_nothing_left_of_who_had_it_before) {
  for (const char* const left : {"GET /page HTTP/1.1\r\nX-", "GET /page HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nbody", "\r\n", "P"}) {
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      auto gone = co_await tartan::tcp::connect(*c.peer_address());
      co_await send(*gone, left);
      co_await pass(10ms);
      gone->close();
      co_await pass(10ms);
      co_await send(c, get("/page", "Connection: close\r\n"));
      const std::string came = (co_await rest_of(c)).text;
      EXPECT_TRUE(came.starts_with("HTTP/1.1 200 ") && came.ends_with("a page")) << left << came;
    });
  }
}

TEST_P(an_exchange, stays_with_who_has_sent_the_beginning_of_a_head) {
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    auto other = co_await tartan::tcp::connect(*c.peer_address());
    std::string came;
    co_await send(c, "GET /pa");
    for (int n = 0; n < 3; ++n) {
      came.clear();
      co_await pass(10ms);
      co_await send(*other, get("/page"));
      co_await hear(*other, came, "a page");
    }
    co_await send(c, "ge HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    came = (co_await rest_of(c)).text;
    EXPECT_TRUE(came.starts_with("HTTP/1.1 200 ") && came.ends_with("a page")) << came;
  });
}

// Else a client that sends the beginning of each head together with the end of the one before would be cut off.
TEST_P(an_exchange, gives_each_head_a_time_of_its_own) {
  with_.times.header = 1s;
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    const std::string head = get("/page");
    std::string came;
    co_await send(c, head.substr(0, 5));
    for (int n = 0; n < 3; ++n) {
      co_await pass(700ms);
      came.clear();
      co_await send(c, head.substr(5) + head.substr(0, 5));
      co_await hear(c, came, "a page");
    }
  });
}

TEST_P(an_exchange, is_not_kept_behind_new_settings) {
  settings next = with_;
  next.requests.line = 100;
  const std::string long_line = get("/page?" + std::string(200, 'x'));
  with_.pages.recheck = 1h;
  play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    std::string came;
    co_await send(c, long_line.substr(0, 20));
    co_await pass(10ms);
    co_await reload(s, next);
    co_await send(c, long_line.substr(20));  // begun under the old ones
    co_await hear(c, came, "a page");
    auto other = co_await tartan::tcp::connect(*c.peer_address());
    co_await send(*other, long_line);
    came = (co_await rest_of(*other)).text;
    EXPECT_TRUE(came.starts_with("HTTP/1.1 414 ")) << came;
  });
}

// Whoever sends a body and then asks for something on the same connection: the head that was held is parsed again, and the next one from its beginning.
TEST_P(an_exchange, parses_the_next_head_behind_one_that_was_held) {
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    for (const char* const word : {"a", "a longer one than before"}) {
      std::string came;
      co_await send(c, get("/page", std::string{"Content-Length: 4\r\nX-Word: "}.append(word).append("\r\n")));
      co_await pass(10ms);
      co_await send(c, "body");
      co_await hear(c, came, "a page");
      EXPECT_TRUE(came.starts_with("HTTP/1.1 200 ")) << came;
      came.clear();
      co_await send(c, get("/page"));
      co_await hear(c, came, "a page");
      EXPECT_TRUE(came.starts_with("HTTP/1.1 200 ")) << came;
    }
  });
}

/// Over TLS.
class an_exchange_over_tls : public an_exchange {
 protected:
  an_exchange_over_tls() { test::use_tls(with_, folder_.path()); }
};
INSTANTIATE_TEST_SUITE_P(on, an_exchange_over_tls, testing::Values(1u));

TEST_P(an_exchange_over_tls, is_not_kept_behind_new_settings) {
  settings next = with_;
  next.requests.line = 100;
  with_.pages.recheck = 1h;
  const std::string long_line = get("/page?" + std::string(200, 'x'));
  play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    test::tls_client client{c};
    co_await client.handshake();
    bool is_ended = false;
    const auto answer = [&]() -> tartan::task<std::string> {
      std::array<std::byte, 5000> room;
      std::string text;
      while (text.empty() && !is_ended) {
        const auto got = co_await c.read_some(room);
        EXPECT_TRUE(got);
        if (!got) break;
        text += client.open({reinterpret_cast<const char*>(room.data()), *got}, is_ended);
      }
      co_return text;
    };
    co_await client.send(long_line);
    std::string text = co_await answer();
    EXPECT_TRUE(text.starts_with("HTTP/1.1 200 ")) << text;
    co_await reload(s, next);
    co_await client.send(get("/page"));
    text = co_await answer();
    EXPECT_TRUE(text.starts_with("HTTP/1.1 200 ")) << text;
    co_await client.send(long_line);
    text = co_await answer();
    EXPECT_TRUE(text.starts_with("HTTP/1.1 414 ")) << text;
  });
}

// The time for the next request begins when the last answer has gone, however long that took.
TEST_P(an_exchange, gives_the_next_request_its_time_behind_a_slow_reader) {
  with_.times.idle = 1s;
  with_.times.write = 1h;
  network_.stream_buffer = 2'000;
  write("page", std::string(3'000, 'x') + "a page");
  play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
    std::string came;
    co_await send(c, get("/page"));
    co_await hear(c, came, "a page");
    came.clear();
    co_await send(c, get("/page") + get("/page"));
    co_await pass(900ms);
    for (int n = 0; n < 2; ++n) {
      co_await hear(c, came, "a page");
      came.erase(0, came.find("a page") + 6);
    }
    co_await pass(500ms);
    co_await send(c, get("/page"));
    co_await hear(c, came, "a page");
  });
}

// A short write leaves a part of a page: the rest comes behind it, each byte once.
TEST_P(an_exchange, sends_the_rest_of_what_did_not_go_at_once) {
  network_.partial_percent = 60;
  std::string all;
  for (int n = 0; all.size() < 60'000; ++n) all += std::to_string(n) + ' ';
  for (const std::size_t bytes : {std::size_t{7'000}, all.size()}) {  // by this program, and by the kernel
    const std::string text = all.substr(0, bytes);
    const std::string path = "numbers" + std::to_string(bytes);
    write(path.c_str(), text);
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      for (int n = 0; n < 5; ++n) co_await send(c, get("/" + path));
      co_await send(c, get("/" + path, "Connection: close\r\n"));
      const std::string came = (co_await rest_of(c)).text;
      std::size_t at = 0;
      for (int n = 0; n < 6; ++n) {
        at = came.find("\r\n\r\n", at);
        EXPECT_NE(at, std::string::npos);
        if (at == std::string::npos) co_return;
        at += 4;
        EXPECT_TRUE(came.compare(at, text.size(), text) == 0) << n;
        at += text.size();
      }
      EXPECT_EQ(at, came.size());
    });
  }
}

}  // namespace
}  // namespace web
