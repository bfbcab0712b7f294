#include <tartan/io/byte_stream.h>

#include <sys/socket.h>

#include "io/service.h"

namespace tartan {

result<> socket_stream::shutdown_send(std::source_location site) noexcept {
  if (!check(site)) return errc::closed;
  const int error = key().slot->service().system().shut_down(native_handle(), SHUT_WR);
  if (error < 0) return detail::system_error(error);
  return {};
}

result<> socket_stream::set_receive_buffer(int bytes) noexcept { return set_option(SOL_SOCKET, SO_RCVBUF, bytes); }
result<> socket_stream::set_send_buffer(int bytes) noexcept { return set_option(SOL_SOCKET, SO_SNDBUF, bytes); }

}  // namespace tartan
