#include <tartan/io/file_descriptor.h>

#include <unistd.h>

#include <cerrno>

namespace tartan::detail {

std::error_code file_descriptor::close() noexcept {
  if (descriptor_ < 0) return {};
  // Linux has closed it even when it says EINTR.
  if (::close(give()) < 0 && errno != EINTR) return {errno, std::system_category()};
  return {};
}

}  // namespace tartan::detail
