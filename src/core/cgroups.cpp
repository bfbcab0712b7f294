// A limit counts for the whole subtree, so the tightest one on the way from our group to the root of what is mounted is the one that holds. What is mounted
// may be a part of the hierarchy: a container sees its own group as the root.
#include "core/cgroups.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <utility>

namespace tartan::detail {

namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool lists(std::string_view comma_separated, std::string_view word) {
  const auto words = split(comma_separated, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// mountinfo writes blanks, tabs, newlines and backslashes of a path as \ooo.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 4, code, 8).ptr == text.data() + i + 4) {
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// One mounted hierarchy that limits something, and where in it this process is.
struct hierarchy {
  bool unified = false;    // version 2
  std::string mount_root;  // the cgroup that is seen at the mount point
  std::string mount_point;
  std::string path;  // of our cgroup, as /proc/self/cgroup tells it
};

std::optional<hierarchy> read_mount(std::string_view line, std::string_view controller) {
  const auto fields = split(line, ' ');
  const auto dash = std::find(fields.begin(), fields.end(), "-");
  if (fields.size() < 5 || fields.end() - dash < 4) return std::nullopt;
  const bool unified = dash[1] == "cgroup2";
  if (!unified && !(dash[1] == "cgroup" && lists(dash[3], controller))) return std::nullopt;
  return hierarchy{unified, unescape(fields[3]), unescape(fields[4]), {}};
}

/// The path of our cgroup in the hierarchy; nothing if we are in none.
std::optional<std::string> find_path(const std::vector<std::string>& cgroups, bool unified, std::string_view controller) {
  for (const std::string_view line : cgroups) {  // "5:cpu,cpuacct:/path", version 2: "0::/path"
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (unified ? line.substr(0, first) == "0" && controllers.empty() : lists(controllers, controller)) {
      return std::string{line.substr(second + 1)};
    }
  }
  return std::nullopt;
}

std::vector<hierarchy> find_hierarchies(const std::string& root, std::string_view controller) {
  std::vector<hierarchy> found;
  const auto cgroups = read_lines(root + "/proc/self/cgroup");
  for (const std::string& line : read_lines(root + "/proc/self/mountinfo")) {
    auto mount = read_mount(line, controller);
    if (!mount) continue;
    auto path = find_path(cgroups, mount->unified, controller);
    if (!path) continue;
    mount->path = std::move(*path);
    found.push_back(std::move(*mount));
  }
  return found;
}

/// Our cgroup as seen below the mount point: "" or "/a/b". A cgroup outside of what is mounted is seen as its root.
std::string below_mount(const hierarchy& where) {
  const std::string& path = where.path;
  const std::string root = where.mount_root == "/" ? "" : where.mount_root;
  const auto parts = split(path, '/');
  if (path == "/" || std::find(parts.begin(), parts.end(), "..") != parts.end()) return "";
  if (path.compare(0, root.size(), root) != 0) return "";
  const std::string rest = path.substr(root.size());
  return rest.empty() || rest[0] == '/' ? rest : "";
}

}  // namespace

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string cgroup_folder::first_line(std::string_view file) const {
  const auto lines = read_lines((path + '/').append(file));
  return lines.empty() ? std::string{} : lines.front();
}

std::optional<std::int64_t> cgroup_folder::number(std::string_view file) const { return number_in(first_line(file)); }

std::vector<cgroup_folder> cgroup_folders(const std::string& root, std::string_view controller) {
  std::vector<cgroup_folder> found;
  for (const hierarchy& where : find_hierarchies(root, controller)) {
    for (std::string below = below_mount(where);; below.resize(below.rfind('/'))) {
      found.push_back({where.unified, root + where.mount_point + below});
      if (below.empty()) break;
    }
  }
  return found;
}

}  // namespace tartan::detail
