#include "common/descriptor_limit.h"

#include <dirent.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace tartan::apps {

std::size_t raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<std::size_t>::max();
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

std::size_t open_descriptors() noexcept {
  constexpr std::size_t standard = 3;
  constexpr std::size_t not_counted = 3;  // ".", "..", and the folder itself
  DIR* const all = ::opendir("/proc/self/fd");
  if (all == nullptr) return standard;
  std::size_t count = 0;
  while (::readdir(all) != nullptr) ++count;
  ::closedir(all);
  return std::max(count, standard + not_counted) - not_counted;
}

}  // namespace tartan::apps
