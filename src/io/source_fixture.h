#pragma once
/// For tests of where readiness comes from: who is told, and what becomes ready.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <map>
#include <mutex>

#include "io/readiness.h"
#include "io/system.h"

namespace tartan::test {

/// Counts the reports of each mark. Lifetime: until the last report of the source.
struct notebook final : detail::readiness_ledger {
  template <class Source>
  explicit notebook(Source& of) {
    of.report_to(*this);
  }
  bool ready(std::uint64_t mark, std::uint32_t bits) noexcept override {
    using word = detail::readiness<detail::real_memory>;
    const std::lock_guard hold{lock};
    if ((bits & word::in) != 0) ++in[mark];
    if ((bits & word::out) != 0) ++out[mark];
    if ((bits & word::hung_up) != 0) ++hung_up[mark];
    return true;
  }
  std::mutex lock;
  std::map<std::uint64_t, int> in;
  std::map<std::uint64_t, int> out;
  std::map<std::uint64_t, int> hung_up;
};

/// Two Unix sockets that are connected.
struct wire {
  wire() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0); }
  ~wire() {
    for (const int end : ends) {
      if (end >= 0) ::close(end);
    }
  }
  wire(const wire&) = delete;
  wire& operator=(const wire&) = delete;
  void send() const { EXPECT_EQ(::write(ends[1], "x", 1), 1); }
  /// Until the first end has no room.
  void fill() const {
    const std::array<char, 4096> filling{};
    while (::write(ends[0], filling.data(), filling.size()) > 0) {
    }
  }
  std::array<int, 2> ends{};
};

/// Whose first end is watched.
struct watched_wire : wire {
  template <class Source>
  watched_wire(Source& by, std::uint64_t mark) {
    EXPECT_EQ(by.watch(ends[0], mark), 0);
  }
};

/// Two TCP sockets that are connected.
struct tcp_wire {
  tcp_wire() {
    const int door = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(door, reinterpret_cast<const sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(door, 1), 0);
    EXPECT_EQ(::getsockname(door, reinterpret_cast<sockaddr*>(&at), &size), 0);
    far = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(far, reinterpret_cast<const sockaddr*>(&at), size), 0);
    near = ::accept4(door, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    ::close(door);
  }
  ~tcp_wire() {
    ::close(near);
    ::close(far);
  }
  tcp_wire(const tcp_wire&) = delete;
  tcp_wire& operator=(const tcp_wire&) = delete;
  int near = -1;
  int far = -1;
};

}  // namespace tartan::test
