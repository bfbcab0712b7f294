#pragma once
/// For tests of a client: servers that say what a test tells them.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <tartan/core/spawn.h>
#include <tartan/core/task_group.h>
#include <tartan/http_client/client.h>
#include <tartan/io/tcp.h>
#include <utility>

#include "http_io/talker_fixture.h"
#include "io/machine_fixture.h"

namespace tartan::test {

/// Accepts connections, and talks on each of them.
class scripted_server {
 public:
  /// The number of the connection, and the connection.
  using script = std::function<task<>(int, talker&)>;

  scripted_server(runtime& rt, script says)
      : door_{tcp::listen(rt, "127.0.0.1:0", {.color = here_color})}, says_{std::move(says)} {}

  [[nodiscard]] std::string url(const std::string& target = "/", const std::string& host = "127.0.0.1") const {
    return "http://" + host + ":" + std::to_string(door_.local_address().value().port()) + target;
  }
  [[nodiscard]] address at() const { return door_.local_address().value(); }
  [[nodiscard]] int connections() const noexcept { return connections_; }

  /// Until close().
  task<> run() {
    co_await with_task_group([this](task_group& all) -> task<> {
      for (;;) {
        auto made = co_await door_.accept(here_color);
        if (!made) break;
        all.spawn_in(here_color, talk, std::ref(*this), connections_++, talker{*std::move(made)});
      }
      all.cancel();
    });
  }
  void close() { door_.close(); }

 private:
  static task<> talk(scripted_server& of, int number, talker with) { co_await of.says_(number, with); }

  tcp::listener door_;
  script says_;
  int connections_ = 0;
};

class with_client : public on_machine, public testing::WithParamInterface<place> {
 protected:
  [[nodiscard]] place where() const override { return GetParam(); }

  http::client_settings with;

  /// Runs f beside a server; then both end.
  void play(scripted_server::script says, std::function<task<>(http::client&, scripted_server&)> f) {
    in_color([&]() -> task<> {
      scripted_server server{rt(), says};
      http::client web{with};
      auto running = spawn_in(here_color, [&]() -> task<> { co_await server.run(); });
      co_await f(web, server);
      server.close();
      co_await running.join();
    });
  }
  /// Answers each request on each connection with this.
  static scripted_server::script always(std::string answer) {
    return [answer](int, talker& client) -> task<> {
      std::string asked = co_await client.hear_request();
      while (!asked.empty()) {
        static_cast<void>(co_await client.over().write(answer));  // a client may leave in the middle
        asked = co_await client.hear_request();
      }
    };
  }
};

inline const std::string hello_answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

}  // namespace tartan::test
