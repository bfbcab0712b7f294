#pragma once
/// An eventfd by which threads are woken that wait in a system call for descriptors.

#include <sys/eventfd.h>
#include <tartan/io/file_descriptor.h>
#include <unistd.h>

#include <cstddef>

namespace tartan::detail {

/// The system calls of an event_bell; a test puts failing ones here.
struct bell_calls {
  int (*eventfd)(unsigned, int) = &::eventfd;
  ssize_t (*read)(int, void*, std::size_t) = &::read;
  ssize_t (*write)(int, const void*, std::size_t) = &::write;
};

/// Readable, once it has been rung, until it is silenced; each ring is an edge too.
///
/// Threads: any.
class event_bell {
 public:
  /// Errors: std::system_error.
  explicit event_bell(const bell_calls& calls);

  [[nodiscard]] int descriptor() const noexcept { return held_.get(); }
  /// Leaves errno alone. Async-signal-safe.
  void ring() const noexcept;
  void silence() const noexcept;

 private:
  bell_calls calls_;
  file_descriptor held_;
};

}  // namespace tartan::detail
