#include "io/shared_files.h"

#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "io/system.h"

namespace tartan::detail {

namespace {

/// Whether two descriptors of one inode share an open file, one of which was made non-blocking here. If the kernel does
/// not tell (a container without kcmp), the flag does: a descriptor that was found blocking shares no file with one that
/// was made non-blocking. One that was found non-blocking is taken to share it: clearing the flag late is harmless,
/// clearing it under an object that needs it is not.
bool is_same_open_file(int one, int other, bool was_blocking) noexcept {
  const auto self = static_cast<unsigned long>(::getpid());
  const auto first = static_cast<unsigned long>(one);
  const long order = ::syscall(SYS_kcmp, self, self, KCMP_FILE, first, static_cast<unsigned long>(other));
  return order < 0 ? !was_blocking : order == 0;
}

}  // namespace

int shared_files::note(int descriptor, bool was_blocking) {
  struct stat about {};
  if (::fstat(descriptor, &about) < 0) return -errno;
  const identity inode{about.st_dev, about.st_ino};
  const auto [first, last] = all_.equal_range(inode);
  for (auto each = first; each != last; ++each) {
    if (!is_same_open_file(each->second.front(), descriptor, was_blocking)) continue;
    each->second.push_back(descriptor);
    return 1;
  }
  if (!was_blocking) return 0;
  all_.emplace(inode, descriptors{descriptor});
  return 1;
}

int shared_files::take(int descriptor) noexcept {
  const std::lock_guard hold{lock_};  // covers the call: whichever object sets the flag must be noted first
  const int was_blocking = system_.unblock(descriptor);
  if (was_blocking < 0 || (was_blocking == 0 && all_.empty())) return was_blocking;
  int noted = -ENOMEM;
  try {
    noted = note(descriptor, was_blocking != 0);
  } catch (const std::bad_alloc&) {
  }
  if (noted < 0 && was_blocking != 0) system_.block(descriptor);
  return noted;
}

std::multimap<shared_files::identity, shared_files::descriptors>::iterator shared_files::find(int descriptor) noexcept {
  const auto has_it = [descriptor](const auto& file) {
    return std::find(file.second.begin(), file.second.end(), descriptor) != file.second.end();
  };
  struct stat about {};
  if (::fstat(descriptor, &about) == 0) {
    const auto [first, last] = all_.equal_range(identity{about.st_dev, about.st_ino});
    if (const auto found = std::find_if(first, last, has_it); found != last) return found;
  }
  // Closed behind our back, and the number may be in use again: forget it, and leave the other file alone.
  if (const auto found = std::find_if(all_.begin(), all_.end(), has_it); found != all_.end()) {
    std::erase(found->second, descriptor);
    if (found->second.empty()) all_.erase(found);
  }
  return all_.end();
}

void shared_files::leave(int descriptor) noexcept {
  const std::lock_guard hold{lock_};
  const auto file = find(descriptor);
  if (file == all_.end()) return;
  file->second.erase(std::find(file->second.begin(), file->second.end(), descriptor));
  if (!file->second.empty()) return;
  system_.block(descriptor);
  all_.erase(file);
}

}  // namespace tartan::detail
