#pragma once
/// From a request's target to a path.

#include <optional>
#include <string>
#include <string_view>
#include <tartan/http/status.h>

namespace tartan::http {

/// A target that was understood.
///
/// Lifetime: that of the target, and of the scratch that path_of was given.
struct target_path {
  std::string_view path;   ///< decoded; begins with '/'; no segment is "." or "..", and only the last may be empty
  std::string_view sent;   ///< the same before it was decoded
  std::string_view query;  ///< with its '?'; empty: none
  std::string_view host;   ///< of "http://host/path"; empty: the target is a path alone
  bool is_hidden = false;  ///< a segment begins with '.', and the path is not below /.well-known/ (RFC 8615)
};

struct target_result {
  std::optional<status> error;  ///< with which to answer
  target_path found;
};

/// Checks the segments of a decoded path as path_of does: gives 403 or 404, or nothing. Sets `is_hidden` if a segment is.
[[nodiscard]] std::optional<status> check_segments(std::string_view path, bool& is_hidden) noexcept;

/// Takes "/a%20b?query" or "http://host/a%20b" apart. The path is percent-decoded, once, into `scratch` if there is
/// something to decode.
///
/// The path can be given to the file system below a folder: it leads nowhere outside.
/// Threads: any.
/// Errors: 400 for what is no path, has a '#' or a zero byte; 403 for "." and "..", which clients resolve before they
/// ask; 404 for an encoded '/' and for an empty segment, as no file has such a name. std::bad_alloc.
/// Source: RFC 9112, 3.2; RFC 3986, 2.1 and 3.3.
[[nodiscard]] target_result path_of(std::string_view target, std::string& scratch);

}  // namespace tartan::http
