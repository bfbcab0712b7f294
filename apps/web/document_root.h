#pragma once
/// The folder that is served, and nothing outside of it.

#include <tartan/http/status.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "web/file.h"
#include "web/http.h"
#include "web/page.h"
#include "web/shortage.h"

struct stat;

namespace web {

/// What was found under a path.
struct document {
  http::status code = http::status::not_found;  ///< ok; 301: a folder that was asked for without its slash; else why there is nothing
  bool unchanged = false;           ///< it is what is known already: nothing was read
  page content;                     ///< if ok
  large_file large;                 ///< open if the file is too large for a page: its body is to be sent from here
};

/// What there is besides files.
struct root_options {
  bool precompressed = true;  ///< page.html.br and page.html.gz may be sent instead of page.html
  bool listings = false;      ///< a folder without index.html is answered with a page that names what is in it, up to 10 000 things: nothing with a '.' first
  bool dot_files = false;     ///< what lies in, or is, something with a '.' first is given out like anything else; but never listed
  bool clean_urls = false;    ///< /about may be answered with about.html
  page_options pages = {};

  [[nodiscard]] bool operator==(const root_options&) const = default;
};

/// A folder.
class document_root {
 public:
  /// Errors: std::system_error if it is no folder that can be entered, or if the system has no openat2 (Linux 5.6).
  ///
  /// `told`: hears of each file that cannot be opened for want of a descriptor; null: nobody does.
  explicit document_root(const std::string& folder, const root_options& with = {},
                         std::shared_ptr<shortage> told = nullptr);

  /// Whether files can be opened in it: by now this process may have other rights. Errors: std::system_error.
  void check() const;

  /// The folder that the path leads to.
  class place {
   public:
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

   private:
    friend class document_root;
    file own_;
    int descriptor_ = -1;
    http::status code_ = http::status::ok;  ///< else why there is none
  };

  /// Where the path leads now: whoever publishes a site may put another folder, or a symbolic link to one, in the place of this one. If the path leads
  /// nowhere, or this process may not follow it, it is the folder of the start; but if that was deleted, or the path has led to another one meanwhile, load
  /// gives 503.
  ///
  /// Lifetime: ends before the root. Threads: any; blocks as long as the disk takes. Errors: load tells them.
  /// Cost: one system call, or two; three, and a descriptor, if it is another folder, until a reload makes a root of that.
  [[nodiscard]] place now() const noexcept;

  /// Opens and reads a file; `index.html` for a path that ends with a slash. The kernel refuses whatever leads out of the folder: "..",
  /// absolute symbolic links and such as point upwards out of it (RESOLVE_BENEATH).
  ///
  /// Threads: any; blocks as long as the disk takes.
  /// Errors: 403 for what may not be read, leads out, or is neither file nor folder; 404; 503 without descriptors or memory, or if somebody writes to the file
  /// each time that it is read, three times; 500.
  /// Limits: a file of more than `most` bytes is not read, but left open.
  ///
  /// With clean_urls, about.html for `/about` where no file is called so; a folder of that name is seen with its slash alone then.
  ///
  /// `key`: key_of's; with a coding, that sibling of the file is loaded. `known`: what the caller has under this key, if anything. `in`: now()'s.
  [[nodiscard]] document load(std::string_view key, std::size_t most, const page* known, const place& in) const;
  [[nodiscard]] document load(std::string_view key, std::size_t most, const page* known = nullptr) const { return load(key, most, known, now()); }

  [[nodiscard]] bool shows_hidden() const noexcept { return with_.dot_files; }

  /// Whether the path still leads to the folder of the start. Threads: any; blocks as long as the disk takes.
  [[nodiscard]] bool is_still_there() const noexcept;

 private:
  [[nodiscard]] std::string name_of(std::string_view path, int in) const;
  [[nodiscard]] std::optional<document> load_once(std::string_view key, std::size_t most, const page* known, int in) const;
  [[nodiscard]] document list(std::string_view path, int in) const;
  [[nodiscard]] bool is_of_the_start(const struct stat& folder) const noexcept;
  [[nodiscard]] http::status failure_of(int error) const noexcept;

  std::string path_;
  file folder_;
  std::uint64_t device_ = 0;  ///< of the folder
  std::uint64_t number_ = 0;  ///< likewise
  file_time opened_;          ///< when it was, by the clock on the wall: part of some tags, see entity_tag
  mutable std::atomic<bool> has_moved_{false};  ///< the path has led to another one; relaxed: a moment sooner or later is the same
  root_options with_;
  std::shared_ptr<shortage> told_;  ///< may be null
};

}  // namespace web
