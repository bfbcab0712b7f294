#pragma once
/// For tests of a server: one that runs on either machine, and a client that says what it likes.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tartan/core/spawn.h>
#include <tartan/core/when_all.h>
#include <tartan/http_server/server.h>
#include <tartan/io/tcp.h>
#include <utility>
#include <vector>

#include "io/machine_fixture.h"

namespace tartan::test {

using namespace std::chrono_literals;

/// One end of a connection, in text.
class talker {
 public:
  explicit talker(tcp::stream over) : over_{std::move(over)} {}

  task<> say(std::string_view text) {
    const result<std::size_t> sent = co_await over_.write(text);
    EXPECT_TRUE(sent) << sent.error().message();
  }
  /// Up to the end of the text, or of the connection.
  task<std::string> hear_until(std::string_view text) {
    bool goes_on = true;
    while (heard_.find(text) == std::string::npos) {
      goes_on = co_await more();
      if (!goes_on) co_return std::exchange(heard_, {});
    }
    const std::size_t size = heard_.find(text) + text.size();
    std::string part = heard_.substr(0, size);
    heard_.erase(0, size);
    co_return part;
  }
  /// Up to the end of the connection.
  task<std::string> hear_all() {
    bool goes_on = true;
    while (goes_on) goes_on = co_await more();
    co_return std::exchange(heard_, {});
  }
  /// A head, and a body of the length that it says; without its Date.
  task<std::string> hear_answer() {
    std::string head = co_await hear_until("\r\n\r\n");
    const std::size_t at = head.find("Content-Length: ");
    std::size_t left = at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
    bool goes_on = true;
    while (heard_.size() < left && goes_on) goes_on = co_await more();
    left = std::min(left, heard_.size());
    head += heard_.substr(0, left);
    heard_.erase(0, left);
    co_return without_date(std::move(head));
  }
  static std::string without_date(std::string answer) {
    const std::size_t at = answer.find("Date: ");
    if (at != std::string::npos) answer.erase(at, answer.find("\r\n", at) + 2 - at);
    return answer;
  }
  tcp::stream& over() noexcept { return over_; }
  [[nodiscard]] std::error_code ended() const noexcept { return ended_; }

 private:
  task<bool> more() {
    std::array<char, 4096> room;
    const result<std::size_t> got = co_await over_.read_some(std::as_writable_bytes(std::span{room}));
    if (!got) ended_ = got.error();
    if (got) heard_.append(room.data(), *got);
    co_return got.has_value();
  }

  tcp::stream over_;
  std::string heard_;
  std::error_code ended_;
};

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
      co_await site_->close(0s);
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
