#include "colorings/common/prebuilt_pages.h"

#include <filesystem>
#include <stdexcept>

#include "colorings/common/load_file.h"

namespace colorings {

prebuilt_pages::prebuilt_pages(const std::string& folder, std::size_t most) {
  const handle root = open_root(folder);
  std::size_t bytes = 0;
  for (const auto& each : std::filesystem::recursive_directory_iterator{folder}) {
    if (each.symlink_status().type() != std::filesystem::file_type::regular) continue;
    std::string path = "/" + each.path().lexically_relative(folder).generic_string();
    const web::shared_page page = load_file(path_prefixes{path}, {0, root}, root).page;
    if (page == nullptr) throw std::runtime_error{"cannot read '" + each.path().string() + "'"};
    bytes += page->bytes();
    if (bytes > most) throw std::runtime_error{"the files of '" + folder + "' take more than --cache-bytes " + std::to_string(most)};
    if (path.ends_with("/index.html")) by_path_.emplace(path.substr(0, path.size() - std::string_view{"index.html"}.size()), page);
    by_path_.emplace(std::move(path), page);
  }
}

web::shared_page prebuilt_pages::find(std::string_view path) const {
  const auto found = by_path_.find(path);
  return found == by_path_.end() ? nullptr : found->second;
}

}  // namespace colorings
