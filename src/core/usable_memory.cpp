#include <tartan/core/usable_memory.h>

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/cgroups.h"

namespace tartan::detail {

std::size_t usable_memory_below(const std::string& root) {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  std::size_t bytes = pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : std::numeric_limits<std::size_t>::max();
  for (const cgroup_folder& group : cgroup_folders(root, "memory")) {
    for (const char* const file : {"memory.max", "memory.high", "memory.limit_in_bytes"}) {
      const std::optional<std::int64_t> limit = group.number(file);
      if (limit && *limit >= 0) bytes = std::min(bytes, static_cast<std::size_t>(*limit));
    }
  }
  return bytes;
}

}  // namespace tartan::detail
