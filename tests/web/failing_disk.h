#pragma once
/// Lets the calls by which the web server reads files, and keeps what it has read, fail, as the kernel might. The linker sends them here first (--wrap,
/// tests/CMakeLists.txt), so that the server is tested as it is.

#include <chrono>

namespace web::test {

enum class disk_call : unsigned { openat2, fstat, pread, pwrite, memfd_create, mmap, preadv2, statx };
inline constexpr unsigned disk_calls = 8;

/// While it lives, one call fails `times` times: it is not made, and gives the error; 0: pread finds the end of the file, fstat a file that is shorter, by a
/// byte more at each call, statx one shorter by a byte (EOVERFLOW: longer), and preadv2 the first half of what it is asked for. A preadv2 that may wait
/// never fails. A pwrite has written a half before, and with 0 says so. Calls of all threads count. One at a time of each.
class failing_disk {
 public:
  /// `before`: how many calls succeed first. `each`: so it goes again each so many calls; 0: never again.
  failing_disk(disk_call which, int error, unsigned times = 1, unsigned before = 0, unsigned each = 0) noexcept;
  failing_disk(const failing_disk&) = delete;
  failing_disk& operator=(const failing_disk&) = delete;
  ~failing_disk();
  /// That were made or failed, so far; with `times` 0 they are only counted.
  [[nodiscard]] unsigned calls() const noexcept;

 private:
  disk_call which_;
};

/// While it lives, fstat finds a file longer by a byte each time. One at a time.
class growing_disk {
 public:
  growing_disk() noexcept;
  growing_disk(const growing_disk&) = delete;
  growing_disk& operator=(const growing_disk&) = delete;
  ~growing_disk();
};

/// While it lives, every file was last changed at this time from now on the wall. One at a time.
class files_changed {
 public:
  explicit files_changed(std::chrono::seconds from_now) noexcept;
  files_changed(const files_changed&) = delete;
  files_changed& operator=(const files_changed&) = delete;
  ~files_changed();
};

}  // namespace web::test
