/// What docs/guide/http.md shows; tests/docs/check finds its code blocks here.
#include <gtest/gtest.h>
#include <tartan/http/server_event.h>
#include <tartan/http_client/client.h>
#include <tartan/http_server/server.h>
#include <tartan/io/simulation.h>
#include <tartan/tartan.h>
#include <tartan/tls/self_signed.h>
#include <tartan/tls/server.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <utility>

#include "tests/temporary_folder.h"

namespace {

namespace http = tartan::http;
using namespace std::chrono_literals;

[[maybe_unused]] int ten_lines() {
  tartan::runtime rt;
  http::server site{rt};
  site.get("/hello/{name}", [](http::exchange& x) { return http::reply::text(x.parameter("name")); });
  site.listen("127.0.0.1:8080");
  rt.shutdown_on({SIGINT, SIGTERM}, 10s);
  return rt.run();
}

tartan::task<http::reply> store(http::exchange& x) {
  auto text = co_await x.body().read_all(100'000);
  if (!text) co_return http::reply::of_error(text.error());
  co_return std::move(http::reply::text("stored\n", http::status::created).set("Location", "/notes/7"));
}

tartan::task<> count(http::exchange& x) {
  auto went = co_await x.begin({});
  for (int n = 0; went && n < 3; ++n) went = co_await x.write(std::to_string(n) + "\n");
}

tartan::task<> tick(http::exchange& x) {
  auto events = co_await x.begin_events();
  for (int n = 0; events; ++n) {
    const auto sent = co_await events->send({.id = std::to_string(n), .event = "tick", .data = "one more second"});
    const auto slept = co_await tartan::sleep(1s);
    if (!sent || !slept) co_return;
  }
}

tartan::task<> fetch(http::client& web, std::string url) {
  auto answer = co_await web.get(url);
  if (!answer) {
    std::printf("%s: %s\n", url.c_str(), answer.error().message().c_str());
  } else if (answer->is_success()) {
    std::printf("%zu bytes\n", answer->body.size());
  }
}

tartan::task<> order(http::client& web, std::string url) {
  http::client_request what{"POST", url};
  what.body("{\"item\": \"tea\"}", "application/json").set("Authorization", "Bearer 1234");
  auto answer = co_await web.send(what);
  if (answer) std::printf("%s", answer->body.c_str());
}

tartan::task<> download(http::client& web, std::string url) {
  auto coming = co_await web.open(http::client_request{url});
  if (!coming) co_return;
  char room[4096];
  while (auto got = co_await coming->body().read_some(std::as_writable_bytes(std::span{room}))) {
    std::fwrite(room, 1, *got, stdout);
  }
}

tartan::task<> upload(http::client& web, std::string url) {
  http::client_request what{"PUT", url};
  const auto lines = [](http::upload& to) -> tartan::task<tartan::result<>> {
    auto went = co_await to.write("first\n");
    if (went) went = co_await to.write("second\n");
    co_return went;
  };
  what.body_from(lines, "text/plain");
  auto answer = co_await web.send(what);
  if (answer) std::printf("%s", answer->body.c_str());
}

tartan::task<> listen_to(http::client& web, std::string url, int most) {
  http::client_request what{url};
  what.set("Accept", "text/event-stream").piece_limit(60s);
  auto coming = co_await web.open(what);
  for (int n = 0; coming && n < most; ++n) {
    auto next = co_await coming->next_event();
    if (!next) co_return;
    std::printf("%s: %s\n", next->event.c_str(), next->data.c_str());
  }
}

TEST(http_guide, shows_code_that_runs) {
  tartan::test::temporary_folder folder;
  tartan::simulation world;
  tartan::options with;
  with.poller = world.poller();
  tartan::runtime rt{with};
  int counted = 0;
  const auto own = tartan::tls::self_signed(folder.path().string(), {"localhost"});
  tartan::tls::server secure{{.identities = {own}}};
  http::server site{rt};
  site.post("/notes", store);
  site.put("/notes", store);
  site.get("/count", count);
  site.get("/tick", tick);
  site.get("/visits", [&](http::exchange&) { return http::reply::text(std::to_string(++counted)); })
      .in(tartan::color{7});
  site.post("/large", store).most_body(1 << 30);
  const auto plain = site.listen("127.0.0.1:0");
  const auto sealed = site.listen("127.0.0.1:0", {http::sealed_by(secure)});
  const auto everything = [&]() -> tartan::task<> {
    http::client_settings settings;
    settings.secure.authorities = own.certificate;
    settings.most_redirects = 5;
    http::client web{settings};
    const std::string at = "http://localhost:" + std::to_string(plain.port());
    co_await fetch(web, "https://localhost:" + std::to_string(sealed.port()) + "/visits");
    co_await fetch(web, at + "/visits");
    co_await order(web, at + "/notes");
    co_await download(web, at + "/count");
    co_await upload(web, at + "/notes");
    co_await listen_to(web, at + "/tick", 2);
    co_await site.close(10s);
  };
  testing::internal::CaptureStdout();
  rt.spawn(everything).detach();
  rt.run_until_idle();
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "1 bytes\n1 bytes\nstored\n0\n1\n2\nstored\ntick: one more second\ntick: one more second\n");
  EXPECT_EQ(counted, 2);
}

}  // namespace
