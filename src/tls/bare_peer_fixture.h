#pragma once
/// For tests: an end of a TLS connection whose records can be held back, torn or made up.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <tartan/core/task.h>
#include <tartan/io/tcp.h>

#include "tls/session.h"

namespace tartan::test {

/// One end that does what no tls::stream does; its steps.
///
/// It goes on while the other end does not.
struct bare_peer {
  static task<> send(tls::detail::session& by, tcp::stream& over) {
    const std::span<const std::byte> all = by.to_send();
    if (!all.empty()) static_cast<void>(co_await over.write(all));
    by.sent();
  }
  /// False: the connection has ended.
  static task<bool> receive(tls::detail::session& by, tcp::stream& over) {
    std::array<std::byte, 5000> room;
    const result<std::size_t> got = co_await over.read_some(room);
    co_return got && by.receive(std::span{room}.first(*got));
  }
  static task<> shake_hands(tls::detail::session& by, tcp::stream& over) {
    using need = tls::detail::session::need;
    for (;;) {
      const need next = by.handshake();
      co_await send(by, over);
      if (next != need::input) co_return;
      const bool goes_on = co_await receive(by, over);
      if (!goes_on) co_return;
    }
  }
};

}  // namespace tartan::test
