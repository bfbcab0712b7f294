#pragma once
/// The host and the port that a URL or an option names.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace load {

/// What stands between "//" and the path of a URL (RFC 3986, 3.2), without user information.
struct authority {
  std::string host;  ///< a name or an address; an IPv6 address has no brackets and no zone
  std::string zone;  ///< the interface of an IPv6 address: "eth0" of "[fe80::1%eth0]"; empty: none
  bool is_ipv6 = false;
  std::optional<std::uint16_t> port;  ///< none if the text has no port, or nothing after the colon

  /// As a Host header has it: with brackets and the port, without the zone, which means nothing to the server.
  [[nodiscard]] std::string host_header() const;
};

/// "HOST", "HOST:" or "HOST:PORT". An IPv6 address stands in brackets. `zone_mark` comes before its zone: "%25" in a
/// URL (RFC 6874), "%" elsewhere.
///
/// Errors: std::invalid_argument, whose text says what is wrong but does not repeat `text`.
[[nodiscard]] authority parse_authority(std::string_view text, std::string_view zone_mark);

}  // namespace load
