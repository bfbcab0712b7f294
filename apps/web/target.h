#pragma once
/// From a request's target to the path of a file.

#include <optional>
#include <string>
#include <string_view>

#include "web/status.h"

namespace web {

/// A target that was understood.
struct target_path {
  std::string_view path;  ///< decoded; begins with '/'; no segment is empty but the last, and none is "." or ".."
  std::string_view sent;  ///< the same before it was decoded
  std::string_view query; ///< what was sent behind it, with its '?'; or nothing
  std::string_view host;  ///< what was sent before it; or nothing
  bool is_hidden = false; ///< some name in it begins with a '.', and it does not lie in /.well-known/ (RFC 8615)
};

struct target_result {
  std::optional<status> error;
  target_path found;
};

/// 403 and 404 as of path_of, for a path that is decoded. `is_hidden` becomes true as target_path's.
[[nodiscard]] std::optional<status> check_segments(std::string_view path, bool& is_hidden) noexcept;

/// "/a%20b?query" or "http://host/a%20b": the path, percent-decoded once. `scratch` holds it if there is something to decode.
///
/// Errors: 400 for what is no path, has a '#', or has a zero byte; 403 for "." and "..", which a client resolves before it asks; 404 for an
/// encoded '/' and for an empty segment: no file has such a name.
[[nodiscard]] target_result path_of(std::string_view target, std::string& scratch);

}  // namespace web
