// Redirects: which are followed, and what is sent there. And https.

#include <tartan/http_client/client.h>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tartan/tls/self_signed.h>
#include <tartan/tls/server.h>
#include <vector>

#include "http_client/client_fixture.h"
#include "tests/temporary_folder.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using http::client_request;
using test::hello_answer;
using test::scripted_server;
using test::talker;

class http_redirects : public test::with_client {
 protected:
  http_redirects() { with.most_redirects = 3; }

  /// Redirects by the target: "/302/next" leads to "/next", "/302//host/x" to "http://host/x".
  scripted_server::script by_target() {
    return [this](int, talker& client) -> task<> {
      std::string one = co_await client.hear_request();
      while (!one.empty()) {
        asked.push_back(one.substr(0, one.find(" HTTP")));
        requests.push_back(one);
        const std::string target = one.substr(one.find(' ') + 1, one.find(" HTTP") - one.find(' ') - 1);
        std::string answer = hello_answer;
        if (target.starts_with("/30")) {
          answer = "HTTP/1.1 " + target.substr(1, 3) + " Elsewhere\r\nLocation: " + target.substr(4) +
                   "\r\nContent-Length: 4\r\n\r\ngone";
        }
        if (one.starts_with("HEAD")) answer.erase(answer.find("\r\n\r\n") + 4);
        static_cast<void>(co_await client.over().write(answer));
        one = co_await client.hear_request();
      }
    };
  }

  std::vector<std::string> asked;     ///< method and target
  std::vector<std::string> requests;  ///< all of them
};
INSTANTIATE_TEST_SUITE_P(on, http_redirects, testing::ValuesIn(test::both_machines()), test::place_name);

TEST_P(http_redirects, are_answers_unless_they_are_wanted) {
  with.most_redirects = 0;
  play(by_target(), [&](http::client& web, scripted_server& server) -> task<> {
    const auto answer = co_await web.get(server.url("/302/next"));
    EXPECT_EQ(answer.value().status, http::status::found);
    EXPECT_EQ(answer->body, "gone");
  });
  EXPECT_EQ(asked.size(), 1u);
}

TEST_P(http_redirects, keep_or_change_the_method) {
  play(by_target(), [&](http::client& web, scripted_server& server) -> task<> {
    for (const char* const code : {"301", "302", "303", "307", "308"}) {
      for (const char* const method : {"POST", "PUT", "HEAD"}) {
        client_request what{method, server.url("/" + std::string{code} + "/next")};
        if (what.method() != "HEAD") what.body("text", "text/x");
        const auto answer = co_await web.send(what);
        EXPECT_EQ(answer.value().from.target, "/next");
      }
    }
    EXPECT_EQ(server.connections(), 1) << "the connection of a redirect is used again";
  });
  std::vector<std::string> second;
  for (std::size_t n = 1; n < asked.size(); n += 2) {
    second.push_back(asked[n]);
    const bool has_body = requests[n].ends_with("\r\n\r\ntext");
    EXPECT_EQ(has_body, requests[n].find("Content-Type: text/x") != std::string::npos) << requests[n];
    EXPECT_EQ(has_body, asked[n] != "GET /next" && asked[n] != "HEAD /next") << requests[n];
  }
  EXPECT_EQ(second, (std::vector<std::string>{"GET /next", "PUT /next", "HEAD /next", "GET /next", "PUT /next",
                                              "HEAD /next", "GET /next", "GET /next", "HEAD /next", "POST /next",
                                              "PUT /next", "HEAD /next", "POST /next", "PUT /next", "HEAD /next"}));
}

TEST_P(http_redirects, take_no_credentials_to_another_origin) {
  play(by_target(), [&](http::client& web, scripted_server& server) -> task<> {
    const std::string port = std::to_string(server.at().port());
    client_request same{server.url("/302/next")};
    same.set("Authorization", "secret").set("Cookie", "secret").set("X", "public");
    EXPECT_TRUE(co_await web.send(same));
    EXPECT_NE(requests.back().find("Authorization: secret\r\nCookie: secret\r\nX: public\r\n"), std::string::npos);
    client_request other{server.url("/302//localhost:" + port + "/next")};
    other.set("authorization", "secret")
        .set("Cookie", "secret")
        .set("Proxy-Authorization", "secret")
        .set("X", "public");
    const auto answer = co_await web.send(other);
    EXPECT_EQ(answer.value().from.host, "localhost");
    EXPECT_EQ(requests.back().find("secret"), std::string::npos) << requests.back();
    EXPECT_NE(requests.back().find("X: public\r\n"), std::string::npos);
  });
}

TEST_P(http_redirects, have_a_limit) {
  play(by_target(), [&](http::client& web, scripted_server& server) -> task<> {
    EXPECT_EQ((co_await web.get(server.url("/302/302/302/next"))).value().body, "hello");
    EXPECT_EQ(asked.size(), 4u);
    EXPECT_EQ((co_await web.get(server.url("/302/302/302/302/next"))).error(), http::errc::too_many_redirects);
    EXPECT_EQ(asked.size(), 8u);
  });
}

TEST_P(http_redirects, that_lead_nowhere_are_errors) {
  play(by_target(), [&](http::client& web, scripted_server& server) -> task<> {
    EXPECT_EQ((co_await web.get(server.url("/302//u@p/"))).error(), http::errc::bad_redirect);
  });
  play(always("HTTP/1.1 302 Found\r\nContent-Length: 2\r\n\r\nno"),
       [&](http::client& web, scripted_server& server) -> task<> {
         EXPECT_EQ((co_await web.get(server.url())).value().body, "no") << "without a Location it is the answer";
       });
  play(always("HTTP/1.1 302 Found\r\nLocation: ftp://a/\r\nContent-Length: 0\r\n\r\n"),
       [&](http::client& web, scripted_server& server) -> task<> {
         EXPECT_EQ((co_await web.get(server.url())).error(), http::errc::bad_redirect);
       });
}

TEST_P(http_redirects, that_need_a_streamed_body_again_are_answers) {
  play(by_target(), [&](http::client& web, scripted_server& server) -> task<> {
    client_request what{"POST", server.url("/307/next")};
    what.body_from([](http::upload& to) -> task<result<>> { co_return co_await to.write("x"); }, "text/plain");
    EXPECT_EQ((co_await web.send(what)).value().status, http::status::temporary_redirect);
    client_request moved{"PUT", server.url("/301/next")};  // the method stays, and so does the body
    moved.body_from([](http::upload& to) -> task<result<>> { co_return co_await to.write("x"); }, "text/plain");
    EXPECT_EQ((co_await web.send(moved)).value().status, http::status::moved_permanently);
    client_request changes{"POST", server.url("/303/next")};
    changes.body_from([](http::upload& to) -> task<result<>> { co_return co_await to.write("x"); }, "text/plain");
    EXPECT_EQ((co_await web.send(changes)).value().body, "hello");
  });
}

class https_clients : public test::with_client {
 protected:
  /// A server on each connection of which requests are answered by f, under TLS.
  void play_sealed(const std::function<std::string(const std::string&)>& answer_to,
                   std::function<task<>(http::client&, std::string)> f) {
    const tls::identity own = tls::self_signed((folder_ / "").string(), {"localhost"});
    with.secure.authorities = own.certificate;
    sealed_ = std::make_unique<tls::server>(tls::server_settings{.identities = {own}, .protocols = {"http/1.1"}});
    in_color([&]() -> task<> {
      auto door = tcp::listen(rt(), "127.0.0.1:0", {.color = test::here_color});
      const auto serve = [&]() -> task<> {
        co_await with_task_group([&](task_group& all) -> task<> {
          for (;;) {
            auto made = co_await door.accept(test::here_color);
            if (!made) break;
            ++connections;
            all.spawn_in(test::here_color, talk, std::ref(*this), std::ref(answer_to), *std::move(made));
          }
          all.cancel();
        });
      };
      auto serving = spawn_in(test::here_color, serve);
      {
        http::client web{with};
        co_await f(web, ":" + std::to_string(door.local_address().value().port()));
      }
      door.close();
      co_await serving.join();
    });
  }

  int connections = 0;
  std::vector<std::string> protocols;

 private:
  static task<> talk(https_clients& of, const std::function<std::string(const std::string&)>& answer_to,
                     tcp::stream with) {
    auto peer = co_await of.sealed_->accept(std::move(with));
    if (!peer) co_return;
    of.protocols.emplace_back(peer->protocol());
    std::string head;
    result<std::size_t> got = co_await peer->read_until(head, "\r\n\r\n", 10'000);
    while (got) {
      got = co_await peer->write(answer_to(head));
      head.clear();
      if (got) got = co_await peer->read_until(head, "\r\n\r\n", 10'000);
    }
  }

  test::temporary_folder folder_;
  std::unique_ptr<tls::server> sealed_;
};
INSTANTIATE_TEST_SUITE_P(on, https_clients, testing::ValuesIn(test::both_machines()), test::place_name);

TEST_P(https_clients, verify_servers_and_keep_their_connections) {
  play_sealed([](const std::string&) { return hello_answer; },
              [&](http::client& web, std::string port) -> task<> {
                EXPECT_EQ((co_await web.get("https://localhost" + port)).value().body, "hello");
                EXPECT_EQ((co_await web.get("https://localhost" + port)).value().body, "hello");
                EXPECT_EQ(connections, 1);
                const auto other = co_await web.get("https://127.0.0.1" + port);
                EXPECT_EQ(other.error().category(), tls::certificate_category()) << other.error().message();
                EXPECT_EQ(connections, 2);
              });
  EXPECT_EQ(protocols.front(), "http/1.1");
}

TEST_P(https_clients, trust_only_whom_they_are_told_to) {
  play_sealed([](const std::string&) { return hello_answer; },
              [&](http::client& web, std::string port) -> task<> {
                static_cast<void>(web);
                http::client wary;  // trusts those whom the system trusts
                const auto refused = co_await wary.get("https://localhost" + port);
                EXPECT_EQ(refused.error().category(), tls::certificate_category()) << refused.error().message();
                http::client_settings careless;
                careless.secure.verify = false;
                http::client trusting{careless};
                EXPECT_EQ((co_await trusting.get("https://localhost" + port)).value().body, "hello");
              });
}

TEST_P(https_clients, do_not_follow_to_plain_http_unless_they_may) {
  with.most_redirects = 3;
  const std::string there = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n";
  play_sealed([&](const std::string&) { return there; },
              [&](http::client& web, std::string port) -> task<> {
                EXPECT_EQ((co_await web.get("https://localhost" + port)).error(), http::errc::insecure_redirect);
                with.follows_to_plain_http = true;
                http::client careless{with};
                EXPECT_EQ((co_await careless.get("https://localhost" + port)).error(), std::errc::connection_refused);
              });
}

}  // namespace
}  // namespace tartan
