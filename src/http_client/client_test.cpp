// What a client sends, and what it makes of answers.

#include <tartan/http_client/client.h>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <tartan/core/channel.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/when_all.h>
#include <tartan/core/yield.h>
#include <tartan/io/local.h>
#include <tartan/time/sleep.h>
#include <vector>

#include "http_client/client_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using http::client_request;
using test::hello_answer;
using test::scripted_server;
using test::talker;

class http_clients : public test::with_client {};
INSTANTIATE_TEST_SUITE_P(on, http_clients, testing::ValuesIn(test::both_machines()), test::place_name);

/// Where the clock jumps.
class http_client_limits : public test::with_client {};
INSTANTIATE_TEST_SUITE_P(on, http_client_limits, testing::ValuesIn(test::places_on(test::machine::simulated)),
                         test::place_name);

TEST_P(http_clients, ask_and_give_the_whole_answer) {
  std::string asked;
  play(
      [&](int, talker& client) -> task<> {
        asked = co_await client.hear_request();
        co_await client.say("HTTP/1.1 404 Not Found\r\nX-Y: z\r\nContent-Length: 4\r\n\r\nnone");
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        auto answer = co_await web.get(server.url("/a?b"));
        EXPECT_EQ(answer.error().message(), std::error_code{}.message());
        EXPECT_EQ(answer->status, http::status::not_found);
        EXPECT_FALSE(answer->is_success());
        EXPECT_EQ(answer->fields.value("x-y"), "z");
        EXPECT_EQ(answer->body, "none");
        EXPECT_EQ(answer->from.to_string(), server.url("/a?b"));
        EXPECT_EQ(asked, "GET /a?b HTTP/1.1\r\nHost: " + answer->from.authority() + "\r\nUser-Agent: tartan\r\n\r\n");
      });
}

TEST_P(http_clients, find_hosts_by_name) {
  play(test::with_client::always(hello_answer), [&](http::client& web, scripted_server& server) -> task<> {
    auto answer = co_await web.get(server.url("/", "localhost"));
    EXPECT_EQ(answer.value().body, "hello");
    auto lost = co_await web.get("http://nowhere.invalid/");
    EXPECT_FALSE(lost);
  });
}

TEST_P(http_clients, send_bodies_and_fields) {
  std::vector<std::string> asked;
  play(
      [&](int, talker& client) -> task<> {
        for (int n = 0; n < 4; ++n) {
          std::string one = co_await client.hear_request();
          one.erase(one.find("Host: "), one.find("\r\n", one.find("Host: ")) + 2 - one.find("Host: "));
          asked.push_back(one);
          co_await client.say(hello_answer);
        }
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        client_request first{"POST", server.url()};
        first.body("text", "text/plain").add("X", "1").add("Content-Length", "99").set("User-Agent", "me");
        EXPECT_TRUE(co_await web.send(first));
        client_request second{"PUT", server.url()};
        second.body_from(
            [](http::upload& to) -> task<result<>> {
              const result<> one = co_await to.write("one");
              EXPECT_TRUE(one);
              co_return co_await to.write("two!");
            },
            "text/plain");
        EXPECT_TRUE(co_await web.send(second));
        client_request third{"PATCH", server.url()};
        third.body_from([](http::upload& to) -> task<result<>> { co_return co_await to.write("three"); }, "text/plain",
                        5);
        EXPECT_TRUE(co_await web.send(third));
        EXPECT_TRUE(co_await web.send(client_request{"POST", server.url()}));
        EXPECT_EQ(server.connections(), 1);
      });
  EXPECT_EQ(
      asked,
      (std::vector<std::string>{
          "POST / HTTP/1.1\r\nContent-Type: text/plain\r\nX: 1\r\nUser-Agent: me\r\nContent-Length: 4\r\n\r\ntext",
          "PUT / HTTP/1.1\r\nUser-Agent: tartan\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
          "3\r\none\r\n4\r\ntwo!\r\n0\r\n\r\n",
          "PATCH / HTTP/1.1\r\nUser-Agent: tartan\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nthree",
          "POST / HTTP/1.1\r\nUser-Agent: tartan\r\nContent-Length: 0\r\n\r\n"}));
}

TEST_P(http_clients, refuse_what_cannot_be_asked) {
  play(test::with_client::always(hello_answer), [&](http::client& web, scripted_server& server) -> task<> {
    for (const char* const url : {"", "example.org", "ftp://a/", "http://a b/"}) {
      EXPECT_EQ((co_await web.get(url)).error(), std::errc::invalid_argument) << url;
    }
    client_request split{server.url()};
    split.add("X", "a\r\nY: b");
    EXPECT_EQ((co_await web.send(split)).error(), std::errc::invalid_argument);
    client_request connects{"CONNECT", server.url()};
    EXPECT_EQ((co_await web.send(connects)).error(), std::errc::invalid_argument);
    client_request spaced{"G T", server.url()};
    EXPECT_EQ((co_await web.send(spaced)).error(), std::errc::invalid_argument);
    EXPECT_EQ(server.connections(), 0);
  });
}

TEST_P(http_clients, read_bodies_of_all_three_ends) {
  const std::vector<std::string> answers{
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x\r\nllo\r\n0\r\nT: x\r\n\r\n",
      "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhello"};
  play(
      [&](int number, talker& client) -> task<> {
        static_cast<void>(number);
        for (const std::string& each : answers) {
          static_cast<void>(co_await client.hear_request());
          for (std::size_t at = 0; at < each.size(); at += 7) co_await client.say(std::string_view{each}.substr(at, 7));
        }
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        for (std::size_t n = 0; n < answers.size(); ++n) {
          auto answer = co_await web.get(server.url());
          EXPECT_EQ(answer.value().body, "hello");
        }
        EXPECT_EQ(server.connections(), 1);
      });
}

TEST_P(http_clients, give_bodies_piece_by_piece) {
  channel<int> go{capacity{1}};
  play(
      [&](int, talker& client) -> task<> {
        static_cast<void>(co_await client.hear_request());
        co_await client.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
        EXPECT_TRUE(co_await go.receive());
        co_await client.say("3\r\ntwo\r\n0\r\n\r\n");
        static_cast<void>(co_await client.hear_request());
        co_await client.say(hello_answer);
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        auto coming = co_await web.open(client_request{server.url()});
        EXPECT_EQ(coming.value().status(), http::status::ok);
        std::array<std::byte, 100> room;
        std::size_t size = 0;
        while (size < 3) size += (co_await coming->body().read_some(room)).value();
        EXPECT_EQ(size, 3u);
        EXPECT_FALSE(coming->body().is_complete());
        EXPECT_TRUE(co_await go.send(1));
        EXPECT_EQ((co_await coming->body().read_all(100)).value(), "two");
        EXPECT_TRUE(coming->body().is_complete());
        coming = errc::closed;
        auto second = co_await web.get(server.url());
        EXPECT_EQ(second.value().body, "hello");
        EXPECT_EQ(server.connections(), 1) << "a connection whose answer was read is used again";
      });
}

TEST_P(http_clients, know_answers_without_a_body) {
  play(
      [&](int, talker& client) -> task<> {
        for (const char* const answer :
             {"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n",
              "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n"}) {
          static_cast<void>(co_await client.hear_request());
          co_await client.say(answer);
        }
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        for (const char* const method : {"HEAD", "GET", "GET"}) {
          auto answer = co_await web.send(client_request{method, server.url()});
          EXPECT_EQ(answer.value().body, "") << method;
        }
        EXPECT_EQ(server.connections(), 1);
      });
}

TEST_P(http_clients, tell_what_is_wrong_with_an_answer) {
  const std::vector<std::pair<std::string, std::error_code>> all{
      {"", http::errc::no_answer},
      {"HTTP/1.1 2", http::errc::truncated},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", http::errc::truncated},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n", http::errc::truncated},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", http::errc::malformed},
      {"SSH-2.0-OpenSSH\r\n", http::errc::malformed},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", http::errc::malformed},
      {"HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n" + std::string(200, 'x'), http::errc::too_large},
      {"HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n", http::errc::malformed},
  };
  with.most_body = 100;
  std::size_t number = 0;
  play(
      [&](int, talker& client) -> task<> {
        static_cast<void>(co_await client.hear_request());
        static_cast<void>(co_await client.over().write(all[number].first));  // a client that has heard enough leaves
        static_cast<void>(client.over().shutdown_send());
        static_cast<void>(co_await client.hear_all());
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        for (; number < all.size(); ++number) {
          auto answer = co_await web.get(server.url());
          EXPECT_EQ(answer.error(), all[number].second) << all[number].first.substr(0, 80);
        }
        EXPECT_EQ(server.connections(), static_cast<int>(all.size()));
      });
}

TEST_P(http_clients, read_streams_of_events) {
  play(
      [&](int, talker& client) -> task<> {
        static_cast<void>(co_await client.hear_request());
        co_await client.say("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        co_await client.say(
            "b\r\ndata: one\n\n\r\n5\r\nid: 7\r\n10\r\n\nevent: e\ndata: \r\n5\r\ntwo\n\n\r\n0\r\n\r\n");
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        auto coming = co_await web.open(client_request{server.url()});
        auto one = co_await coming->next_event();
        EXPECT_EQ(one.value().data, "one");
        auto two = co_await coming->next_event();
        EXPECT_EQ(two.value().data, "two");
        EXPECT_EQ(two->event, "e");
        EXPECT_EQ(two->id, "7");
        EXPECT_EQ((co_await coming->next_event()).error(), errc::end_of_stream);
      });
}

TEST_P(http_clients, ask_before_a_body_is_sent) {
  std::string asked;
  play(
      [&](int number, talker& client) -> task<> {
        asked = co_await client.hear_until("\r\n\r\n");
        EXPECT_NE(asked.find("Expect: 100-continue\r\n"), std::string::npos);
        if (number == 0) {
          co_await client.say("HTTP/1.1 100 Continue\r\n\r\n");
          EXPECT_EQ(co_await client.hear_until("body"), "body");
          co_await client.say(hello_answer);
          asked = co_await client.hear_until("\r\n\r\n");
          co_await client.say("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
        }
        EXPECT_EQ(co_await client.hear_all(), "") << "the body was sent though it was refused";
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        client_request first{"POST", server.url()};
        first.body("body", "text/plain").ask_first();
        EXPECT_EQ((co_await web.send(first)).value().body, "hello");
        EXPECT_EQ((co_await web.send(first)).value().status, http::status::content_too_large);
      });
}

TEST_P(http_clients, hear_an_answer_while_they_send) {
  play(
      [&](int, talker& client) -> task<> {
        static_cast<void>(co_await client.hear_until("\r\n\r\n"));
        co_await client.say("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
        std::array<std::byte, 1> room;  // nor is more of the body taken
        static_cast<void>(co_await client.over().read_some(room));
        while (!(co_await get_stop_token()).stop_requested()) co_await moment();
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        client_request large{"POST", server.url()};
        large.body(std::string(20'000'000, 'x'), "text/plain");
        auto answer = co_await web.send(large);
        EXPECT_EQ(answer.value().body, "no");
        client_request endless{"POST", server.url()};
        std::error_code ended;
        endless.body_from(
            [&](http::upload& to) -> task<result<>> {
              result<> went;
              while (went) went = co_await to.write(std::string(100'000, 'x'));
              ended = went.error();
              co_return went;
            },
            "text/plain");
        auto second = co_await web.send(endless);
        EXPECT_EQ(second.value().body, "no");
        EXPECT_EQ(ended, errc::canceled);
        EXPECT_EQ(server.connections(), 2);
      });
}

TEST_P(http_clients, end_a_request_whose_body_fails) {
  play([&](int, talker& client) -> task<> { static_cast<void>(co_await client.hear_all()); },
       [&](http::client& web, scripted_server& server) -> task<> {
         client_request fails{"POST", server.url()};
         fails.body_from([](http::upload&) -> task<result<>> { co_return std::make_error_code(std::errc::io_error); },
                         "text/plain");
         EXPECT_EQ((co_await web.send(fails)).error(), std::errc::io_error);
         client_request is_short{"POST", server.url()};
         is_short.body_from([](http::upload& to) -> task<result<>> { co_return co_await to.write("12"); }, "text/plain",
                            3);
         EXPECT_EQ((co_await web.send(is_short)).error(), http::errc::truncated);
         client_request is_long{"POST", server.url()};
         is_long.body_from([](http::upload& to) -> task<result<>> { co_return co_await to.write("1234"); },
                           "text/plain", 3);
         EXPECT_EQ((co_await web.send(is_long)).error(), http::errc::too_large);
       });
}

// An answer that has come early says nothing of what the server was sent.
TEST_P(http_clients, end_a_request_whose_body_fails_behind_an_early_answer) {
  std::atomic<bool> is_answered{false};  // the body has another color
  play(
      [&](int, talker& client) -> task<> {
        static_cast<void>(co_await client.hear_until("\r\n\r\n"));
        co_await client.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        is_answered = true;
        static_cast<void>(co_await client.hear_all());
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        client_request fails{"POST", server.url()};
        fails.body_from(
            [&](http::upload&) -> task<result<>> {
              co_await until([&] { return is_answered.load(); });
              for (int n = 0; n < 20; ++n) co_await moment();
              co_return std::make_error_code(std::errc::io_error);
            },
            "text/plain");
        EXPECT_EQ((co_await web.send(fails)).error(), std::errc::io_error);
      });
}

TEST_P(http_clients, go_over_unix_sockets) {
  std::string asked;
  play(test::with_client::always(hello_answer), [&](http::client& web, scripted_server&) -> task<> {
    const address there = address::unix_path("@tartan-http-client-" + std::to_string(test::seed())).value();
    auto door = local::listen(rt(), there, {.color = test::here_color});
    const auto serve = [&]() -> task<> {
      auto made = co_await door.accept(test::here_color);
      EXPECT_TRUE(co_await made->read_until(asked, "\r\n\r\n", 1000));
      EXPECT_TRUE(co_await made->write(hello_answer));
    };
    client_request over{"http://docker/info"};
    over.at(there);
    const auto ask = [&]() -> task<> { EXPECT_EQ((co_await web.send(over)).value().body, "hello"); };
    co_await when_all(serve(), ask());
  });
  EXPECT_TRUE(asked.starts_with("GET /info HTTP/1.1\r\nHost: docker\r\n")) << asked;
}

TEST_P(http_clients, close_connections_of_canceled_requests) {
  std::error_code heard;
  play(
      [&](int, talker& client) -> task<> {
        static_cast<void>(co_await client.hear_request());
        co_await client.say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe");
        EXPECT_EQ(co_await client.hear_all(), "");
        heard = client.ended();
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        auto asking = spawn_in(
            test::here_color, [&]() -> task<> { EXPECT_EQ((co_await web.get(server.url())).error(), errc::canceled); });
        while (server.connections() == 0) co_await moment();
        for (int n = 0; n < 20; ++n) co_await moment();
        asking.cancel();
        co_await asking.join();
        co_await until([&] { return heard != std::error_code{}; });
      });
}

TEST_P(http_clients, leave_nothing_when_the_runtime_stops) {
  std::error_code ended;
  std::vector<talker> kept;  // open until the end: the client hears of the stop, not of its server's end
  play(
      [&](int, talker& client) -> task<> {
        static_cast<void>(co_await client.hear_request());
        static_cast<void>(co_await client.over().write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"));
        kept.push_back(std::move(client));
        rt().stop();
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        const auto answer = co_await web.get(server.url());
        ended = answer.error();
      });
  static_cast<void>(rt().drain(10s));
  EXPECT_EQ(ended, errc::canceled);
}

TEST_P(http_client_limits, end_what_takes_too_long) {
  with.connect_limit = 5s;
  with.head_limit = 6s;
  with.piece_limit = 7s;
  with.whole_limit = 60s;
  play(
      [&](int number, talker& client) -> task<> {
        static_cast<void>(co_await client.hear_request());
        if (number == 1) co_await client.say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe");
        if (number == 2) {
          co_await client.say("HTTP/1.1 200 OK\r\n\r\n");
          std::error_code ended;
          while (!ended) {
            ended = (co_await client.over().write("x")).error();
            if (!ended) ended = (co_await sleep(5s)).error();
          }
        }
        static_cast<void>(co_await client.hear_all());
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        for (const auto& [least, most] : {std::pair{6s, 7s}, std::pair{7s, 8s}, std::pair{60s, 61s}}) {
          const auto began = rt().now();
          auto answer = co_await web.get(server.url());
          EXPECT_EQ(answer.error(), errc::timed_out);
          EXPECT_GE(rt().now() - began, least);
          EXPECT_LT(rt().now() - began, most);
        }
      });
}

TEST_P(http_client_limits, send_a_body_that_nobody_has_asked_for_after_a_while) {
  with.ask_limit = 2s;
  play(test::with_client::always(hello_answer), [&](http::client& web, scripted_server& server) -> task<> {
    client_request first{"POST", server.url()};
    first.body("body", "text/plain").ask_first();
    const auto began = rt().now();
    EXPECT_EQ((co_await web.send(first)).value().body, "hello");
    EXPECT_GE(rt().now() - began, 2s);
  });
}

}  // namespace
}  // namespace tartan
