// What a server answers: routes, fields, bodies, methods.

#include <tartan/http_server/server.h>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tartan/core/in.h>
#include <tartan/core/yield.h>
#include <tartan/time/sleep.h>

#include "http_server/server_fixture.h"

namespace tartan {
namespace {

using http::exchange;
using http::reply;
using test::talker;

class http_servers : public test::with_server {};
INSTANTIATE_TEST_SUITE_P(on, http_servers, testing::ValuesIn(test::both_machines()), test::place_name);

const std::string get = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
std::string get_of(const std::string& target, const std::string& more = "Connection: close\r\n") {
  return "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + more + "\r\n";
}
std::string post_of(const std::string& target, const std::string& body,
                    const std::string& more = "Connection: close\r\n") {
  return "POST " + target + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more +
         "\r\n" + body;
}

TEST_P(http_servers, answer_by_functions_and_by_coroutines) {
  site().get("/plain/{name}", [](exchange& x) { return reply::text("plain " + std::string{x.parameter("name")}); });
  site().get("/later/{name}", [](exchange& x) -> task<reply> {
    co_await yield();
    co_return reply::json("\"" + std::string{x.parameter("name")} + "\"");
  });
  site().get("/by_itself", [](exchange& x) -> task<> {
    reply whole{http::status::created};
    whole.set("Location", "/7");
    EXPECT_TRUE(co_await x.send(std::move(whole)));
  });
  talk([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say(get_of("/plain/a%20b", ""));
    EXPECT_EQ(co_await client.hear_answer(),
              "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 9\r\n\r\nplain a b");
    co_await client.say(get_of("/later/x", ""));
    EXPECT_EQ(co_await client.hear_answer(),
              "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n\"x\"");
    co_await client.say(get_of("/by_itself"));
    EXPECT_EQ(talker::without_date(co_await client.hear_all()),
              "HTTP/1.1 201 Created\r\nLocation: /7\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  });
}

TEST_P(http_servers, tell_handlers_what_was_asked) {
  site().add("PURGE", "/a/{rest...}", [](exchange& x) {
    std::string all{x.method_text()};
    all += "|" + std::string{x.path()} + "|" + std::string{x.query()} + "|" + std::string{x.host()} + "|" +
           std::string{x.field("X-Y")};
    all += "|" + x.query_value("q").value_or("-") + "|" + std::string{x.parameter("rest")} + "|" +
           std::string{x.parameter("none")};
    EXPECT_TRUE(x.peer().is_ip());
    EXPECT_EQ(x.method(), http::method::other);
    return reply::text(all);
  });
  const std::string heard =
      answer_to("PURGE /a/b/c?q=1+2 HTTP/1.1\r\nHost: example.org\r\nX-Y: z\r\nConnection: close\r\n\r\n");
  EXPECT_NE(heard.find("PURGE|/a/b/c|q=1+2|example.org|z|1 2|b/c|"), std::string::npos) << heard;
}

TEST_P(http_servers, answer_pipelined_requests_in_order) {
  site().get("/{n}", [](exchange& x) -> task<reply> {
    if (x.parameter("n") == "1") {
      for (int n = 0; n < 20; ++n) co_await yield();
    }
    co_return reply::text(x.parameter("n"));
  });
  site().post("/echo", [](exchange& x) -> task<reply> {
    auto text = co_await x.body().read_all(100);
    co_return reply::text(text.value());
  });
  const std::string heard =
      answer_to(get_of("/1", "") + get_of("/2", "") + post_of("/echo", "three", "") + get_of("/4"));
  const std::size_t one = heard.find("\r\n\r\n1HTTP/1.1");
  const std::size_t two = heard.find("\r\n\r\n2HTTP/1.1");
  const std::size_t three = heard.find("\r\n\r\nthreeHTTP/1.1");
  EXPECT_TRUE(one < two && two < three && three < heard.size()) << heard;
  EXPECT_TRUE(heard.ends_with("\r\n\r\n4"));
}

TEST_P(http_servers, answer_head_options_and_methods_that_there_are_not) {
  site().get("/a", [](exchange&) { return reply::text("twelve bytes"); });
  site().delete_resource("/a", [](exchange&) { return reply{http::status::no_content}; });
  talk([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(talker::without_date(co_await client.hear_until("\r\n\r\n")),
              "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 12\r\n\r\n");
    co_await client.say("OPTIONS /a HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(co_await client.hear_answer(), "HTTP/1.1 204 No Content\r\nAllow: DELETE, GET, HEAD, OPTIONS\r\n\r\n");
    co_await client.say("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(co_await client.hear_answer(), "HTTP/1.1 204 No Content\r\nAllow: DELETE, GET, HEAD, OPTIONS\r\n\r\n");
    co_await client.say("DELETE /a HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(co_await client.hear_answer(), "HTTP/1.1 204 No Content\r\n\r\n");
    co_await client.say("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
    const std::string refused = co_await client.hear_answer();
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 405 ")) << refused;
    EXPECT_NE(refused.find("Allow: DELETE, GET, HEAD, OPTIONS\r\n"), std::string::npos);
    co_await client.say(get_of("/b"));
    EXPECT_TRUE((co_await client.hear_all()).starts_with("HTTP/1.1 404 "));
  });
}

TEST_P(http_servers, stream_answers_in_chunks_and_by_length) {
  site().get("/chunks", [](exchange& x) -> task<> {
    reply head;
    head.set("Content-Type", "text/plain");
    EXPECT_TRUE(co_await x.begin(std::move(head)));
    EXPECT_TRUE(co_await x.write("one"));
    EXPECT_TRUE(co_await x.write(std::string_view{}));
    buf::chain piece;
    piece.append("tw");
    piece.append(buf::slice::of_static("o, and three"));
    EXPECT_TRUE(co_await x.write(std::move(piece)));
  });
  site().get("/length", [](exchange& x) -> task<> {
    const result<> begun = co_await x.begin({}, 6);
    EXPECT_TRUE(begun);
    EXPECT_TRUE(co_await x.write("123"));
    EXPECT_EQ((co_await x.write("4567")).error(), http::errc::too_large);
    EXPECT_TRUE(co_await x.write("456"));
    EXPECT_TRUE(co_await x.end());
    EXPECT_EQ((co_await x.write("7")).error(), errc::closed);
    EXPECT_EQ((co_await x.send(reply::text("again"))).error(), http::errc::already_answered);
  });
  talk([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say(get_of("/chunks", ""));
    EXPECT_EQ(talker::without_date(co_await client.hear_until("0\r\n\r\n")),
              "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\ne\r\ntwo, "
              "and three\r\n0\r\n\r\n");
    co_await client.say(get_of("/length", ""));
    EXPECT_EQ(co_await client.hear_answer(), "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n123456");
    co_await client.say("HEAD /chunks HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(talker::without_date(co_await client.hear_until("\r\n\r\n")),
              "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n");
    co_await client.say("GET /chunks HTTP/1.0\r\n\r\n");
    EXPECT_EQ(talker::without_date(co_await client.hear_all()),
              "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nonetwo, and three");
  });
}

TEST_P(http_servers, keep_connections_of_http_1_0_that_ask_for_it) {
  site().get("/", [](exchange&) { return reply::text("x"); });
  talk([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_NE((co_await client.hear_answer()).find("Connection: keep-alive\r\n"), std::string::npos);
    co_await client.say("GET / HTTP/1.0\r\n\r\n");
    EXPECT_NE((co_await client.hear_all()).find("Connection: close\r\n"), std::string::npos);
  });
}

TEST_P(http_servers, read_bodies_with_a_length_and_in_chunks) {
  site().post("/size", [](exchange& x) -> task<reply> {
    std::size_t size = 0;
    std::array<std::byte, 1000> room;
    result<std::size_t> got{std::size_t{0}};
    while ((got = co_await x.body().read_some(room))) size += *got;
    EXPECT_EQ(got.error(), errc::end_of_stream);
    EXPECT_TRUE(x.body().is_complete());
    co_return reply::text(std::to_string(size));
  });
  talk([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say(post_of("/size", std::string(100'000, 'x'), ""));
    EXPECT_TRUE((co_await client.hear_answer()).ends_with("\r\n\r\n100000"));
    co_await client.say("POST /size HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    co_await moment();
    co_await client.say("a\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n");
    EXPECT_TRUE((co_await client.hear_answer()).ends_with("\r\n\r\n15"));
    co_await client.say(post_of("/size", ""));
    EXPECT_TRUE((co_await client.hear_all()).ends_with("\r\n\r\n0"));
  });
}

TEST_P(http_servers, ask_for_the_body_when_the_handler_first_reads) {
  site().post("/read", [](exchange& x) -> task<reply> {
    auto text = co_await x.body().read_all(100);
    co_return reply::text(text.value());
  });
  site().post("/refuse", [](exchange&) { return reply{http::status::forbidden}; });
  talk([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say("POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(co_await client.hear_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    co_await client.say("hello");
    EXPECT_TRUE((co_await client.hear_answer()).ends_with("\r\n\r\nhello"));
    co_await client.say("POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    const std::string refused = talker::without_date(co_await client.hear_all());
    EXPECT_EQ(refused, "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  });
}

TEST_P(http_servers, drop_what_handlers_have_not_read) {
  site().post("/ignore", [](exchange&) { return reply::text("ignored"); });
  talk([&]() -> task<> {
    talker client = co_await connect();
    co_await client.say(post_of("/ignore", std::string(50'000, 'x'), ""));
    EXPECT_TRUE((co_await client.hear_answer()).ends_with("ignored"));
    co_await client.say(post_of("/ignore", "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n", ""));
    EXPECT_TRUE((co_await client.hear_answer()).ends_with("ignored"));
    const std::string large = post_of("/ignore", std::string(900'000, 'x'), "");
    const auto say = [](talker& by, std::string_view text) -> task<> {
      static_cast<void>(co_await by.over().write(text));
    };
    const auto both = co_await when_all(say(client, large), client.hear_all());
    EXPECT_TRUE(std::get<1>(both).ends_with("ignored"));
  });
}

TEST_P(http_servers, answer_500_for_handlers_that_throw_or_say_nothing) {
  site().get("/throws", [](exchange&) -> reply { throw std::runtime_error{"out of tea"}; });
  site().get("/later", [](exchange&) -> task<> {
    co_await yield();
    throw 7;
  });
  site().get("/nothing", [](exchange&) -> task<> { co_return; });
  site().get("/split", [](exchange& x) { return std::move(reply{}.set("X", x.query_value("x").value())); });
  site().get("/interim", [](exchange&) { return reply{http::status::early_hints}; });
  site().get("/half", [](exchange& x) -> task<> {
    const result<> begun = co_await x.begin({});
    EXPECT_TRUE(begun);
    EXPECT_TRUE(co_await x.write("half"));
    throw std::runtime_error{"and then"};
  });
  talk([&]() -> task<> {
    for (const char* const target : {"/throws", "/later", "/nothing", "/split?x=%0d%0aSet-Cookie:%20a", "/interim"}) {
      talker client = co_await connect();
      co_await client.say(get_of(target, ""));
      const std::string heard = co_await client.hear_all();
      EXPECT_TRUE(heard.starts_with("HTTP/1.1 500 Internal Server Error\r\n")) << heard;
      EXPECT_EQ(heard.find("tea"), std::string::npos);
      EXPECT_EQ(heard.find("Set-Cookie"), std::string::npos);
    }
    talker client = co_await connect();
    co_await client.say(get_of("/half", ""));
    const std::string heard = co_await client.hear_all();
    EXPECT_TRUE(heard.ends_with("\r\n\r\n4\r\nhalf\r\n")) << heard;
  });
  ASSERT_EQ(failures.size(), 6u);
  EXPECT_EQ(failures[0], "out of tea");
  EXPECT_EQ(failures[1], "an exception that is no std::exception");
  EXPECT_EQ(failures[2], "it has given no answer");
  EXPECT_NE(failures[3].find("value of a header field"), std::string::npos);
  EXPECT_EQ(failures[4], "an answer has a status of 200 or more");
  EXPECT_EQ(failures[5], "and then");
}

TEST_P(http_servers, run_handlers_in_the_color_of_their_route) {
  int running = 0;  // touched in one color only
  int most = 0;
  site()
      .get("/serial",
           [&](exchange& x) -> task<> {
             color{}.assert_here();
             ++running;
             most = std::max(most, running);
             const result<> begun = co_await x.begin({});
             EXPECT_TRUE(begun);
             color{}.assert_here();
             EXPECT_TRUE(co_await x.write("ok"));
             color{}.assert_here();
             --running;
           })
      .in(color{});
  site().get("/own", [](exchange& x) -> task<reply> {
    const color own = current_color();
    EXPECT_EQ(own, x.stream().color());
    co_return reply::text("own");
  });
  talk([&]() -> task<> {
    std::vector<task<>> all;
    for (int n = 0; n < 8; ++n) {
      talker client = co_await connect();
      all.push_back([](talker by) -> task<> {
        co_await by.say(get_of("/serial", "") + get_of("/own"));
        const std::string heard = co_await by.hear_all();
        EXPECT_TRUE(heard.ends_with("own")) << heard;
      }(std::move(client)));
    }
    co_await when_all(std::move(all));
  });
  EXPECT_GE(most, 1);
}

TEST_P(http_servers, listen_at_unix_sockets) {
  site().get("/", [](exchange& x) { return reply::text(x.peer().is_unix() ? "unix" : "other"); });
  const address there = site().listen("unix:@tartan-http-" + std::to_string(test::seed()));
  talk([&]() -> task<> {
    auto made = co_await local::connect(there);
    EXPECT_TRUE(made);
    EXPECT_TRUE(co_await made->write(get));
    std::string heard;
    EXPECT_TRUE(co_await made->read_until(heard, "200 OK", 1000));
  });
}

TEST_P(http_servers, take_what_turns_accepted_streams_into_others) {
  site().get("/", [](exchange&) { return reply::text("sealed"); });
  struct {
    task<result<any_stream>> accept(any_stream plain) {
      char first = 0;
      const auto got = co_await plain.read_exactly(std::as_writable_bytes(std::span{&first, 1}));
      if (!got || first != 'S') co_return std::make_error_code(std::errc::protocol_error);
      co_return std::move(plain);
    }
  } secure;
  auto door = tcp::listen(rt(), "127.0.0.1:0");
  const address there = door.local_address().value();
  site().serve(std::move(door), {http::sealed_by(secure)});
  talk([&]() -> task<> {
    auto right = co_await tcp::connect(there);
    talker knows{*std::move(right)};
    co_await knows.say("S" + get);
    EXPECT_TRUE((co_await knows.hear_all()).ends_with("sealed"));
    auto wrong = co_await tcp::connect(there);
    talker does_not{*std::move(wrong)};
    static_cast<void>(co_await does_not.over().write(get));
    EXPECT_EQ(co_await does_not.hear_all(), "");
  });
}

}  // namespace
}  // namespace tartan
