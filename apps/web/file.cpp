#include "file.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace web {

bool is_as_long_as(const file& open, std::uint64_t size) noexcept {
  struct statx now{};
  return ::statx(open.descriptor(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_SIZE, &now) != 0 || now.stx_size == size;
}

}  // namespace web
