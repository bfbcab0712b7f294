#pragma once
/// Lets one call of the system fail, as the kernel might.

#include <atomic>
#include <string_view>

namespace tartan::test {

/// Every call of the C library that src/io makes. The linker sends them here first (--wrap, tests/CMakeLists.txt), so that the library
/// is tested as it is.
enum class call : unsigned {
  socket, socketpair, pipe2, bind, listen, accept4, connect, shutdown, setsockopt, getsockopt, getsockname, getpeername,
  read, recv, recvmsg, write, writev, send, sendmsg, sendfile, fcntl,
  epoll_create1, eventfd, epoll_ctl, epoll_wait, epoll_pwait2,
  open, close, preadv2, pwritev2, fstat, fsync, fdatasync,
  pthread_sigmask, signalfd, inotify_init1, inotify_add_watch,
  posix_spawnp, pidfd_open, pidfd_send_signal, waitid,
  last = waitid,
};

[[nodiscard]] std::string_view name_of(call which) noexcept;

/// While it lives, one call fails once: it is not made, and gives the error. Calls of all threads count. One at a time.
class failing_call {
 public:
  /// `before`: how many calls succeed first.
  failing_call(call which, int error, unsigned before) noexcept;
  failing_call(const failing_call&) = delete;
  failing_call& operator=(const failing_call&) = delete;
  ~failing_call();

  /// Whether it came so far.
  [[nodiscard]] bool struck() const noexcept;
};

/// For the wrappers: the error that this call is to give; 0: it is made.
[[nodiscard]] int next_error(call which) noexcept;

}  // namespace tartan::test
