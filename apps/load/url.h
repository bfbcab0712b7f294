#pragma once
/// Where to ask, and for what.

#include <tartan/io/address.h>

#include <span>
#include <string>
#include <string_view>

namespace load {

struct url {
  std::string host;    ///< with the port, if one was said: what the Host header has
  std::string path;    ///< from its slash on
  tartan::address at;  ///< of the host's, the first that accepts a connection; if none does, the first
};

/// "http://HOST:PORT/path"; the port is 80 and the path / if they are not said. Looks the host up, which may take a while.
///
/// Errors: std::invalid_argument.
[[nodiscard]] url parse_url(std::string_view text);

/// "HOST:PORT", likewise, but the host's first address: nothing is tried, for a master counts who connects.
[[nodiscard]] tartan::address look_up(std::string_view place, std::string_view default_port);

/// Each has a second: a name may have addresses of both kinds, as localhost has, and a server listen at one of them. There is one at least.
[[nodiscard]] const tartan::address& first_that_accepts(std::span<const tartan::address> all) noexcept;

}  // namespace load
