#include "memory_here.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string_view>

namespace web {

namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

std::size_t of_machine() noexcept {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : no_limit;
}

/// Its path, without a slash at the end; of version 2, whose line begins so. Empty: the outermost one, or none.
std::string group_in(const std::string& own_group) {
  std::ifstream lines{own_group};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::")) return line == "0::/" ? std::string{} : line.substr(3);
  }
  return {};
}

/// The file says "max", or a number.
std::size_t limit_in(const std::string& file) {
  std::ifstream text{file};
  std::size_t bytes = 0;
  return text >> bytes ? bytes : no_limit;
}

}  // namespace

std::size_t memory_here(const std::string& groups, const std::string& own_group) {
  std::size_t least = of_machine();
  for (std::string group = group_in(own_group);; group.erase(group.rfind('/'))) {
    for (const char* const name : {"/memory.max", "/memory.high"}) least = std::min(least, limit_in(groups + group + name));
    if (group.find('/') == std::string::npos) return least;
  }
}

}  // namespace web
