#include "tests/web/failing_disk.h"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "tests/wrapped_syscall.h"

namespace web::test {

namespace {

struct failure {
  int error;
  unsigned from;  ///< the call that fails first
  unsigned to;    ///< the one that succeeds again
  unsigned each;  ///< calls; 0: all
  std::atomic<unsigned> calls{0};
};
std::array<std::atomic<failure*>, disk_calls> all_planned{};
std::atomic<off_t> grown{0};  ///< bytes; 0: as the system says
std::atomic<std::time_t> changed{0};  ///< 0: as the system says

std::atomic<failure*>& planned_of(disk_call which) noexcept { return all_planned[static_cast<unsigned>(which)]; }

unsigned calls_of(disk_call which) noexcept { return planned_of(which).load(std::memory_order_acquire)->calls.load(std::memory_order_relaxed); }

/// The error that this call gives; nothing: it is made.
std::optional<int> error_of(disk_call which) noexcept {
  failure* const plan = planned_of(which).load(std::memory_order_acquire);
  if (plan == nullptr) return std::nullopt;
  const unsigned made = plan->calls.fetch_add(1, std::memory_order_relaxed);
  const unsigned number = plan->each != 0 ? made % plan->each : made;
  if (number < plan->from || number >= plan->to) return std::nullopt;
  return plan->error;
}

}  // namespace

failing_disk::failing_disk(disk_call which, int error, unsigned times, unsigned before, unsigned each) noexcept : which_{which} {
  planned_of(which).store(new failure{error, before, before + times, each}, std::memory_order_release);
}
unsigned failing_disk::calls() const noexcept { return calls_of(which_); }
failing_disk::~failing_disk() { delete planned_of(which_).exchange(nullptr); }

growing_disk::growing_disk() noexcept { grown = 1; }
growing_disk::~growing_disk() { grown = 0; }

files_changed::files_changed(std::chrono::seconds from_now) noexcept { changed = std::time(nullptr) + from_now.count(); }
files_changed::~files_changed() { changed = 0; }

}  // namespace web::test

using web::test::disk_call;
using web::test::error_of;

// The linker makes __wrap_x of a call of x, and x of __real_x. The names are its own.
extern "C" long __wrap_syscall(long number, ...);
extern "C" long __wrap_syscall(long number, ...) {
  if (const std::optional<int> error = number == SYS_openat2 ? error_of(disk_call::openat2) : std::nullopt) {
    errno = *error;
    return -1;
  }
  va_list more;
  va_start(more, number);
  const long given = tartan::test::real_syscall(number, more);
  va_end(more);
  return given;
}

extern "C" int __real_fstat(int file, struct stat* into);
extern "C" int __wrap_fstat(int file, struct stat* into);
extern "C" int __wrap_fstat(int file, struct stat* into) {
  const std::optional<int> error = error_of(disk_call::fstat);
  if (error && *error != 0) {
    errno = *error;
    return -1;
  }
  const int got = __real_fstat(file, into);
  if (error) into->st_size -= web::test::calls_of(disk_call::fstat);
  if (web::test::grown != 0) into->st_size += web::test::grown.fetch_add(1) - 1;
  if (const std::time_t at = web::test::changed; at != 0) into->st_ctim = {at, 0};
  return got;
}

extern "C" ssize_t __real_pread(int file, void* into, size_t bytes, off_t offset);
extern "C" ssize_t __wrap_pread(int file, void* into, size_t bytes, off_t offset);
extern "C" ssize_t __wrap_pread(int file, void* into, size_t bytes, off_t offset) {
  if (const std::optional<int> error = error_of(disk_call::pread)) {
    errno = *error;
    return *error == 0 ? 0 : -1;
  }
  return __real_pread(file, into, bytes, offset);
}

/// One that fails has written a half before.
extern "C" ssize_t __real_pwrite(int file, const void* from, size_t bytes, off_t offset);
extern "C" ssize_t __wrap_pwrite(int file, const void* from, size_t bytes, off_t offset);
extern "C" ssize_t __wrap_pwrite(int file, const void* from, size_t bytes, off_t offset) {
  if (const std::optional<int> error = error_of(disk_call::pwrite)) {
    static_cast<void>(__real_pwrite(file, from, bytes / 2, offset));
    errno = *error;
    return *error == 0 ? static_cast<ssize_t>(bytes / 2) : -1;
  }
  return __real_pwrite(file, from, bytes, offset);
}

extern "C" int __real_memfd_create(const char* name, unsigned flags);
extern "C" int __wrap_memfd_create(const char* name, unsigned flags);
extern "C" int __wrap_memfd_create(const char* name, unsigned flags) {
  if (const std::optional<int> error = error_of(disk_call::memfd_create)) {
    errno = *error;
    return -1;
  }
  return __real_memfd_create(name, flags);
}

extern "C" void* __real_mmap(void* at, size_t bytes, int may, int flags, int file, off_t offset);
extern "C" void* __wrap_mmap(void* at, size_t bytes, int may, int flags, int file, off_t offset);
extern "C" void* __wrap_mmap(void* at, size_t bytes, int may, int flags, int file, off_t offset) {
  if (const std::optional<int> error = error_of(disk_call::mmap)) {
    errno = *error;
    return MAP_FAILED;
  }
  return __real_mmap(at, bytes, may, flags, file, offset);
}

/// And not one of memfd_create.
static bool is_of_a_folder(int file) noexcept {
  std::array<char, 7> name{};
  const ssize_t got = ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), name.data(), name.size());
  return got > 0 && std::string_view{name.data(), static_cast<std::size_t>(got)} != "/memfd:";
}

/// The tests' folder is on a disk, wherever it lies.
extern "C" int __real_fstatfs(int file, struct statfs* into);
extern "C" int __wrap_fstatfs(int file, struct statfs* into);
extern "C" int __wrap_fstatfs(int file, struct statfs* into) {
  const int got = __real_fstatfs(file, into);
  if (got == 0 && is_of_a_folder(file)) into->f_type = EXT4_SUPER_MAGIC;
  return got;
}

extern "C" ssize_t __real_preadv2(int file, const iovec* into, int parts, off_t offset, int flags);
extern "C" ssize_t __wrap_preadv2(int file, const iovec* into, int parts, off_t offset, int flags);
extern "C" ssize_t __wrap_preadv2(int file, const iovec* into, int parts, off_t offset, int flags) {
  if (flags != RWF_NOWAIT) return __real_preadv2(file, into, parts, offset, flags);
  if (const std::optional<int> error = error_of(disk_call::preadv2)) {
    if (*error == 0) return __real_pread(file, into->iov_base, (into->iov_len + 1) / 2, offset);
    errno = *error;
    return -1;
  }
  const ssize_t got = __real_preadv2(file, into, parts, offset, flags);
  const bool is_unknown = got < 0 && errno == EOPNOTSUPP && is_of_a_folder(file);  // the tests' folder may lie where this is not known
  return is_unknown ? __real_preadv2(file, into, parts, offset, 0) : got;
}

extern "C" int __real_statx(int folder, const char* path, int flags, unsigned wanted, struct statx* into);
extern "C" int __wrap_statx(int folder, const char* path, int flags, unsigned wanted, struct statx* into);
extern "C" int __wrap_statx(int folder, const char* path, int flags, unsigned wanted, struct statx* into) {
  const std::optional<int> error = error_of(disk_call::statx);
  const bool is_made = !error || *error == 0 || *error == EOVERFLOW;
  if (!is_made) {
    errno = *error;
    return -1;
  }
  const int got = __real_statx(folder, path, flags, wanted, into);
  if (error && got == 0) into->stx_size = *error == 0 ? into->stx_size - 1 : into->stx_size + 1;
  return got;
}
