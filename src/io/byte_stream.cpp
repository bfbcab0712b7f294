#include <tartan/io/byte_stream.h>

#include <sys/socket.h>

#include "io/service.h"

namespace tartan {

result<> socket_stream::shutdown_send() noexcept {
  if (!is_open()) return errc::closed;
  const int error = key().slot->service().system().shut_down(native_handle(), SHUT_WR);
  if (error < 0) return std::error_code{-error, std::system_category()};
  return {};
}

}  // namespace tartan
