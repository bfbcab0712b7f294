#pragma once
/// The folders on the way to a file, by the hash of their paths.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace colorings {

/// "/a/b/": the file "/a/b/index.html", and its prefixes "/a", "/a/b" and itself, each with its hash.
///
/// Source: libasync-smp, "Parallelizing the HTTP server": the hashes are computed outside of the cache's color.
class path_prefixes {
 public:
  struct prefix {
    std::uint64_t hash = 0;
    std::size_t end = 0;  ///< in the file's path
  };

  path_prefixes() = default;
  explicit path_prefixes(std::string_view path);

  [[nodiscard]] std::string_view file() const noexcept { return file_; }
  [[nodiscard]] const std::vector<prefix>& all() const noexcept { return all_; }
  /// The path of the folder, or file, number `n`.
  [[nodiscard]] std::string_view path(std::size_t n) const noexcept { return std::string_view{file_}.substr(0, all_[n].end); }
  /// Its own name.
  [[nodiscard]] std::string name(std::size_t n) const;

 private:
  std::string file_;
  std::vector<prefix> all_;
};

}  // namespace colorings
