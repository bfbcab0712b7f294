// How many workers a process deserves.
//
// The number of CPUs of the machine is the wrong answer twice. A process may be pinned to some of them (taskset, cpuset): that
// is its affinity mask. And a container is usually limited by time, not by place: "2 CPUs" is a quota of 200 ms per period of
// 100 ms on any of 64 CPUs. 64 workers would use that up in 3 ms and then stand still for the other 97.

#include "core/cpus.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "core/cgroups.h"

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

unsigned cpus_for(std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
  if (!quota || *quota < 0 || !period || *period <= 0) return no_limit;
  const std::int64_t cpus = *quota / *period + (*quota % *period != 0 ? 1 : 0);
  return static_cast<unsigned>(std::clamp<std::int64_t>(cpus, 1, no_limit));
}

/// "150000 100000" or "max 100000"; of version 1 in two files.
unsigned limit_of(const cgroup_folder& group) {
  if (!group.unified) return cpus_for(group.number("cpu.cfs_quota_us"), group.number("cpu.cfs_period_us"));
  const std::string line = group.first_line("cpu.max");
  const auto blank = std::min(line.find(' '), line.size());
  return cpus_for(number_in(std::string_view{line}.substr(0, blank)), number_in(std::string_view{line}.substr(std::min(blank + 1, line.size()))));
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

unsigned all_cpus() noexcept {
  const long configured = ::sysconf(_SC_NPROCESSORS_CONF);
  return configured > 0 ? static_cast<unsigned>(configured) : 1;
}

unsigned usable_cpus(const cpu_sources& from) {
  unsigned cpus = cpu_mask::of_this_thread(from.affinity).count();
  if (cpus == 0) {
    const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
    cpus = online > 0 ? static_cast<unsigned>(online) : 1;
  }
  for (const cgroup_folder& group : cgroup_folders(from.root, "cpu")) cpus = std::min(cpus, limit_of(group));
  return std::max(cpus, 1u);
}

}  // namespace tartan::detail
