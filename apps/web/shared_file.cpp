#include "web/shared_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace web {

shared_file::shared_file(file&& opened, const file_version& state, std::string name) noexcept
    : file{std::move(opened)}, name_{std::move(name)}, size_{static_cast<std::uint64_t>(state.size)}, modified_{state.modified} {
  struct statfs where{};
  in_memory_ = ::fstatfs(descriptor(), &where) == 0 && (where.f_type == TMPFS_MAGIC || where.f_type == RAMFS_MAGIC);
  ends_ = read_ends(0);
  if (changed() != change::none) ends_.reset();  // they may be another state's
}

std::optional<shared_file::ends> shared_file::read_ends(int flags) const noexcept {
  ends found{};
  const std::size_t each = std::min<std::uint64_t>(end_bytes, size_);
  const auto is_read = [&](std::size_t to, std::uint64_t first) {
    const iovec part{found.data() + to, each};
    return ::preadv2(descriptor(), &part, 1, static_cast<off_t>(first), flags) == static_cast<ssize_t>(each);
  };
  return is_read(0, 0) && is_read(end_bytes, size_ - each) ? std::optional{found} : std::nullopt;
}

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

bool shared_file::is_of(const file_version& state) const noexcept {
  struct stat now{};
  return ::fstat(descriptor(), &now) == 0 && file_version::of(now) == state;
}

std::optional<bool> shared_file::is_as_promised(int flags) const noexcept {
  const change found = changed();
  if (found != change::longer) return found == change::none;
  const std::optional<ends> now = read_ends(flags);
  if (!now && flags != 0) return std::nullopt;
  return now && now == ends_;
}

tartan::result<std::size_t> shared_file::read_at_hand(std::span<char> into, std::uint64_t first, std::uint64_t brought) const noexcept {
  const auto would_block = std::make_error_code(std::errc::operation_would_block);
  const iovec part{into.data(), into.size()};
  ssize_t got = ::preadv2(descriptor(), &part, 1, static_cast<off_t>(first), in_memory_ ? 0 : RWF_NOWAIT);
  const bool is_unknown = got < 0 && errno == EOPNOTSUPP;
  if (is_unknown) tells_.store(false, std::memory_order_relaxed);
  if (is_unknown && brought != 0) got = ::pread(descriptor(), into.data(), std::min<std::uint64_t>(into.size(), brought), static_cast<off_t>(first));
  if (got < 0) return would_block;
  const bool may_wait = in_memory_ || is_unknown;  // what was brought is taken to be there, and so are the ends
  const std::optional<bool> counts = is_as_promised(may_wait ? 0 : RWF_NOWAIT);
  if (!counts || (got == 0 && *counts)) return would_block;  // Linux before 5.11 gives 0 also for what is not in memory (preadv2(2))
  if (!*counts) return tartan::errc::end_of_stream;
  return static_cast<std::size_t>(got);
}

/// Where nobody can tell what is in memory, all that counts as brought has to be.
std::uint64_t shared_file::bring(std::uint64_t first, std::uint64_t end) const noexcept {
  std::array<char, 16 * 1024> any;
  while (first < end) {
    const ssize_t got = ::pread(descriptor(), any.data(), std::min<std::uint64_t>(any.size(), end - first), static_cast<off_t>(first));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    first += static_cast<std::uint64_t>(got);
  }
  return first;
}

std::uint64_t shared_file::read(std::span<char> into, std::uint64_t first, std::uint64_t most) const noexcept {
  static_cast<void>(::posix_fadvise(descriptor(), static_cast<off_t>(first), static_cast<off_t>(most), POSIX_FADV_WILLNEED));
  if (!read_all(*this, into, first) || !is_as_promised(0).value_or(false)) return 0;
  return tells_.load(std::memory_order_relaxed) ? most : bring(first + into.size(), first + most) - first;
}

}  // namespace web
