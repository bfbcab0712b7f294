/// How the server ends while clients keep their connections. INSTANTIATE_TEST_SUITE_P is in server_test.cpp.
#include <tartan/core/semaphore.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "web/server_fixture.h"
#include "tests/web/failing_memory.h"
#include "web/tls_client_fixture.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::a_server;
using test::ask_for_page;
using test::get;
using test::head_from;
using test::hear;
using test::heard;
using test::pass;
using test::rest_of;
using test::send;

std::size_t count(const std::string& text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

/// What a client has seen that sends request after request on one connection.
struct busy_client {
  int answers = 0;
  bool was_told = false;     ///< by Connection: close
  bool was_dropped = false;  ///< a request had no answer
};

tartan::task<> stay_busy(tartan::address at, std::chrono::milliseconds pause, busy_client& seen) {
  auto c = co_await tartan::tcp::connect(at);
  std::string came;
  while (!seen.was_told && !seen.was_dropped) {
    came.clear();
    static_cast<void>(co_await c->write(get("/page")));
    const auto answer = co_await c->read_until(came, "a page", 1 << 20);
    seen.was_dropped = !answer;
    seen.was_told = came.find("\r\nConnection: close\r\n") != std::string::npos;
    if (answer) ++seen.answers;
    co_await pass(pause);
  }
  const heard rest = co_await rest_of(*c);
  EXPECT_EQ(rest.text, "");
  EXPECT_EQ(rest.end, tartan::errc::end_of_stream) << "a reset may take the answer from the client";
}

TEST_P(a_server, that_ends_answers_each_request_of_clients_that_keep_their_connections) {
  constexpr std::size_t clients = 50;
  std::vector<busy_client> seen(clients);
  play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    const tartan::address at = *c.peer_address();
    std::vector<tartan::join_handle<void>> all;
    for (std::size_t n = 0; n < clients; ++n) {
      const std::chrono::milliseconds pause{n % 5 * 7};
      all.push_back(tartan::spawn_in(tartan::color{100 + n}, stay_busy(at, pause, seen[n])));
    }
    co_await pass(200ms);
    drain(s);
    for (auto& each : all) co_await each.join();
  });
  for (const busy_client& each : seen) {
    EXPECT_GT(each.answers, 1);
    EXPECT_TRUE(each.was_told);
    EXPECT_FALSE(each.was_dropped);
  }
}

TEST_P(a_server, that_ends_answers_what_was_sent_behind_a_request_in_progress) {
  network_.partial_percent = 0;
  play([this](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    co_await send(c, get("/large"));
    std::string came = co_await head_from(c);
    co_await send(c, get("/page") + get("/page") + get("/page") + "\r\n");
    co_await pass(1s);
    drain(s);
    co_await pass(1s);
    const heard all = co_await rest_of(c);
    came += all.text;
    EXPECT_EQ(count(came, "a page"), 3u);
    EXPECT_EQ(count(came, "Connection: close"), 1u);
    EXPECT_GT(came.find("Connection: close"), came.find("a page", came.find("a page") + 1)) << "in the last of them";
    EXPECT_EQ(all.end, tartan::errc::end_of_stream);
  });
}

/// Its head was not sent yet: it waits for the disk, or, as here, for the end of its body.
TEST_P(a_server, that_ends_says_so_in_an_answer_that_is_still_to_come) {
  play([this](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    co_await send(c, "GET /page HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12");
    co_await pass(1s);
    drain(s);
    co_await pass(2s);
    co_await send(c, "345");
    const heard all = co_await rest_of(c);
    EXPECT_TRUE(all.text.ends_with("a page")) << all.text;
    EXPECT_EQ(count(all.text, "Connection: close"), 1u);
    EXPECT_EQ(all.end, tartan::errc::end_of_stream);
  });
}

TEST_P(a_server, that_ends_answers_the_rest_of_a_head_that_was_sent_behind_a_request_in_progress) {
  network_.partial_percent = 0;
  play([this](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    const std::string asked = get("/page");
    co_await send(c, get("/large"));
    std::string came = co_await head_from(c);
    co_await send(c, asked + asked.substr(0, 20));
    co_await pass(1s);
    drain(s);
    std::string rest(large - (came.size() - came.find("\r\n\r\n") - 4), ' ');
    EXPECT_TRUE(co_await c.read_exactly(std::as_writable_bytes(std::span{rest})));
    co_await send(c, asked.substr(20) + asked);  // the second one came too late
    const heard all = co_await rest_of(c);
    EXPECT_EQ(count(all.text, "a page"), 2u) << all.text;
    EXPECT_EQ(count(all.text, "Connection: close"), 1u);
    EXPECT_EQ(all.end, tartan::errc::end_of_stream);
  });
}

/// A second, or half of the time to drain.
TEST_P(a_server, that_ends_waits_a_moment_for_the_next_request_of_an_idle_client) {
  for (const auto& [limit, waits] : {std::pair{10'000ms, 1000ms}, {1'000ms, 500ms}}) {
    with_.times.drain = limit;
    for (const bool in_time : {true, false}) {
      play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
        co_await ask_for_page(c);
        drain(s);
        co_await pass(in_time ? waits - 100ms : waits + 100ms);
        co_await send(c, "DELETE /page HTTP/1.1\r\nHost: a\r\n\r\n");  // needs no disk
        const heard all = co_await rest_of(c);
        EXPECT_EQ(all.text.starts_with("HTTP/1.1 405 "), in_time) << all.text << limit.count();
        EXPECT_EQ(count(all.text, "Connection: close"), in_time ? 1u : 0u);
        EXPECT_EQ(all.end, tartan::errc::end_of_stream);
      });
    }
  }
}

/// More than one read brings, whose last byte is the end of a request.
TEST_P(a_server, that_ends_reads_once_more_before_it_says_so) {
  constexpr std::size_t requests = 3 * read_buffer::first / 128;
  const std::string asked = get("/page", "X: " + std::string(128 - get("/page", "X: \r\n").size(), 'x') + "\r\n");
  ASSERT_EQ(asked.size(), 128u);
  network_.partial_percent = 0;
  play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    co_await ask_for_page(c);
    drain(s);
    co_await pass(10ms);
    std::string all;
    for (std::size_t n = 0; n < requests; ++n) all += asked;
    co_await send(c, all);
    const heard came = co_await rest_of(c);
    EXPECT_EQ(count(came.text, "a page"), requests);
    EXPECT_EQ(count(came.text, "Connection: close"), 1u);
  });
}

class a_server_of_one_worker_that_ends : public a_server {};
INSTANTIATE_TEST_SUITE_P(on, a_server_of_one_worker_that_ends, testing::Values(1u));

/// Whichever allocation fails. By the kernel's sockets, for the simulated ones need memory themselves.
TEST_P(a_server_of_one_worker_that_ends, without_memory_ends_all_the_same) {
  with_.times.drain = 10ms;
  with_.pages.open_files = 0;  // else one stays open for some seconds, of the real time
  with_.access_log = folder_ / "log";
  bool has_failed = true;
  std::size_t failures = 0;
  for (std::size_t n = 0; has_failed; ++n) {
    std::optional<bool> all_ended;
    tartan::semaphore end{1};
    testing::internal::CaptureStderr();
    play_on_the_kernel([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
      tartan::semaphore::permit until_then = *end.try_acquire();
      auto idle = co_await tartan::tcp::connect(*c.peer_address());
      co_await ask_for_page(*idle);
      co_await send(c, get("/large"));
      static_cast<void>(co_await head_from(c));
      drain(s, [&](bool ended) {
        all_ended = ended;
        until_then.release();
      });
      {
        const test::failing_memory fails{{}, n};
        const auto permit = co_await end.acquire();
        has_failed = fails.count() > n;
      }
      if (has_failed) ++failures;
      EXPECT_EQ((co_await rest_of(*idle)).end, tartan::errc::end_of_stream);
    });
    EXPECT_EQ(all_ended, true) << n;
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(said.empty() || said.starts_with("tartan-web: ")) << said;
  }
  EXPECT_NE(failures, 0u);
}

class a_server_of_tls : public a_server {
 protected:
  a_server_of_tls() { test::use_tls(with_, folder_.path()); }

  /// What comes up to this text, or the end.
  [[nodiscard]] static tartan::task<std::string> opened(tartan::tcp::stream& c, test::tls_client& client,
                                                        std::string_view until) {
    std::string all;
    bool is_ended = false;
    while (!is_ended && all.find(until) == std::string::npos) {
      std::array<std::byte, 5000> room;
      const auto got = co_await c.read_some(room);
      if (!got) break;
      all += client.open({reinterpret_cast<const char*>(room.data()), *got}, is_ended);
    }
    co_return all;
  }
};
INSTANTIATE_TEST_SUITE_P(on, a_server_of_tls, testing::Values(1u, 2u));

TEST_P(a_server_of_tls, that_ends_answers_what_was_sent_by_then) {
  network_.partial_percent = 0;
  for (const bool is_busy : {true, false}) {
    play([&](tartan::tcp::stream& c, server& s) -> tartan::task<> {
      test::tls_client client{c};
      co_await client.handshake();
      co_await client.send(get(is_busy ? "/large" : "/page"));
      std::string came = co_await opened(c, client, is_busy ? "xxx" : "a page");
      EXPECT_EQ(count(came, "Connection: close"), 0u);
      if (is_busy) {
        co_await client.send(get("/page") + get("/page"));
        co_await pass(100ms);
      }
      drain(s);
      co_await pass(100ms);
      if (!is_busy) co_await client.send(get("/page") + get("/page"));
      came = co_await opened(c, client, "no end");
      EXPECT_EQ(count(came, "a page"), 2u) << is_busy << came.substr(0, 300);
      EXPECT_EQ(count(came, "Connection: close"), 1u);
    });
  }
}

}  // namespace
}  // namespace web
