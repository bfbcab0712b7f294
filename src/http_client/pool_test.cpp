// Connections that are kept, and requests that wait for one.

#include <tartan/http_client/client.h>

#include <gtest/gtest.h>

#include <string>
#include <tartan/core/channel.h>
#include <tartan/core/when_all.h>
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

class http_pools : public test::with_client {
 protected:
  using answers = std::vector<result<http::answer>>;
  /// So many requests at the same time.
  static task<answers> ask(http::client& web, std::string url, int times) {
    std::vector<task<result<http::answer>>> all;
    for (int n = 0; n < times; ++n) all.push_back(web.get(url));
    co_return co_await when_all(std::move(all));
  }
};
INSTANTIATE_TEST_SUITE_P(on, http_pools, testing::ValuesIn(test::both_machines()), test::place_name);

class http_kept_connections : public http_pools {};
INSTANTIATE_TEST_SUITE_P(on, http_kept_connections, testing::ValuesIn(test::places_on(test::machine::simulated)),
                         test::place_name);

TEST_P(http_pools, open_no_more_connections_than_they_may) {
  with.most_per_origin = 3;
  play(always(hello_answer), [&](http::client& web, scripted_server& server) -> task<> {
    const answers all = co_await ask(web, server.url(), 20);
    for (const auto& each : all) EXPECT_EQ(each.value().body, "hello");
    EXPECT_LE(server.connections(), 3);
    EXPECT_GE(server.connections(), 1);
  });
}

TEST_P(http_pools, have_a_limit_on_what_waits) {
  with.most_per_origin = 1;
  with.most_waiting = 2;
  channel<int> go{capacity{3}};
  play(
      [&](int, talker& client) -> task<> {
        std::string asked = co_await client.hear_request();
        while (!asked.empty()) {
          EXPECT_TRUE(co_await go.receive());
          co_await client.say(hello_answer);
          asked = co_await client.hear_request();
        }
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        auto asking =
            spawn_in(test::here_color, [&]() -> task<answers> { co_return co_await ask(web, server.url(), 3); });
        while (server.connections() == 0) co_await moment();
        // The first one was let in before the others, so those wait by now.
        const auto refused = co_await web.get(server.url());
        EXPECT_EQ(refused.error(), errc::busy);
        for (int n = 0; n < 3; ++n) EXPECT_TRUE(co_await go.send(n));
        const answers all = co_await asking.join();
        for (const auto& each : all) EXPECT_EQ(each.value().body, "hello");
        EXPECT_EQ(server.connections(), 1);
      });
}

TEST_P(http_pools, let_idle_connections_make_room_for_other_origins) {
  with.most_connections = 1;
  play(always(hello_answer), [&](http::client& web, scripted_server& server) -> task<> {
    for (int n = 0; n < 3; ++n) {
      EXPECT_EQ((co_await web.get(server.url())).value().body, "hello");
      EXPECT_EQ((co_await web.get(server.url("/", "localhost"))).value().body, "hello");
    }
    EXPECT_EQ(server.connections(), 6);
  });
}

TEST_P(http_pools, do_not_keep_what_is_not_to_be_kept) {
  int number = 0;
  const std::vector<std::string> answers_{
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
      hello_answer};
  play(
      [&](int, talker& client) -> task<> {
        std::string asked = co_await client.hear_request();
        while (!asked.empty()) {
          static_cast<void>(co_await client.over().write(answers_.at(static_cast<std::size_t>(number++))));
          asked = co_await client.hear_request();
        }
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        for (int n = 1; n <= 4; ++n) {
          EXPECT_EQ((co_await web.get(server.url())).value().body, "hello");
          EXPECT_EQ(server.connections(), n);
          co_await arrival();  // what is still on its way, no client can know of
        }
      });
}

TEST_P(http_pools, try_again_when_a_kept_connection_has_ended) {
  std::vector<std::string> asked;
  play(
      [&](int, talker& client) -> task<> {
        asked.push_back((co_await client.hear_request()).substr(0, 4));
        co_await client.say(hello_answer);
        if (asked.size() == 1 || asked.back() == "POST") {
          // Closed in the middle of the next request, before the first byte of its answer.
          static_cast<void>(co_await client.hear_until("\r\n\r\n"));
          co_return;
        }
        static_cast<void>(co_await client.hear_all());
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        EXPECT_EQ((co_await web.get(server.url())).value().body, "hello");
        EXPECT_EQ((co_await web.get(server.url())).value().body, "hello") << "by a second connection";
        EXPECT_EQ(server.connections(), 2);
      });
  EXPECT_EQ(asked, (std::vector<std::string>{"GET ", "GET "}));
}

TEST_P(http_pools, do_not_repeat_what_may_have_been_done) {
  int heard = 0;
  play(
      [&](int, talker& client) -> task<> {
        static_cast<void>(co_await client.hear_request());
        co_await client.say(hello_answer);
        static_cast<void>(co_await client.hear_until("\r\n\r\n"));
        ++heard;
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        EXPECT_EQ((co_await web.get(server.url())).value().body, "hello");
        client_request order{"POST", server.url()};
        order.body("tea", "text/plain");
        const auto lost = co_await web.send(order);
        EXPECT_FALSE(lost);
        EXPECT_EQ(server.connections(), 1);
        co_await until([&] { return heard == 1; });
      });
}

TEST_P(http_pools, do_not_repeat_what_a_new_connection_has_lost) {
  play([](int, talker& client) -> task<> { static_cast<void>(co_await client.hear_request()); },
       [&](http::client& web, scripted_server& server) -> task<> {
         EXPECT_EQ((co_await web.get(server.url())).error(), http::errc::no_answer);
         EXPECT_EQ(server.connections(), 1);
       });
}

TEST_P(http_pools, notice_that_a_kept_connection_was_closed) {
  channel<int> closed{capacity{1}};
  play(
      [&](int number, talker& client) -> task<> {
        static_cast<void>(co_await client.hear_request());
        co_await client.say(hello_answer);
        if (number == 0) {
          client.over().close();
          EXPECT_TRUE(co_await closed.send(1));
        } else {
          static_cast<void>(co_await client.hear_all());
        }
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        EXPECT_EQ((co_await web.get(server.url())).value().body, "hello");
        EXPECT_TRUE(co_await closed.receive());
        co_await arrival();
        client_request order{"POST", server.url()};
        order.body("tea", "text/plain");
        EXPECT_EQ((co_await web.send(order)).value().body, "hello") << "nothing was sent on the closed one";
        EXPECT_EQ(server.connections(), 2);
      });
}

TEST_P(http_pools, give_the_place_of_a_canceled_request_to_the_next) {
  with.most_per_origin = 1;
  play(
      [&](int number, talker& client) -> task<> {
        static_cast<void>(co_await client.hear_request());
        if (number != 0) co_await client.say(hello_answer);
        static_cast<void>(co_await client.hear_all());
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        const auto ask = [&]() -> task<result<http::answer>> { co_return co_await web.get(server.url()); };
        auto first = spawn_in(test::here_color, ask);
        while (server.connections() == 0) co_await moment();
        auto second = spawn_in(test::here_color, ask);
        auto third = spawn_in(test::here_color, ask);
        for (int n = 0; n < 5; ++n) co_await moment();
        second.cancel();
        first.cancel();
        EXPECT_EQ((co_await second.join()).error(), errc::canceled);
        EXPECT_EQ((co_await first.join()).error(), errc::canceled);
        EXPECT_EQ((co_await third.join()).value().body, "hello");
      });
}

TEST_P(http_pools, end_what_waits_when_they_are_closed) {
  with.most_per_origin = 1;
  channel<int> go{capacity{1}};
  play(
      [&](int, talker& client) -> task<> {
        static_cast<void>(co_await client.hear_request());
        EXPECT_TRUE(co_await go.receive());
        co_await client.say(hello_answer);
        static_cast<void>(co_await client.hear_all());
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        const auto ask = [&]() -> task<result<http::answer>> { co_return co_await web.get(server.url()); };
        auto first = spawn_in(test::here_color, ask);
        while (server.connections() == 0) co_await moment();
        auto second = spawn_in(test::here_color, ask);
        for (int n = 0; n < 5; ++n) co_await moment();
        web.close();
        EXPECT_EQ((co_await second.join()).error(), errc::closed);
        EXPECT_TRUE(co_await go.send(1));
        EXPECT_EQ((co_await first.join()).value().body, "hello") << "what is under way goes on";
        EXPECT_EQ((co_await web.get(server.url())).error(), errc::closed);
      });
}

TEST_P(http_kept_connections, are_not_used_when_they_are_old) {
  with.idle_limit = 30s;
  play(always(hello_answer), [&](http::client& web, scripted_server& server) -> task<> {
    EXPECT_EQ((co_await web.get(server.url())).value().body, "hello");
    static_cast<void>(co_await sleep(29s));
    EXPECT_EQ((co_await web.get(server.url())).value().body, "hello");
    EXPECT_EQ(server.connections(), 1);
    static_cast<void>(co_await sleep(31s));
    EXPECT_EQ((co_await web.get(server.url())).value().body, "hello");
    EXPECT_EQ(server.connections(), 2);
  });
}

TEST_P(http_kept_connections, are_waited_for_until_a_limit) {
  with.most_per_origin = 1;
  with.wait_limit = 3s;
  with.head_limit = 60s;
  play(
      [&](int, talker& client) -> task<> {
        static_cast<void>(co_await client.hear_request());
        static_cast<void>(co_await sleep(20s));
        co_await client.say(hello_answer);
        static_cast<void>(co_await client.hear_all());
      },
      [&](http::client& web, scripted_server& server) -> task<> {
        const auto began = rt().now();
        const answers all = co_await ask(web, server.url(), 2);
        EXPECT_NE(all[0].has_value(), all[1].has_value());
        EXPECT_EQ((all[0] ? all[1] : all[0]).error(), errc::timed_out);
        EXPECT_EQ((all[0] ? all[0] : all[1]).value().body, "hello");
        EXPECT_LT(rt().now() - began, 21s);
      });
}

}  // namespace
}  // namespace tartan
