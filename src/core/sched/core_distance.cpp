#include "core/sched/core_distance.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <tuple>

namespace tartan::detail {

namespace {

constexpr unsigned beyond_caches = 1000;  // a level that no cache has

std::string line_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  std::string text;
  std::getline(in, text);
  return text;
}

/// Whether a list like "0-3,8" has the number.
bool list_has(const std::string& list, unsigned number) {
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at != end) {
    unsigned first = 0;
    const auto [behind, wrong] = std::from_chars(at, end, first);
    if (wrong != std::errc{}) return false;
    unsigned last = first;
    at = behind;
    if (at != end && *at == '-') {
      const auto [behind_last, wrong_last] = std::from_chars(at + 1, end, last);
      if (wrong_last != std::errc{}) return false;
      at = behind_last;
    }
    if (first <= number && number <= last) return true;
    if (at != end) ++at;
  }
  return false;
}

/// What one CPU shares with whom.
struct cpu_neighbors {
  struct cache {
    unsigned level;
    std::string shared_by;
  };
  std::vector<cache> caches;
  std::string node;

  explicit cpu_neighbors(const std::filesystem::path& folder) {
    for (unsigned n = 0;; ++n) {
      const std::filesystem::path index = folder / "cache" / ("index" + std::to_string(n));
      const std::string level = line_of(index / "level");
      if (level.empty()) break;
      caches.push_back({static_cast<unsigned>(std::strtoul(level.c_str(), nullptr, 10)), line_of(index / "shared_cpu_list")});
    }
    std::error_code missing;
    for (std::filesystem::directory_iterator each{folder, missing}, end; !missing && each != end; each.increment(missing)) {
      const std::string name = each->path().filename().string();
      if (name.starts_with("node") && name.size() > 4 && std::isdigit(static_cast<unsigned char>(name[4])) != 0) node = name;
    }
  }

  [[nodiscard]] unsigned first_shared_level(unsigned cpu) const {
    unsigned found = beyond_caches;
    for (const cache& each : caches) {
      if (each.level < found && list_has(each.shared_by, cpu)) found = each.level;
    }
    return found;
  }
};

}  // namespace

std::vector<std::vector<unsigned>> nearest_first(const std::vector<unsigned>& cpus, const std::string& root) {
  const std::filesystem::path all = std::filesystem::path{root} / "devices" / "system" / "cpu";
  std::map<unsigned, cpu_neighbors> known;  // several workers may share a CPU
  for (const unsigned cpu : cpus) known.try_emplace(cpu, all / ("cpu" + std::to_string(cpu)));
  std::vector<std::vector<unsigned>> order(cpus.size());
  for (unsigned from = 0; from < cpus.size(); ++from) {
    const cpu_neighbors& here = known.at(cpus[from]);
    std::vector<std::tuple<unsigned, bool, std::size_t>> others;  // level, whether on another node, how far on, round
    for (std::size_t on = 1; on < cpus.size(); ++on) {
      const std::size_t to = (from + on) % cpus.size();
      others.emplace_back(here.first_shared_level(cpus[to]), here.node != known.at(cpus[to]).node, on);
    }
    std::sort(others.begin(), others.end());
    for (const auto& each : others) order[from].push_back(static_cast<unsigned>((from + std::get<2>(each)) % cpus.size()));
  }
  return order;
}

}  // namespace tartan::detail
