#pragma once
/// What control groups limit this process.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tartan::detail {

/// All of the text is one number; nothing else ("max") is.
[[nodiscard]] std::optional<std::int64_t> number_in(std::string_view text);

/// The folder of a group, with the files that tell its limits.
struct cgroup_folder {
  bool unified = false;  ///< version 2, which has other files
  std::string path;

  /// Empty if there is no such file.
  [[nodiscard]] std::string first_line(std::string_view file) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view file) const;
};

/// Of this process's group in each hierarchy that may limit by the controller ("cpu", "memory"; version 2 has all), and of those around it, as far as
/// they are mounted.
///
/// `root`: put before /proc and before the mount points that it names. What cannot be read is left out.
[[nodiscard]] std::vector<cgroup_folder> cgroup_folders(const std::string& root, std::string_view controller);

}  // namespace tartan::detail
