#pragma once
/// The folder that is served, and nothing outside of it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "file.h"
#include "page.h"
#include "status.h"

namespace web {

/// What was found under a path.
struct document {
  status code = status::not_found;  ///< ok; 301: a folder that was asked for without its slash; else why there is nothing
  bool unchanged = false;           ///< it is the version that is known already: nothing was read
  page content;                     ///< if ok
  file large;                       ///< open if the file is too large for a page: its body is to be sent from here
};

/// A folder.
class document_root {
 public:
  /// Errors: std::system_error if it is no folder that can be read, or if the system has no openat2 (Linux 5.6).
  explicit document_root(const std::string& folder);

  /// Opens and reads a file; `index.html` for a path that ends with a slash. The kernel refuses whatever leads out of the folder: "..",
  /// absolute symbolic links and such as point upwards out of it (RESOLVE_BENEATH).
  ///
  /// Threads: any; blocks as long as the disk takes.
  /// Errors: 403 for what may not be read, leads out, or is neither file nor folder; 404; 503 without descriptors or memory; 500.
  /// Limits: a file of more than `most` bytes is not read, but left open.
  /// `known`: the version that the caller has; `certain`: and it knows that this is the only state with that version.
  [[nodiscard]] document load(std::string_view path, std::size_t most, const std::optional<file_version>& known = std::nullopt, bool certain = true) const;

 private:
  file folder_;
};

}  // namespace web
