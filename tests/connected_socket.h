#pragma once
/// A client of a test's own thread, in blocking calls.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tartan/io/address.h>

namespace tartan::test {

/// Whether the system has sockets of IPv6, if only for every address: loopback's may be turned off.
inline bool has_ipv6() {
  const int made = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made >= 0) ::close(made);
  return made >= 0;
}

/// A socket that is connected there and sends nothing yet. The caller closes it.
inline int connected_to(const address& at) {
  const int made = ::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::connect(made, at.data(), at.size()), 0);
  return made;
}

}  // namespace tartan::test
