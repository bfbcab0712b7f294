#include "io/read_now.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>

#include "io/service.h"

namespace tartan::detail {

namespace {

/// A Unix socket's read ends behind each message that brought descriptors. They are lost to who takes bytes alone, but seen.
ssize_t receive_bytes_alone(io_system& system, int descriptor, std::span<std::byte> into, bool& ended_early) noexcept {
  iovec part{into.data(), into.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  const ssize_t got = system.receive_message(descriptor, message);
  ended_early = got > 0 && (message.msg_flags & MSG_CTRUNC) != 0;
  return got;
}

}  // namespace

ssize_t read_any(io_slot& on, channel_kind kind, std::span<std::byte> into) noexcept {
  io_system& system = on.service().system();
  bool ended_early = kind == channel_kind::file;  // what a pipe's or a terminal's short read says is nothing
  ssize_t got = 0;
  do {
    switch (kind) {
      case channel_kind::socket:
        got = system.receive(on.descriptor(), into.data(), into.size());
        break;
      case channel_kind::local_socket:
        got = receive_bytes_alone(system, on.descriptor(), into, ended_early);
        break;
      case channel_kind::file:
        got = system.read(on.descriptor(), into.data(), into.size());
        break;
    }
  } while (got == -EINTR);
  if (got > 0) charge_inline(static_cast<std::size_t>(got));
  // A short read of a socket has emptied it, unless the peer has finished.
  if (got > 0 && static_cast<std::size_t>(got) < into.size() && !ended_early && !on.hung_up()) on.exhausted(flow::in);
  return got;
}

}  // namespace tartan::detail
