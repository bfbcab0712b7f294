#pragma once
/// For tests of streams: two connected ones, in here_color.

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tartan/io/tcp.h>
#include <utility>

#include "io/object_fixture.h"

namespace tartan::test {

/// Returns when the kernel has it: what one end of a connection was told reaches the other a little later.
inline void await_events(const detail::io_system& system, int descriptor, short events) {
  pollfd entry{descriptor, events, 0};
  if (system.is_kernel()) {
    EXPECT_EQ(::poll(&entry, 1, -1), 1);
  }
}

/// The near end is tested, the far one fed and emptied by system calls of whichever machine.
struct stream_pair {
  tcp::stream near;
  tcp::stream far;
  detail::io_system* system;
  std::shared_ptr<std::string> basin{};  ///< gone with this pair

  /// In an event. Unix sockets, for they are connected at once.
  static std::unique_ptr<stream_pair> make() {
    detail::io_system& system = system_here();
    int both[2] = {-1, -1};
    EXPECT_EQ(system.open_pair(AF_UNIX, SOCK_STREAM, both), 0);
    auto near = tcp::stream::from_fd(both[0], here_color);
    auto far = tcp::stream::from_fd(both[1], here_color);
    EXPECT_TRUE(near && far);
    return std::unique_ptr<stream_pair>{new stream_pair{*std::move(near), *std::move(far), &system, {}}};
  }

  void close() { near.close(); }
  void cancel() { near.cancel(); }
  [[nodiscard]] bool is_open() const { return near.is_open(); }

  void feed(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = system->send(far.native_handle(), text.data(), text.size());
      ASSERT_GT(sent, 0);
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    await_events(*system, near.native_handle(), POLLIN);
  }
  /// What has arrived; "" if there is nothing.
  [[nodiscard]] std::string arrived() const {
    std::string text;
    std::string room(1 << 18, '\0');
    for (;;) {
      const ssize_t got = system->receive(far.native_handle(), room.data(), room.size());
      if (got <= 0) return text;
      text.append(room, 0, static_cast<std::size_t>(got));
    }
  }
  /// Reads at the far end whatever comes, until that is closed.
  void drain() {
    basin = std::make_shared<std::string>(1 << 18, '\0');
    drain(far, basin);
  }

 private:
  static void drain(tcp::stream& from, const std::shared_ptr<std::string>& room) {
    const std::span<std::byte> into = std::as_writable_bytes(std::span{*room});
    from.read_some(into, [&from, room](const result<std::size_t>& got) {
      if (got && room.use_count() > 1) drain(from, room);  // else the pair is gone
    });
  }
};

}  // namespace tartan::test
