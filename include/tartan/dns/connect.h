#pragma once
/// Connecting to a host by its name, and listening at one.

#include <chrono>
#include <cstdint>
#include <source_location>
#include <string>
#include <system_error>
#include <tartan/core/result.h>
#include <tartan/core/runtime.h>
#include <tartan/core/task.h>
#include <tartan/dns/resolver.h>
#include <tartan/io/address.h>
#include <tartan/io/tcp.h>
#include <vector>

namespace tartan::tcp {

/// One address that connect has tried, and how that ended. Without an error, it is the connection that connect gave.
struct connect_attempt {
  address to;
  std::error_code error;
};

/// How to connect by name.
struct connect_name_options {
  /// How long an attempt goes on alone before the next one begins beside it.
  std::chrono::milliseconds attempt_delay{250};
  /// How long IPv4 addresses that come first wait for the IPv6 addresses.
  std::chrono::milliseconds resolution_delay{50};
  /// Gets each attempt that was not canceled, in the order in which they ended. It must live until connect has ended.
  std::vector<connect_attempt>* attempts = nullptr;
};

/// `auto peer = co_await connect(names, "example.org", 443)`: looks up a host and connects to one of its addresses. The
/// stream has the color that runs.
///
/// Addresses are tried IPv6 first, the families in turns. The next attempt begins 250 ms after the last one, or when
/// an attempt has failed. The first connection wins (RFC 8305); the other attempts are canceled and their sockets closed.
/// Ends early if the coroutine is canceled, as with_timeout does.
/// Errors: those of resolver::addresses; if all attempts fail, the error of the last one; errc::canceled.
/// Limits: 16 addresses of each family; delays of at most an hour.
[[nodiscard]] task<result<stream>> connect(const dns::resolver& names, std::string host, std::uint16_t port,
                                           connect_name_options with = {},
                                           std::source_location site = std::source_location::current());

/// The same with a resolver of its own, for a program that connects once: it reads the system's files anew.
[[nodiscard]] task<result<stream>> connect(std::string host, std::uint16_t port, connect_name_options with = {},
                                           std::source_location site = std::source_location::current());

/// `auto doors = co_await listen(rt, names, "localhost:8080")`: a listener at each address of a host, or at a numeric
/// address. With port 0 each listener has a port of its own.
///
/// Addresses that this machine does not have are left out if another one is left.
/// Errors: those of resolver::addresses and of try_listen; std::errc::invalid_argument for a text without a port.
[[nodiscard]] task<result<std::vector<listener>>> listen(runtime& rt, const dns::resolver& names, std::string at,
                                                         listen_options with = {});

}  // namespace tartan::tcp
