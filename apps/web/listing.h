#pragma once
/// A page that names what lies in a folder.

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace web {

/// Something in a folder.
struct listed {
  std::string name;  ///< any bytes but '/' and zero
  bool is_folder = false;
  std::uint64_t size = 0;  ///< bytes, of a file
  std::time_t modified = 0;

  [[nodiscard]] bool operator==(const listed&) const noexcept = default;
};

/// HTML: folders first, then files, each by name; with a way up, but for "/". `path`: decoded, with its slash at the end.
///
/// Limits: of what comes behind the first 128 KB, only the number.
///
/// No name can become part of the page's own text, or lead elsewhere.
[[nodiscard]] std::string listing_page(std::string_view path, std::vector<listed> entries);

}  // namespace web
