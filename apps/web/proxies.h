#pragma once
/// Proxies in front of the server, which say who asks.

#include <tartan/core/task.h>
#include <tartan/http/ip_address.h>
#include <tartan/io/address.h>
#include <tartan/io/tcp.h>

#include <optional>
#include <string>
#include <vector>

#include "web/http.h"

namespace web {

/// Whom to believe.
struct proxy_settings {
  std::vector<http::ip_range> trusted;
  bool trusts_unix = false;      ///< whoever connects by a Unix socket
  bool speaks_protocol = false;  ///< connections of theirs begin with a header of the PROXY protocol

  [[nodiscard]] bool are_any() const noexcept { return trusts_unix || !trusted.empty(); }
  [[nodiscard]] bool trusts(const http::ip_address& one) const noexcept;
  [[nodiscard]] bool trusts(const tartan::address& one) const noexcept;

  [[nodiscard]] bool operator==(const proxy_settings&) const = default;
};

/// Adds "unix", an address or a range of addresses. What is wrong with it; empty: nothing.
[[nodiscard]] std::string trust(proxy_settings& into, const std::string& text);

/// Reads the header of the PROXY protocol, and nothing behind it. Gives the client's address; nothing if the proxy speaks for itself.
///
/// Errors: the stream's; std::errc::protocol_error for what is no such header.
[[nodiscard]] tartan::task<tartan::result<std::optional<http::ip_address>>> read_proxy_header(tartan::tcp::stream& from);

}  // namespace web
