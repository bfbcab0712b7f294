#pragma once
/// Folders and files that are open already.

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "web/file.h"
#include "colorings/common/path_prefixes.h"

namespace colorings {

/// An open folder, or file. It may be used by any number of threads.
using handle = std::shared_ptr<const web::file>;

/// How far the way to a file is known.
struct known_way {
  std::size_t steps = 0;  ///< prefixes of which the last one is open
  handle at;              ///< that one; with no steps, the folder that is served
};

/// What has been opened on the way to a file that was not known.
struct opened_handle {
  std::size_t step = 0;
  handle what;
};

/// Handles by path, those that were not used for the longest making room for new ones.
///
/// Limits: `most` handles.
/// Source: libasync-smp's web server, which kept those of NFS: the longest prefix that is known saves the look-ups before it.
class handle_table {
 public:
  explicit handle_table(std::size_t most) : most_{most} {}

  /// The longest prefix whose handle is known; `root` if none is.
  [[nodiscard]] known_way longest(const path_prefixes& of, const handle& root);

  void put(const path_prefixes& of, const std::vector<opened_handle>& opened);

 private:
  struct entry {
    std::uint64_t hash = 0;
    std::string path;
    handle what;
  };
  using order = std::list<entry>;

  std::size_t most_;
  order by_use_;  ///< the last used first
  std::unordered_map<std::uint64_t, order::iterator> by_hash_;
};

}  // namespace colorings
