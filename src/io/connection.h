#pragma once
/// For tests of TCP: the two ends of a connection, on either machine.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <tartan/core/task.h>
#include <tartan/io/tcp.h>
#include <utility>

#include "io/stream_pair.h"

namespace tartan::test {

/// More than any buffers hold.
inline constexpr std::size_t much = 512 * 1024;

/// What is sent: no two neighbors are alike.
inline std::string much_text(std::size_t size = much) {
  std::string text(size, '\0');
  for (std::size_t n = 0; n < size; ++n) text[n] = static_cast<char>('a' + n % 23);
  return text;
}

/// Over TCP, with small buffers.
struct connection : stream_pair {
  explicit connection(stream_pair&& ends) : stream_pair{std::move(ends)} {}

  std::array<std::byte, 8> room{};
  std::string text{};
  std::string came{};  ///< to the far end

  static task<std::unique_ptr<connection>> make(runtime& rt) {
    auto door = tcp::listen(rt, "127.0.0.1:0", {.color = here_color});
    EXPECT_TRUE(door.set_option(SOL_SOCKET, SO_RCVBUF, 20'000));
    auto near = co_await tcp::connect(*door.local_address());
    auto far = co_await door.accept(here_color);
    EXPECT_TRUE(near && far);
    EXPECT_TRUE(near->set_send_buffer(20'000));
    std::unique_ptr<connection> made{new connection{stream_pair{std::move(*near), std::move(*far), &system_here(), {}}}};
    co_return made;
  }

  [[nodiscard]] std::string_view read() const { return {reinterpret_cast<const char*>(room.data()), room.size()}; }
  [[nodiscard]] bool some_came() {
    came += arrived();
    return !came.empty();
  }
  /// Until the near end knows it.
  void reset_by_peer() {
    EXPECT_TRUE(far.set_reset_on_close(true));
    far.close();
    await_events(*system, near.native_handle(), POLLERR | POLLHUP);
  }
  void finished_by_peer() {
    EXPECT_TRUE(far.shutdown_send());
    await_events(*system, near.native_handle(), POLLRDHUP);
  }
};

/// A listener and somebody who comes.
struct door {
  tcp::listener at;
  detail::io_system* system = &system_here();
  /// May come after the door is gone.
  std::shared_ptr<tcp::stream> peer = std::make_shared<tcp::stream>();

  void close() { at.close(); }
  void cancel() { at.cancel(); }
  [[nodiscard]] bool is_open() const { return at.is_open(); }
  void knock() const {
    tcp::connect(*at.local_address(), [peer = peer](result<tcp::stream> made) {
      if (made) *peer = std::move(*made);
    });
    await_events(*system, at.native_handle(), POLLIN);
  }
};

}  // namespace tartan::test
