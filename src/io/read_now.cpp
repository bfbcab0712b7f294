#include "io/read_now.h"

#include <cerrno>

#include "io/service.h"

namespace tartan::detail {

ssize_t read_now(io_slot& on, channel_kind kind, std::span<std::byte> into) noexcept {
  io_system& system = on.service().system();
  ssize_t got = 0;
  do {
    got = kind == channel_kind::file ? system.read(on.descriptor(), into.data(), into.size())
                                     : system.receive(on.descriptor(), into.data(), into.size());
  } while (got == -EINTR);
  // A short read of a socket has emptied it, unless the peer has finished; a pipe's or a terminal's says nothing.
  if (kind == channel_kind::socket && got > 0 && static_cast<std::size_t>(got) < into.size() && !on.hung_up()) on.exhausted(flow::in);
  return got;
}

}  // namespace tartan::detail
