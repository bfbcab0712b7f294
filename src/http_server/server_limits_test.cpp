// What a server does with too much, too slow, and too clever.

#include <tartan/http_server/server.h>

#include <gtest/gtest.h>

#include <string>
#include <tartan/core/yield.h>
#include <tartan/time/sleep.h>
#include <vector>

#include "http_server/server_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using http::exchange;
using http::reply;
using test::talker;

class http_limits : public test::with_server {};
INSTANTIATE_TEST_SUITE_P(on, http_limits, testing::ValuesIn(test::both_machines()), test::place_name);

/// Where the clock jumps: hours pass at once.
class http_time_limits : public test::with_server {};
INSTANTIATE_TEST_SUITE_P(on, http_time_limits, testing::ValuesIn(test::places_on(test::machine::simulated)),
                         test::place_name);

reply hello(exchange& /*x*/) {
  return reply::text("hello");
}
std::string status_of(const std::string& answer) {
  return answer.substr(0, answer.find("\r\n"));
}

TEST_P(http_limits, on_heads_and_bodies_are_answered_by_name) {
  with.most_line = 100;
  with.most_head = 200;
  with.most_fields = 5;
  with.most_body = 10;
  site().get("/", hello);
  site().post("/unread", hello);
  site().post("/", [](exchange& x) -> task<reply> {
    auto text = co_await x.body().read_all(100);
    if (!text) co_return reply::of_error(text.error());
    co_return reply::text(*text);
  });
  site()
      .post("/more",
            [](exchange& x) -> task<> {
              auto text = co_await x.body().read_all(100);
              if (text) static_cast<void>(co_await x.send(reply::text(*text)));
            })
      .most_body(20);
  const std::string host = " HTTP/1.1\r\nHost: a\r\n";
  const std::string chunks = "Transfer-Encoding: chunked\r\n\r\n";
  const std::vector<std::pair<std::string, std::string>> all{
      {"GET /" + std::string(200, 'x') + host + "\r\n", "HTTP/1.1 414 URI Too Long"},
      {"GET /" + host + "X: " + std::string(300, 'x') + "\r\n\r\n", "HTTP/1.1 431 Request Header Fields Too Large"},
      {"GET /" + host + "A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\nE: 5\r\n\r\n", "HTTP/1.1 431 Request Header Fields Too Large"},
      {"POST /" + host + "Content-Length: 11\r\n\r\n12345678901", "HTTP/1.1 413 Content Too Large"},
      {"POST /" + host + "Content-Length: 99999999\r\nExpect: 100-continue\r\n\r\n", "HTTP/1.1 413 Content Too Large"},
      {"POST /" + host + chunks + "b\r\n12345678901\r\n0\r\n\r\n", "HTTP/1.1 413 Content Too Large"},
      {"POST /more" + host + chunks + "15\r\n123456789012345678901\r\n0\r\n\r\n", "HTTP/1.1 413 Content Too Large"},
      {"POST /more" + host + "Connection: close\r\n" + chunks + "14\r\n12345678901234567890\r\n0\r\n\r\n",
       "HTTP/1.1 200 OK"},
      {"POST /" + host + chunks + "x\r\n", "HTTP/1.1 400 Bad Request"},
      {"POST /unread" + host + "Content-Length: 11\r\n\r\n12345678901", "HTTP/1.1 413 Content Too Large"},
  };
  talk([&]() -> task<> {
    for (const auto& [text, status] : all) {
      talker client = co_await connect();
      co_await client.say(text);
      const std::string heard = co_await client.hear_all();
      EXPECT_EQ(status_of(heard), status) << text;
      EXPECT_NE(heard.find("Connection: close\r\n"), std::string::npos) << text;
      EXPECT_EQ(client.ended(), errc::end_of_stream) << text;
    }
  });
  EXPECT_TRUE(failures.empty());
}

TEST_P(http_limits, let_clients_hear_why_they_are_refused) {
  with.most_line = 100;
  site().get("/", hello);
  talk([&]() -> task<> {
    talker client = co_await connect();
    const std::string text = "GET /" + std::string(300'000, 'x');
    const auto say = [](talker& by, std::string_view all) -> task<> {
      static_cast<void>(co_await by.over().write(all));
      static_cast<void>(by.over().shutdown_send());
    };
    const auto both = co_await when_all(say(client, text), client.hear_all());
    EXPECT_TRUE(std::get<1>(both).starts_with("HTTP/1.1 414 URI Too Long\r\n"));
    EXPECT_EQ(client.ended(), errc::end_of_stream);
  });
}

TEST_P(http_limits, of_what_can_be_read_in_two_ways_refuse_it) {
  site().get("/", hello);
  site().post("/", hello);
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";
  const std::string smuggled = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
  talk([&]() -> task<> {
    for (const std::string& text :
         {post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + smuggled,
          post + "Content-Length: 4\r\nContent-Length: 40\r\n\r\n" + smuggled,
          post + "Content-Length: +4\r\n\r\n" + smuggled,
          post + "Transfer-Encoding: chunked, identity\r\n\r\n" + smuggled,
          post + "Transfer-Encoding: xchunked\r\n\r\n" + smuggled,
          post + "Transfer-Encoding : chunked\r\n\r\n" + smuggled, std::string{"GET / HTTP/1.1\nHost: a\n\n"},
          std::string{"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"}, std::string{"GET / HTTP/1.1\r\n\r\n"}}) {
      talker client = co_await connect();
      co_await client.say(text);
      const std::string heard = co_await client.hear_all();
      EXPECT_TRUE(heard.starts_with("HTTP/1.1 4") || heard.starts_with("HTTP/1.1 501")) << text << "\n" << heard;
      EXPECT_EQ(heard.find("HTTP/1.1", 1), std::string::npos) << "two answers to " << text;
    }
  });
}

TEST_P(http_limits, on_paths_keep_handlers_inside) {
  site().get("/files/{path...}", [](exchange& x) { return reply::text(x.parameter("path")); });
  talk([&]() -> task<> {
    for (const char* const target :
         {"/files/../etc/passwd", "/files/%2e%2e/x", "/files/a%2fb", "/files/a%00b", "/files//a", "files/a"}) {
      talker client = co_await connect();
      co_await client.say("GET " + std::string{target} + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      EXPECT_TRUE((co_await client.hear_all()).starts_with("HTTP/1.1 4")) << target;
    }
  });
}

TEST_P(http_limits, on_requests_end_a_connection_behind_the_last) {
  with.most_requests = 2;
  site().get("/", hello);
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string heard = answer_to(get + get + get);
  const std::size_t second = heard.find("helloHTTP/1.1 200 OK");
  ASSERT_NE(second, std::string::npos) << heard;
  EXPECT_EQ(heard.find("Connection: close"), heard.rfind("Connection: close"));
  EXPECT_GT(heard.find("Connection: close"), second);
  EXPECT_TRUE(heard.ends_with("hello"));
  EXPECT_EQ(heard.find("HTTP/1.1", second + 10), std::string::npos);
}

TEST_P(http_limits, on_connections_answer_503_to_further_ones) {
  with.most_connections = 2;
  site().get("/", hello);
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  talk([&]() -> task<> {
    talker first = co_await connect();
    co_await first.say(get);
    EXPECT_TRUE((co_await first.hear_answer()).ends_with("hello"));
    talker second = co_await connect();
    co_await second.say(get);
    EXPECT_TRUE((co_await second.hear_answer()).ends_with("hello"));
    talker third = co_await connect();
    co_await third.say(get);
    const std::string heard = co_await third.hear_all();
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 503 Service Unavailable\r\n")) << heard;
    EXPECT_NE(heard.find("Retry-After: 1\r\n"), std::string::npos);
    third.over().close();
    first.over().close();
    while (co_await site().connections() > 1) co_await moment();
    talker fourth = co_await connect();
    co_await fourth.say(get);
    EXPECT_TRUE((co_await fourth.hear_answer()).ends_with("hello"));
  });
}

TEST_P(http_limits, do_not_keep_what_far_too_many_clients_open) {
  with.most_connections = 1;
  site().get("/", hello);
  talk([&]() -> task<> {
    std::vector<talker> all;
    for (int n = 0; n < 101; ++n) all.push_back(co_await connect());
    while (co_await site().connections() < 101) co_await moment();
    talker one_more = co_await connect();
    EXPECT_EQ(co_await one_more.hear_all(), "");
    EXPECT_EQ(co_await site().connections(), 101u);
  });
}

TEST_P(http_time_limits, tell_a_slow_client_408) {
  site().get("/", hello);
  site().post("/", [](exchange& x) -> task<> {
    const auto text = co_await x.body().read_all(100);
    EXPECT_EQ(text.error(), errc::timed_out);
  });
  talk([&]() -> task<> {
    talker client = co_await connect();
    const auto began = rt().now();
    co_await client.say("GET / HT");
    EXPECT_TRUE((co_await client.hear_all()).starts_with("HTTP/1.1 408 Request Timeout\r\n"));
    EXPECT_GE(rt().now() - began, 10s);
    EXPECT_LT(rt().now() - began, 15s);
    talker second = co_await connect();
    co_await second.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf");
    EXPECT_TRUE((co_await second.hear_all()).starts_with("HTTP/1.1 408 Request Timeout\r\n"));
    EXPECT_GE(rt().now() - began, 40s);
  });
}

TEST_P(http_time_limits, count_a_head_as_a_whole_and_a_body_by_pieces) {
  site().get("/", hello);
  site().post("/", [](exchange& x) -> task<reply> {
    auto text = co_await x.body().read_all(100);
    co_return reply::text(text ? *text : text.error().message());
  });
  talk([&]() -> task<> {
    const auto began = rt().now();
    talker client = co_await connect();
    std::error_code ended;
    for (int n = 0; n < 5 && !ended; ++n) {
      static_cast<void>(co_await sleep(3s));
      const auto sent = co_await client.over().write(std::string_view{"GET /"}.substr(static_cast<std::size_t>(n), 1));
      ended = sent.error();
    }
    EXPECT_TRUE((co_await client.hear_all()).starts_with("HTTP/1.1 408 ")) << "one byte after the other";
    EXPECT_LT(rt().now() - began, 16s);
    talker second = co_await connect();
    co_await second.say("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\n");
    for (const char* const piece : {"a", "b", "c", "d"}) {
      static_cast<void>(co_await sleep(20s));
      co_await second.say(piece);
    }
    EXPECT_TRUE((co_await second.hear_all()).ends_with("\r\n\r\nabcd"));
  });
}

TEST_P(http_time_limits, close_idle_connections_without_a_word) {
  site().get("/", hello);
  talk([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_TRUE((co_await client.hear_answer()).ends_with("hello"));
    const auto began = rt().now();
    EXPECT_EQ(co_await client.hear_all(), "");
    EXPECT_GE(rt().now() - began, 59s);
    EXPECT_LT(rt().now() - began, 63s);
    talker silent = co_await connect();
    const auto connected = rt().now();
    EXPECT_EQ(co_await silent.hear_all(), "");
    EXPECT_LT(rt().now() - connected, 15s);
  });
}

TEST_P(http_time_limits, give_up_a_client_that_takes_nothing) {
  std::error_code ended;
  site().get("/", [&](exchange& x) -> task<> {
    result<> went = co_await x.begin({});
    const std::string piece(10'000, 'x');
    while (went) went = co_await x.write(piece);
    ended = went.error();
  });
  talk([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    while (co_await site().connections() != 0) static_cast<void>(co_await sleep(1s));
  });
  EXPECT_EQ(ended, errc::timed_out);
}

}  // namespace
}  // namespace tartan
