#pragma once
/// Where to ask, and for what.

#include <tartan/io/address.h>

#include <string>
#include <string_view>

namespace load {

struct url {
  std::string host;    ///< with the port, if one was said: what the Host header has
  std::string path;    ///< from its slash on
  tartan::address at;  ///< the host's first
};

/// "http://HOST:PORT/path"; the port is 80 and the path / if they are not said. Looks the host up, which may take a while.
///
/// Errors: std::invalid_argument.
[[nodiscard]] url parse_url(std::string_view text);

/// "HOST:PORT", likewise.
[[nodiscard]] tartan::address look_up(std::string_view place, std::string_view default_port);

}  // namespace load
