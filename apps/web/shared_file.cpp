#include "shared_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cerrno>
#include <system_error>

namespace web {

/// Not by the time of change: that moves when another file takes this one's name.
shared_file::change shared_file::changed() const noexcept {
  struct statx now{};
  if (::statx(descriptor(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_SIZE | STATX_MTIME, &now) != 0) return change::unknown;
  if (now.stx_size > size_) return change::longer;
  return now.stx_size == size_ && file_time{now.stx_mtime.tv_sec, now.stx_mtime.tv_nsec} == modified_ ? change::none : change::other;
}

bool shared_file::is_as_it_was() const noexcept {
  const change found = changed();
  return found == change::none || found == change::unknown;
}

bool shared_file::is_as_promised() const noexcept {
  const change found = changed();
  return found == change::none || found == change::longer;
}

tartan::result<std::size_t> shared_file::read_at_hand(std::span<char> into, std::uint64_t first) const noexcept {
  const iovec part{into.data(), into.size()};
  const ssize_t got = ::preadv2(descriptor(), &part, 1, static_cast<off_t>(first), RWF_NOWAIT);
  if (got < 0) return std::make_error_code(std::errc::operation_would_block);
  if (got == 0 || !is_as_promised()) return tartan::errc::end_of_stream;
  return static_cast<std::size_t>(got);
}

bool shared_file::read(std::span<char> into, std::uint64_t first) const noexcept { return read_all(*this, into, first) && is_as_promised(); }

}  // namespace web
