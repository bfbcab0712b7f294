#pragma once
/// Lets one call of the system fail, as the kernel might.

#include <atomic>
#include <string_view>

namespace tartan::test {

/// Every call of the C library by which src/io and src/dns ask the system for something. The linker sends them here first (--wrap,
/// tests/CMakeLists.txt), so that the library is tested as it is.
///
/// Not here, for they cannot fail as they are called: what only works on memory of this program (sigaddset and its like, and
/// posix_spawnattr_setsigmask, _setsigdefault, _setpgroup and _setflags, which store what they are given; inet_pton and
/// inet_ntop, which convert); isatty, whose failure is an answer;
/// and pthread_mutex_lock. Three that are here cannot fail either but for a wrong argument: pthread_sigmask and sigpending, and
/// sigtimedwait except by being interrupted, or because the signal does not wait.
enum class call : unsigned {
  socket, socketpair, pipe2, bind, listen, accept4, connect, shutdown, setsockopt, getsockopt, getsockname, getpeername,
  read, recv, recvmsg, write, writev, send, sendmsg, sendfile, fcntl,
  epoll_create1, eventfd, epoll_ctl, epoll_ctl_del, epoll_wait, epoll_pwait2, select,
  open, close, preadv2, pwritev2, fstat, fsync, fdatasync,
  pthread_sigmask, signalfd, inotify_init1, inotify_add_watch,
  posix_spawnp, posix_spawn_file_actions_init, posix_spawn_file_actions_adddup2, posix_spawn_file_actions_addclosefrom_np,
  posix_spawn_file_actions_addfchdir_np, posix_spawnattr_init, pidfd_open, pidfd_send_signal, waitid, waitpid, kill,
  lstat, unlink, pread, sigpending, sigtimedwait, if_nametoindex, recvmmsg, sendmmsg, poll, stat, kcmp, getrandom, gethostname,
  last = gethostname,
};

[[nodiscard]] std::string_view name_of(call which) noexcept;

/// Which descriptors a call fails for, if it has one and is a read or a write.
enum class strikes {
  all,
  but_wakes,  ///< not those that wake a worker: if these cannot be read or written, the runtime ends the process
};

/// While it lives, one call fails, once or several times in a row: it is not made, and gives the error. Calls of all threads count. One
/// for each call at a time.
class failing_call {
 public:
  /// `before`: how many calls succeed first.
  failing_call(call which, int error, unsigned before, unsigned times = 1, strikes which_ones = strikes::all) noexcept;
  failing_call(const failing_call&) = delete;
  failing_call& operator=(const failing_call&) = delete;
  ~failing_call();

  /// Whether it came so far.
  [[nodiscard]] bool struck() const noexcept;
  /// How many calls came, those that failed too.
  [[nodiscard]] unsigned made() const noexcept;

 private:
  call which_;
  long before_;
};

/// How often a call was made since the program began, whether it failed or not.
[[nodiscard]] unsigned long calls_made(call which) noexcept;

/// For the wrappers: whether this call does not fail, nor count, for a descriptor that wakes a worker.
[[nodiscard]] bool spares_wakes(call which) noexcept;

/// For the wrappers: the error that this call is to give; 0: it is made.
[[nodiscard]] int next_error(call which) noexcept;

}  // namespace tartan::test
