// sendfile of pages that are not in the cache waits for the disk, and with it all that its worker holds. It has no flag against that,
// but preadv2 has one: a byte tells. What the job has read is not kept anywhere but in the cache, from which sendfile then takes it.
#include "io/read_ahead.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <source_location>
#include <tartan/io/file_operation.h>
#include <utility>

#include "io/service.h"

namespace tartan::detail {

bool is_cached(int file, std::int64_t offset) noexcept {
  std::byte unused{};
  const iovec part{&unused, 1};
  return ::preadv2(file, &part, 1, offset, RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

read_ahead::read_ahead(slot_key for_whom, file_descriptor file, std::int64_t offset, std::size_t bytes) noexcept
    : for_whom_{for_whom}, file_{std::move(file)}, offset_{offset}, bytes_{bytes} {
  run = [](blocking_job& job) noexcept {
    const std::shared_ptr<read_ahead> self = std::move(static_cast<read_ahead&>(job).self_);
    if (self.use_count() != 1) self->finish();  // else who asked is gone
  };
  drop = [](blocking_job& job) noexcept { static_cast<read_ahead&>(job).self_.reset(); };
  site = std::source_location::current();
}

std::shared_ptr<read_ahead> read_ahead::start(io_slot& for_whom, int file, std::int64_t offset, std::size_t bytes) noexcept {
  file_descriptor same{::fcntl(file, F_DUPFD_CLOEXEC, 0)};
  if (same.get() < 0) return nullptr;
  try {
    const slot_key key{&for_whom, for_whom.generation(), for_whom.where()};
    auto job = std::make_shared<read_ahead>(key, std::move(same), offset, bytes);
    job->self_ = job;
    if (!start_file_job(for_whom.service().runtime(), *job)) return job;
    job->self_.reset();
  } catch (const std::bad_alloc&) {
  }
  return nullptr;
}

/// What goes wrong here will go wrong for who sends it, and be told there.
void read_ahead::finish() noexcept {
  std::array<std::byte, std::size_t{16} * 1024> room;
  while (bytes_ != 0) {
    const ssize_t got = ::pread(file_.get(), room.data(), std::min(bytes_, room.size()), offset_);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    offset_ += got;
    bytes_ -= static_cast<std::size_t>(got);
  }
  static_cast<void>(file_.close());
  done_.store(true, std::memory_order_release);  // pairs with is_done
  static_cast<void>(for_whom_.slot->ready(for_whom_.generation, readiness<real_memory>::out));
}

}  // namespace tartan::detail
