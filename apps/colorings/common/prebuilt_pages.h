#pragma once
/// All pages of a folder, made before the first request.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "colorings/common/handle_table.h"
#include "web/page.h"

namespace colorings {

/// By path: "/a/page.html"; a folder's index.html also as "/a/". Never changes, so that it may be read in any color.
///
/// Source: Mely, V.C.1; Flash did the same before.
class prebuilt_pages {
 public:
  /// Reads all files of the folder, but for those that are named by symbolic links.
  ///
  /// Errors: std::system_error; std::runtime_error for a file that cannot be read, or for more than `most` bytes in all.
  prebuilt_pages(const std::string& folder, std::size_t most);

  /// Null: there is no such file.
  [[nodiscard]] web::shared_page find(std::string_view path) const;

 private:
  struct hash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, web::shared_page, hash, std::equal_to<>> by_path_;
};

}  // namespace colorings
