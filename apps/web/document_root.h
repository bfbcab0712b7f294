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
  bool unchanged = false;           ///< it is what is known already: nothing was read
  page content;                     ///< if ok
  large_file large;                 ///< open if the file is too large for a page: its body is to be sent from here
};

/// What there is besides files.
struct root_options {
  bool precompressed = true;  ///< page.html.br and page.html.gz may be sent instead of page.html
  bool listings = false;      ///< a folder without index.html is answered with a page that names what is in it, up to 10 000 things: nothing with a '.' first
  bool dot_files = false;     ///< what lies in, or is, something with a '.' first is given out like anything else; but never listed
  page_options pages = {};

  [[nodiscard]] bool operator==(const root_options&) const = default;
};

/// A folder.
class document_root {
 public:
  /// Errors: std::system_error if it is no folder that can be read, or if the system has no openat2 (Linux 5.6).
  explicit document_root(const std::string& folder, const root_options& with = {});

  /// Opens and reads a file; `index.html` for a path that ends with a slash. The kernel refuses whatever leads out of the folder: "..",
  /// absolute symbolic links and such as point upwards out of it (RESOLVE_BENEATH).
  ///
  /// Threads: any; blocks as long as the disk takes.
  /// Errors: 403 for what may not be read, leads out, or is neither file nor folder; 404; 503 without descriptors or memory, or if somebody writes to the file
  /// each time that it is read, three times; 500.
  /// Limits: a file of more than `most` bytes is not read, but left open.
  ///
  /// `key`: key_of's; with a coding, that sibling of the file is loaded. `known`: what the caller has under this key, if anything.
  [[nodiscard]] document load(std::string_view key, std::size_t most, const page* known = nullptr) const;

  [[nodiscard]] bool shows_hidden() const noexcept { return with_.dot_files; }

  /// Whether the folder's path still leads to this folder. Threads: any; blocks as long as the disk takes.
  [[nodiscard]] bool is_still(const std::string& folder) const noexcept;

 private:
  [[nodiscard]] std::optional<document> load_once(std::string_view key, std::size_t most, const page* known) const;
  [[nodiscard]] std::optional<coding_set> siblings_of(const std::string& name, const file_version& version) const noexcept;

  [[nodiscard]] document list(std::string_view path) const;

  file folder_;
  root_options with_;
};

}  // namespace web
