#pragma once
/// The one system call of everything that reads a stream.

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <tartan/io/transfer.h>

#include "core/inline_budget.h"
#include "io/service.h"

namespace tartan::detail {

/// Gives how many bytes there were, 0 at the end of the stream, or -errno; not EINTR. Notes if nothing can be left.
[[nodiscard]] ssize_t read_any(io_slot& on, channel_kind kind, std::span<std::byte> into) noexcept;

/// The same, at less cost for a TCP socket.
[[nodiscard]] inline ssize_t read_now(io_slot& on, channel_kind kind, std::span<std::byte> into) noexcept {
  if (kind != channel_kind::socket) [[unlikely]] return read_any(on, kind, into);
  const ssize_t got = on.service().system().receive(on.descriptor(), into.data(), into.size());
  if (got == -EINTR) [[unlikely]] return read_any(on, kind, into);
  if (got > 0) charge_inline(static_cast<std::size_t>(got));
  // A short read of a socket has emptied it, unless the peer has finished.
  if (got > 0 && static_cast<std::size_t>(got) < into.size() && !on.hung_up()) on.exhausted(flow::in);
  return got;
}

}  // namespace tartan::detail
