#pragma once
/// A host and a port to connect to or to listen at, and their addresses.

#include <tartan/io/address.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "load/authority.h"

namespace load {

struct place {
  std::string host;  ///< a name or an address, without brackets; an IPv6 address may have a zone: "fe80::1%eth0"
  std::uint16_t port = 0;

  /// Of an authority; `default_port` if it has none.
  [[nodiscard]] static place of(const authority& from, std::uint16_t default_port);
  [[nodiscard]] bool operator==(const place&) const = default;
};

/// "HOST:PORT"; an IPv6 address stands in brackets. The port is 0 to 65535.
///
/// Errors: std::invalid_argument, whose text begins with `text`.
[[nodiscard]] place parse_place(std::string_view text);

/// All addresses of the host, in the system's order; there is at least one. Looking up a name may take a while.
///
/// Errors: std::invalid_argument.
[[nodiscard]] std::vector<tartan::address> look_up(const place& where);

/// The first that accepts a connection; the first of all if none does. A name may have addresses of both families, as
/// localhost has, while the server listens at one of them. Waits at most a second for each.
[[nodiscard]] const tartan::address& first_that_accepts(std::span<const tartan::address> all) noexcept;

}  // namespace load
