#include "web/file_version.h"

#include <sys/stat.h>

namespace web {

file_version file_version::of(const struct stat& s) noexcept {
  return {s.st_dev, s.st_ino, s.st_size, file_time::of(s.st_mtim), file_time::of(s.st_ctim)};
}

}  // namespace web
