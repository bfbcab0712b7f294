#pragma once
/// For tests of HTTP: a peer that says what it likes.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/io/tcp.h>
#include <utility>

namespace tartan::test {

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
  /// As hear_answer, but a body in chunks as well; empty at the end of the connection.
  task<std::string> hear_request() {
    std::string head = co_await hear_until("\r\n\r\n");
    if (head.find("chunked") != std::string::npos) {
      std::string body = co_await hear_until("0\r\n\r\n");
      co_return head + body;
    }
    std::string body = co_await hear_body(head);
    co_return head + body;
  }
  /// A head, and a body of the length that it says; without its Date.
  task<std::string> hear_answer() {
    std::string head = co_await hear_until("\r\n\r\n");
    std::string body = co_await hear_body(head);
    co_return without_date(head + body);
  }
  static std::string without_date(std::string answer) {
    const std::size_t at = answer.find("Date: ");
    if (at != std::string::npos) answer.erase(at, answer.find("\r\n", at) + 2 - at);
    return answer;
  }
  tcp::stream& over() noexcept { return over_; }
  [[nodiscard]] std::error_code ended() const noexcept { return ended_; }

 private:
  task<std::string> hear_body(const std::string& head) {
    const std::size_t at = head.find("Content-Length: ");
    const std::size_t left = at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
    bool goes_on = true;
    while (heard_.size() < left && goes_on) goes_on = co_await more();
    std::string body = heard_.substr(0, left);
    heard_.erase(0, body.size());
    co_return body;
  }
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

}  // namespace tartan::test
