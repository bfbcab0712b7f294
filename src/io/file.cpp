// A regular file is always ready, and may block for as long as the disk takes: so there is nothing to poll. RWF_NOWAIT tells what lies
// in the cache from what does not, and saves most reads of a server two hops to a blocking thread and back.
#include <tartan/io/file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "core/blocking_pool.h"
#include "core/inline_budget.h"
#include "core/runtime_state.h"

namespace tartan {

namespace detail {

namespace {

/// Bytes that one operation copies on a worker, at most: some 100 us. In one event all of them together copy not much more (inline_budget.h).
constexpr std::size_t most_at_once = std::size_t{1} << 20;

std::error_code last_error() noexcept { return {errno, std::system_category()}; }

}  // namespace

std::int64_t file_transfer::move(bool only_without_blocking) noexcept {
  const std::size_t left = bytes_ - done_;
  const iovec part{data_ + done_, only_without_blocking ? std::min(left, most_at_once) : left};
  const auto offset = static_cast<off_t>(offset_ + done_);
  const int flags = (only_without_blocking ? RWF_NOWAIT : 0) | (way_ == kind::append ? RWF_APPEND : 0);
  return way_ == kind::read ? ::preadv2(descriptor(), &part, 1, offset, flags) : ::pwritev2(descriptor(), &part, 1, offset, flags);
}

bool file_transfer::try_now() noexcept {
  if (!failed() && static_cast<std::int64_t>(offset_) < 0) error_ = std::make_error_code(std::errc::invalid_argument);
  if (failed()) return true;
  while (done_ < bytes_) {
    if (done_ >= most_at_once) return false;
    const std::int64_t got = move(true);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EOPNOTSUPP)) return false;
    if (got < 0) error_ = last_error();
    if (got <= 0) return got < 0 || way_ == kind::read;
    done_ += static_cast<std::size_t>(got);
    charge_inline(static_cast<std::size_t>(got));
  }
  return true;
}

void file_transfer::finish() noexcept {
  while (done_ < bytes_) {
    const std::int64_t got = move(false);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error_ = last_error();
    if (got <= 0) return;
    done_ += static_cast<std::size_t>(got);
  }
}

void file_size::finish() noexcept {
  struct stat about {};
  if (::fstat(descriptor(), &about) < 0) {
    error_ = last_error();
  } else {
    size_ = static_cast<std::uint64_t>(about.st_size);
  }
}

void file_sync::finish() noexcept {
  int got = 0;
  do {
    got = data_only_ ? ::fdatasync(descriptor()) : ::fsync(descriptor());
  } while (got < 0 && errno == EINTR);
  if (got < 0) error_ = last_error();
}

void file_close::finish() noexcept {
  // Others that have it only become fewer: the last one closes it.
  if (on_.use_count() == 1) {
    // That they are fewer does not yet mean that what they did has happened before; the count's change, for this copy, is an acquire.
    const std::shared_ptr<file_descriptor> last = on_;
    error_ = on_->close();
  }
  on_.reset();
}

int file_open::open_now(int flags) const noexcept {
  int descriptor = -1;
  do {
    descriptor = ::open(path_.c_str(), flags, permissions_);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

/// A plain open of a FIFO waits for its other side, of a serial line for the carrier. It would hold a blocking thread,
/// and the end of the run waits for those.
int file_open::open_without_waiting() const noexcept {
  const int descriptor = open_now(flags_ | O_NONBLOCK);
  struct stat about {};
  if (descriptor >= 0) {
    // The flag has no effect on a regular file; clear it for whatever the descriptor is released to.
    const bool is_regular = ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
    if (is_regular) static_cast<void>(::fcntl(descriptor, F_SETFL, flags_ & O_APPEND));
    return descriptor;
  }
  // Another process holds a lease on the file (fcntl(2), F_SETLEASE). Waiting for it is bounded: 45 s by default.
  const bool is_leased = errno == EWOULDBLOCK && ::stat(path_.c_str(), &about) == 0 && S_ISREG(about.st_mode);
  return is_leased ? open_now(flags_) : -1;
}

void file_open::finish() noexcept {
  const int descriptor = open_without_waiting();
  if (descriptor < 0) {
    error_ = last_error();
    return;
  }
  try {
    made_ = std::make_shared<file_descriptor>(descriptor);
  } catch (const std::bad_alloc&) {
    ::close(descriptor);
    error_ = std::make_error_code(std::errc::not_enough_memory);
  }
}

result<file> file_open::take() noexcept {
  if (error_) return error_;
  return file{std::move(made_)};
}

std::error_code start_file_job(runtime_state& rt, blocking_job& job) noexcept {
  try {
    rt.blocking().submit_when_possible(job);
    return {};
  } catch (const std::system_error& e) {
    return e.code();
  } catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
  }
}

}  // namespace detail

result<int> file::release() noexcept {
  if (descriptor_ == nullptr) return errc::closed;
  if (descriptor_.use_count() > 1) return errc::busy;
  const detail::shared_descriptor last = std::move(descriptor_);
  const detail::shared_descriptor after_all_others = last;  // the count's change is an acquire, as in file_close
  return after_all_others->give();
}

int file::native(file_flags how) noexcept {
  const auto has = [how](file_flags flag) { return (static_cast<unsigned>(how) & static_cast<unsigned>(flag)) != 0; };
  const bool writes = has(file_flags::write) || has(file_flags::append);
  int flags = O_CLOEXEC | O_NOCTTY | (writes ? has(file_flags::read) ? O_RDWR : O_WRONLY : O_RDONLY);
  if (has(file_flags::create)) flags |= O_CREAT;
  if (has(file_flags::exclusive)) flags |= O_EXCL;
  if (has(file_flags::truncate)) flags |= O_TRUNC;
  if (has(file_flags::append)) flags |= O_APPEND;
  return flags;
}

}  // namespace tartan
