#pragma once
/// For tests of streams: two connected ones, in here_color.

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <memory>
#include <string>
#include <string_view>
#include <tartan/io/tcp.h>
#include <utility>

#include "io/object_fixture.h"

namespace tartan::test {

/// The near end is tested, the far one fed and emptied by system calls.
struct stream_pair {
  tcp::stream near;
  tcp::stream far;

  /// In an event.
  static std::unique_ptr<stream_pair> make() {
    int both[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both), 0);
    auto near = tcp::stream::from_fd(both[0], here_color);
    auto far = tcp::stream::from_fd(both[1], here_color);
    EXPECT_TRUE(near && far);
    return std::unique_ptr<stream_pair>{new stream_pair{*std::move(near), *std::move(far)}};
  }

  void close() { near.close(); }
  void cancel() { near.cancel(); }
  [[nodiscard]] bool is_open() const { return near.is_open(); }

  void feed(std::string_view text) const {
    EXPECT_EQ(::send(far.native_handle(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  /// What has arrived; "" if there is nothing.
  [[nodiscard]] std::string arrived() const {
    std::string text(1 << 20, '\0');
    const ssize_t got = ::recv(far.native_handle(), text.data(), text.size(), MSG_DONTWAIT);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }
};

}  // namespace tartan::test
