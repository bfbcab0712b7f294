// Streams of events, clients that go away, and the end of a server.

#include <tartan/http_server/server.h>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <tartan/core/channel.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/yield.h>
#include <tartan/time/sleep.h>
#include <tartan/time/with_timeout.h>

#include "http_server/server_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using http::exchange;
using http::reply;
using test::talker;

class http_endings : public test::with_server {};
INSTANTIATE_TEST_SUITE_P(on, http_endings, testing::ValuesIn(test::both_machines()), test::place_name);

const std::string get_events = "GET /events HTTP/1.1\r\nHost: a\r\nLast-Event-ID: 41\r\n\r\n";
const std::string get_hello = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

TEST_P(http_endings, of_event_streams_leave_the_connection_open) {
  site().get("/", [](exchange&) { return reply::text("hello"); });
  site().get("/events", [](exchange& x) -> task<> {
    auto events = co_await x.begin_events();
    EXPECT_EQ(events->last_id(), "41");
    EXPECT_TRUE(co_await events->send(
        {.id = "42", .event = "price", .data = std::to_string(7) + "\n" + std::to_string(8), .retry = 5s}));
    EXPECT_TRUE(co_await events->comment(""));
    EXPECT_TRUE(co_await events->send({.data = "end"}));
  });
  talk([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say(get_events + get_hello);
    const std::string heard = talker::without_date(co_await client.hear_until("0\r\n\r\n"));
    EXPECT_EQ(heard,
              "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: "
              "chunked\r\n\r\n"
              "31\r\nid: 42\nevent: price\nretry: 5000\ndata: 7\ndata: 8\n\n\r\n4\r\n: \n\n\r\nb\r\ndata: "
              "end\n\n\r\n0\r\n\r\n");
    EXPECT_TRUE((co_await client.hear_answer()).ends_with("hello"));
    co_await client.say(get_hello);
    EXPECT_TRUE((co_await client.hear_answer()).ends_with("hello"));
  });
}

TEST_P(http_endings, of_event_streams_come_at_once_for_head) {
  site().get("/events", [](exchange& x) -> task<> {
    auto events = co_await x.begin_events();
    EXPECT_EQ((co_await events->send({.data = "x"})).error(), errc::closed);
  });
  talk([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say("HEAD /events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE((co_await client.hear_all()).ends_with("Transfer-Encoding: chunked\r\n\r\n"));
  });
}

TEST_P(http_endings, of_clients_end_the_handlers_of_their_events) {
  channel<int> never{capacity{1}};
  std::error_code ended;
  bool is_told = false;
  site().get("/events", [&](exchange& x) -> task<> {
    auto events = co_await x.begin_events();
    EXPECT_TRUE(co_await events->send({.data = "one"}));
    ended = (co_await never.receive()).error();
    is_told = (co_await get_stop_token()).stop_requested();
    EXPECT_FALSE(co_await events->send({.data = "two"}));
  });
  talk([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say(get_events);
    EXPECT_TRUE((co_await client.hear_until("data: one\n\n")).ends_with("data: one\n\n"));
    client.over().close();
    while (co_await site().connections() != 0) co_await moment();
  });
  EXPECT_EQ(ended, errc::canceled);
  EXPECT_TRUE(is_told);
  EXPECT_TRUE(failures.empty());
}

TEST_P(http_endings, of_clients_in_the_middle_of_a_body_are_told) {
  std::error_code ended;
  site().post("/", [&](exchange& x) -> task<> {
    const auto text = co_await x.body().read_all(100);
    ended = text.error();
  });
  talk([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf");
    EXPECT_TRUE(client.over().shutdown_send());
    EXPECT_TRUE((co_await client.hear_all()).starts_with("HTTP/1.1 400 "));
  });
  EXPECT_EQ(ended, http::errc::truncated);
}

TEST_P(http_endings, of_sending_by_a_client_leave_it_its_answer) {
  site().get("/", [](exchange&) -> task<reply> {
    co_await yield();
    co_return reply::text("hello");
  });
  talk([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say(get_hello);
    EXPECT_TRUE(client.over().shutdown_send());
    EXPECT_TRUE((co_await client.hear_all()).ends_with("hello"));
  });
}

TEST_P(http_endings, of_a_server_let_requests_under_way_end) {
  channel<int> go{capacity{1}};
  std::atomic<bool> is_under_way{false};  // set in the connection's color
  site().get("/", [](exchange&) { return reply::text("hello"); });
  site().get("/slow", [&](exchange& x) -> task<> {
    is_under_way = true;
    EXPECT_TRUE(co_await go.receive());
    reply whole = reply::text("slow");
    EXPECT_TRUE(co_await x.send(std::move(whole)));
  });
  talk([&]() -> task<> {
    talker idle = co_await connect();
    co_await idle.say(get_hello);
    EXPECT_TRUE((co_await idle.hear_answer()).ends_with("hello"));
    talker busy = co_await connect();
    co_await busy.say("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n" + get_hello);
    while (co_await site().connections() < 2 || !is_under_way) co_await moment();
    auto closing = spawn_in(current_color(), [&]() -> task<> { co_await site().close(1h); });
    EXPECT_EQ(co_await idle.hear_all(), "");
    EXPECT_TRUE(co_await go.send(1));
    const std::string heard = co_await busy.hear_all();
    EXPECT_NE(heard.find("Connection: close\r\n"), std::string::npos) << heard;
    EXPECT_TRUE(heard.ends_with("slow")) << heard;
    busy.over().close();
    co_await closing.join();
    EXPECT_EQ(co_await site().connections(), 0u);
    const auto refused = co_await tcp::connect(at());
    EXPECT_FALSE(refused);
  });
}

TEST_P(http_endings, of_a_server_cut_what_takes_too_long) {
  std::error_code ended;
  std::atomic<bool> is_under_way{false};
  site().get("/slow", [&](exchange&) -> task<> {
    is_under_way = true;
    ended = (co_await sleep(1h)).error();
  });
  talk([&]() -> task<> {
    talker busy = co_await connect();
    co_await busy.say("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    while (co_await site().connections() < 1 || !is_under_way) co_await moment();
    co_await site().close(1ms);
    EXPECT_EQ(co_await site().connections(), 0u);
    static_cast<void>(co_await busy.hear_all());
  });
  EXPECT_EQ(ended, errc::canceled);
}

// What handlers use may be gone when close() has returned.
TEST_P(http_endings, of_a_server_wait_for_handlers_also_if_its_caller_is_canceled) {
  std::atomic<bool> is_under_way{false};
  std::atomic<bool> has_ended{false};
  site().get("/slow", [&](exchange&) -> task<> {
    is_under_way = true;
    static_cast<void>(co_await sleep(1h));
    for (int n = 0; n < 10; ++n) co_await moment();
    has_ended = true;
  });
  talk([&]() -> task<> {
    talker busy = co_await connect();
    co_await busy.say("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    while (!is_under_way) co_await moment();
    static_cast<void>(co_await with_timeout(1ms, site().close(1h)));
    EXPECT_TRUE(has_ended);
    static_cast<void>(co_await busy.hear_all());
  });
}

TEST_P(http_endings, of_a_server_end_streams_of_events_at_once) {
  std::error_code ended;
  site().get("/events", [&](exchange& x) -> task<> {
    auto events = co_await x.begin_events();
    EXPECT_TRUE(co_await events->send({.data = "one"}));
    ended = (co_await sleep(24h)).error();
  });
  talk([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say(get_events);
    EXPECT_TRUE((co_await client.hear_until("data: one\n\n")).ends_with("data: one\n\n"));
    co_await site().close(1h);
    static_cast<void>(co_await client.hear_all());
  });
  EXPECT_EQ(ended, errc::canceled);
}

TEST_P(http_endings, of_a_runtime_by_shutdown_end_its_servers) {
  site().get("/", [](exchange&) { return reply::text("hello"); });
  bool is_cut_off = false;
  in_color([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say(get_hello);
    EXPECT_TRUE((co_await client.hear_answer()).ends_with("hello"));
    rt().shutdown(1h);
    EXPECT_EQ(co_await client.hear_all(), "");
    is_cut_off = true;
  });
  EXPECT_TRUE(is_cut_off);
}

TEST_P(http_endings, of_a_runtime_by_stop_leave_nothing) {
  std::error_code ended;
  site().get("/slow", [&](exchange& x) -> task<> {
    const result<> begun = co_await x.begin({});
    EXPECT_TRUE(begun);
    EXPECT_TRUE(co_await x.write("some"));
    ended = (co_await sleep(24h)).error();
  });
  in_color([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_TRUE((co_await client.hear_until("some")).ends_with("some"));
    rt().stop();
  });
  static_cast<void>(rt().drain(10s));
  EXPECT_EQ(ended, errc::canceled);
}

TEST_P(http_endings, of_the_object_end_its_connections) {
  std::error_code ended;
  std::atomic<bool> is_under_way{false};
  auto own = std::make_unique<http::server>(rt());
  own->get("/", [&](exchange&) -> task<> {
    is_under_way = true;
    ended = (co_await sleep(24h)).error();
  });
  const address there = own->listen("127.0.0.1:0");
  in_color([&]() -> task<> {
    auto made = co_await tcp::connect(there);
    talker client{*std::move(made)};
    co_await client.say(get_hello);
    while (co_await own->connections() < 1 || !is_under_way) co_await moment();
    own.reset();
    static_cast<void>(co_await client.hear_all());
  });
  EXPECT_EQ(ended, errc::canceled);
}

}  // namespace
}  // namespace tartan
