#pragma once
/// The one system call of everything that reads a stream.

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <tartan/io/transfer.h>

namespace tartan::detail {

/// Gives how many bytes there were, 0 at the end of the stream, or -errno; not EINTR. Notes if nothing can be left.
[[nodiscard]] ssize_t read_now(io_slot& on, channel_kind kind, std::span<std::byte> into) noexcept;

}  // namespace tartan::detail
