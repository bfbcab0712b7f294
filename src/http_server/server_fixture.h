#pragma once
/// For tests of a server: one that runs on either machine, and a client that says what it likes.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <tartan/core/spawn.h>
#include <tartan/core/when_all.h>
#include <tartan/http_server/server.h>
#include <tartan/io/tcp.h>
#include <utility>
#include <vector>

#include "http_io/talker_fixture.h"
#include "io/machine_fixture.h"

namespace tartan::test {

class with_server : public on_machine, public testing::WithParamInterface<place> {
 protected:
  [[nodiscard]] place where() const override { return GetParam(); }
  void TearDown() override {
    site_.reset();
    on_machine::TearDown();
  }

  http::server_settings with;
  std::vector<std::string> failures;

  http::server& site() {
    if (!site_) {
      if (!with.on_failure) with.on_failure = [this](const http::failed_request& f) { failures.emplace_back(f.what); };
      site_.emplace(rt(), std::move(with));
      at_ = site_->listen("127.0.0.1:0");
    }
    return *site_;
  }
  [[nodiscard]] address at() {
    site();
    return at_;
  }
  task<talker> connect() {
    auto made = co_await tcp::connect(at());
    EXPECT_TRUE(made) << made.error().message();
    co_return talker{*std::move(made)};
  }
  /// Runs the talk, then ends the server.
  void talk(std::function<task<>()> f) {
    site();
    in_color([&]() -> task<> {
      co_await f();
      co_await site_->close(std::chrono::seconds{0});
    });
    site_.reset();
  }
  /// What is answered to this, over a connection of its own, up to its end.
  std::string answer_to(std::string_view text) {
    std::string heard;
    talk([&]() -> task<> {
      talker client = co_await connect();
      co_await client.say(text);
      heard = talker::without_date(co_await client.hear_all());
    });
    return heard;
  }

 private:
  std::optional<http::server> site_;
  address at_;
};

}  // namespace tartan::test
