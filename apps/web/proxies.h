#pragma once
/// Trusted proxies in front of the server, which name the client.

#include <tartan/http/ip_address.h>
#include <tartan/io/address.h>

#include <string>
#include <vector>

#include "web/http.h"

namespace web {

/// Whom to believe.
struct proxy_settings {
  std::vector<http::ip_range> trusted;
  bool trusts_unix = false;      ///< clients that connect by a Unix socket
  bool speaks_protocol = false;  ///< connections of theirs begin with a header of the PROXY protocol

  [[nodiscard]] bool are_any() const noexcept { return trusts_unix || !trusted.empty(); }
  [[nodiscard]] bool trusts(const http::ip_address& one) const noexcept;
  [[nodiscard]] bool trusts(const tartan::address& one) const;

  [[nodiscard]] bool operator==(const proxy_settings&) const = default;
};

/// Adds "unix", an address or a range of addresses. What is wrong with it; empty: nothing.
[[nodiscard]] std::string trust(proxy_settings& into, const std::string& text);

}  // namespace web
