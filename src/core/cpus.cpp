// How many workers a process deserves.
//
// The number of CPUs of the machine is the wrong answer twice. A process may be pinned to some of them (taskset, cpuset): that
// is its affinity mask. And a container is usually limited by time, not by place: "2 CPUs" is a quota of 200 ms per period of
// 100 ms on any of 64 CPUs. 64 workers would use that up in 3 ms and then stand still for the other 97. A quota counts for the
// whole subtree, so the tightest one on the way from our cgroup to the root of what is mounted is the one that holds.

#include "core/cpus.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

namespace tartan::detail {

namespace {

constexpr unsigned no_limit = std::numeric_limits<unsigned>::max();
constexpr unsigned most_cpus = 1u << 20;  // of a mask that we are ready to look at

struct free_set {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using owned_set = std::unique_ptr<cpu_set_t, free_set>;

/// A set with room for `cpus` CPUs, more than cpu_set_t's 1024 if need be.
owned_set make_set(unsigned cpus) {
  owned_set set{CPU_ALLOC(cpus)};
  if (!set) throw std::bad_alloc{};
  CPU_ZERO_S(CPU_ALLOC_SIZE(cpus), set.get());
  return set;
}

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

std::optional<std::int64_t> read_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
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

/// One mounted hierarchy that limits CPU time, and where in it this process is.
struct hierarchy {
  bool unified = false;    // version 2
  std::string mount_root;  // the cgroup that is seen at the mount point
  std::string mount_point;
  std::string path;  // of our cgroup, as /proc/self/cgroup tells it
};

std::optional<hierarchy> read_mount(std::string_view line) {
  const auto fields = split(line, ' ');
  const auto dash = std::find(fields.begin(), fields.end(), "-");
  if (fields.size() < 5 || fields.end() - dash < 4) return std::nullopt;
  const bool unified = dash[1] == "cgroup2";
  if (!unified && !(dash[1] == "cgroup" && lists(dash[3], "cpu"))) return std::nullopt;
  return hierarchy{unified, unescape(fields[3]), unescape(fields[4]), {}};
}

/// The path of our cgroup in the hierarchy; nothing if we are in none.
std::optional<std::string> find_path(const std::vector<std::string>& cgroups, bool unified) {
  for (const std::string_view line : cgroups) {  // "5:cpu,cpuacct:/path", version 2: "0::/path"
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (unified ? line.substr(0, first) == "0" && controllers.empty() : lists(controllers, "cpu")) {
      return std::string{line.substr(second + 1)};
    }
  }
  return std::nullopt;
}

std::vector<hierarchy> find_hierarchies(const std::string& root) {
  std::vector<hierarchy> found;
  const auto cgroups = read_lines(root + "/proc/self/cgroup");
  for (const std::string& line : read_lines(root + "/proc/self/mountinfo")) {
    auto mount = read_mount(line);
    if (!mount) continue;
    auto path = find_path(cgroups, mount->unified);
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

unsigned cpus_for(std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
  if (!quota || *quota < 0 || !period || *period <= 0) return no_limit;
  const std::int64_t cpus = *quota / *period + (*quota % *period != 0 ? 1 : 0);
  return static_cast<unsigned>(std::clamp<std::int64_t>(cpus, 1, no_limit));
}

unsigned limit_of(bool unified, const std::string& folder) {
  const auto first_line = [&](const char* name) {
    const auto lines = read_lines(folder + name);
    return lines.empty() ? std::string{} : lines.front();
  };
  if (!unified)
    return cpus_for(read_number(first_line("/cpu.cfs_quota_us")), read_number(first_line("/cpu.cfs_period_us")));
  const std::string line = first_line("/cpu.max");  // "150000 100000" or "max 100000"
  const auto fields = split(line, ' ');
  return cpus_for(read_number(fields[0]), fields.size() > 1 ? read_number(fields[1]) : std::nullopt);
}

/// The tightest quota on the way from our cgroup up to the root of what is mounted.
unsigned quota_of(const std::string& root, const hierarchy& where) {
  unsigned limit = no_limit;
  for (std::string below = below_mount(where);; below.resize(below.rfind('/'))) {
    limit = std::min(limit, limit_of(where.unified, root + where.mount_point + below));
    if (below.empty()) return limit;
  }
}

std::error_code set_affinity(const affinity_calls& calls, const std::vector<unsigned>& cpus) {
  if (cpus.empty()) return {};
  const unsigned room = *std::max_element(cpus.begin(), cpus.end()) + 1;
  const std::size_t bytes = CPU_ALLOC_SIZE(room);
  const owned_set set = make_set(room);
  for (const unsigned cpu : cpus) CPU_SET_S(cpu, bytes, set.get());
  if (calls.set(0, bytes, set.get()) == 0) return {};
  return {errno, std::system_category()};
}

}  // namespace

cpu_mask cpu_mask::of_this_thread(const affinity_calls& calls) {
  cpu_mask mask;
  for (unsigned room = 1024; room <= most_cpus; room *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(room);
    const owned_set set = make_set(room);
    if (calls.get(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;  // the kernel's mask is longer
      return mask;
    }
    for (unsigned cpu = 0; cpu < room; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set.get())) mask.cpus_.push_back(cpu);
    }
    return mask;
  }
  return mask;
}

std::vector<unsigned> cpu_mask::in_turn(unsigned workers) const {
  std::vector<unsigned> where(workers);
  for (unsigned n = 0; n < workers; ++n) where[n] = cpus_.empty() ? n : cpus_[n % count()];
  return where;
}

std::error_code bind_to_cpu(const cpu_mask& mask, unsigned nth, const affinity_calls& calls) {
  if (mask.cpus().empty()) return {};
  return set_affinity(calls, {mask.cpus()[nth % mask.count()]});
}

std::error_code bind_to_all(const cpu_mask& mask, const affinity_calls& calls) {
  return set_affinity(calls, mask.cpus());
}

unsigned usable_cpus(const cpu_sources& from) {
  unsigned cpus = cpu_mask::of_this_thread(from.affinity).count();
  if (cpus == 0) {
    const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
    cpus = online > 0 ? static_cast<unsigned>(online) : 1;
  }
  for (const hierarchy& where : find_hierarchies(from.root)) cpus = std::min(cpus, quota_of(from.root, where));
  return std::max(cpus, 1u);
}

}  // namespace tartan::detail
