#pragma once
/// What a proxy says of a connection before it hands it on.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tartan/http/ip_address.h>

namespace tartan::http {

/// The header of the PROXY protocol, version 1 (a line) or 2 (bytes), in front of all else on a connection. Only a trusted proxy may send it.
struct proxy_header {
  enum class outcome : std::uint8_t {
    incomplete,  ///< call again with the same bytes and more behind them
    complete,    ///< source and size are filled
    refused,     ///< it is none: the connection is to be closed
  };

  outcome what = outcome::incomplete;
  std::optional<ip_address> source;  ///< the client's; nothing: the proxy speaks for itself, as for a check of health, or does not know
  std::uint16_t port = 0;            ///< the client's
  std::size_t size = 0;              ///< bytes of the header
  std::size_t missing = 0;           ///< if incomplete: the least number of bytes still to come; reading that many takes none behind the header
};

/// Parses the beginning of a connection.
///
/// Threads: any.
/// Limits: 107 bytes in version 1, 4 KB in version 2; what comes beyond is refused. Extensions of version 2 (TLV) and its checksum are skipped.
/// Source: The PROXY protocol, versions 1 and 2, of HAProxy; 2.1 and 2.2.
[[nodiscard]] proxy_header parse_proxy_header(std::string_view bytes) noexcept;

}  // namespace tartan::http
