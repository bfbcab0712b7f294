#pragma once
/// What a --url names.

#include <string>
#include <string_view>

#include "load/place.h"

namespace load {

struct url {
  bool is_sealed = false;  ///< https
  place at;
  std::string host;   ///< as the Host header has it
  std::string path;   ///< begins with a slash; "/" if the text has none
  std::string query;  ///< with its question mark; empty: none
};

/// "http[s]://HOST[:PORT][/PATH][?QUERY][#FRAGMENT]" (RFC 3986; RFC 9110, 4.2). If the port is left out or empty it is 80, or 443 for https.
/// A fragment is dropped: it is for the client alone. Path and query are sent as they are written: nothing is decoded,
/// encoded or normalized.
///
/// Errors: std::invalid_argument, whose text begins with `text`: another scheme, user information, no host, a port that
/// is not 1 to 65535, an IPv6 address without brackets, and bytes that have to be percent-encoded.
[[nodiscard]] url parse_url(std::string_view text);

}  // namespace load
