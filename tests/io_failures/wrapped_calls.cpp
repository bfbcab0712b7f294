// The linker makes __wrap_x of a call of x, and x of __real_x. The names are its own.
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdarg>
#include <limits>
#include <string_view>

#include "tests/io_failures/failing_calls.h"
#include "tests/wrapped_syscall.h"

using tartan::test::call;
using tartan::test::next_error;
using tartan::test::spares_wakes;

// NAME, what it gives, its parameters, its arguments: fails with -1 and errno.
#define TARTAN_WRAP(name, gives, parameters, arguments)        \
  extern "C" gives __real_##name parameters;                   \
  extern "C" gives __wrap_##name parameters;                   \
  extern "C" gives __wrap_##name parameters {                  \
    if (const int error = next_error(call::name); error != 0) { \
      errno = error;                                           \
      return -1;                                               \
    }                                                          \
    return __real_##name arguments;                            \
  }

// Within a call that may be made anywhere, also in an allocator or a signal handler: no memory from outside its own frame, and errno as it was.
static bool wakes_a_worker(int fd) {
  constexpr std::string_view folder = "/proc/self/fd/";
  std::array<char, folder.size() + std::numeric_limits<int>::digits10 + 3> path{};  // a digit more, a sign, and the end
  std::to_chars(std::copy(folder.begin(), folder.end(), path.begin()), path.end() - 1, fd);
  std::array<char, 32> link{};
  const int errno_before = errno;
  static_cast<void>(readlink(path.data(), link.data(), link.size() - 1));
  errno = errno_before;
  const std::string_view is{link.data()};
  return is == "anon_inode:[eventfd]" || is == "anon_inode:[timerfd]";
}

// As TARTAN_WRAP; what wakes a worker may be spared.
#define TARTAN_WRAP_OF_SOME(name, gives, parameters, arguments)                                        \
  extern "C" gives __real_##name parameters;                                                           \
  extern "C" gives __wrap_##name parameters;                                                           \
  extern "C" gives __wrap_##name parameters {                                                          \
    const bool spared = spares_wakes(call::name) && wakes_a_worker(fd);                                 \
    if (const int error = spared ? 0 : next_error(call::name); error != 0) {                            \
      errno = error;                                                                                   \
      return -1;                                                                                       \
    }                                                                                                  \
    return __real_##name arguments;                                                                    \
  }

TARTAN_WRAP(socket, int, (int domain, int type, int protocol), (domain, type, protocol))
TARTAN_WRAP(socketpair, int, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends))
TARTAN_WRAP(pipe2, int, (int ends[2], int flags), (ends, flags))
TARTAN_WRAP(bind, int, (int fd, const sockaddr* at, socklen_t size), (fd, at, size))
TARTAN_WRAP(listen, int, (int fd, int backlog), (fd, backlog))
TARTAN_WRAP(accept4, int, (int fd, sockaddr* peer, socklen_t* size, int flags), (fd, peer, size, flags))
TARTAN_WRAP(connect, int, (int fd, const sockaddr* to, socklen_t size), (fd, to, size))
TARTAN_WRAP(shutdown, int, (int fd, int how), (fd, how))
TARTAN_WRAP(setsockopt, int, (int fd, int level, int name, const void* value, socklen_t size), (fd, level, name, value, size))
TARTAN_WRAP(getsockopt, int, (int fd, int level, int name, void* value, socklen_t* size), (fd, level, name, value, size))
TARTAN_WRAP(getsockname, int, (int fd, sockaddr* into, socklen_t* size), (fd, into, size))
TARTAN_WRAP(getpeername, int, (int fd, sockaddr* into, socklen_t* size), (fd, into, size))
TARTAN_WRAP(recv, ssize_t, (int fd, void* into, size_t bytes, int flags), (fd, into, bytes, flags))
TARTAN_WRAP(recvmsg, ssize_t, (int fd, msghdr* message, int flags), (fd, message, flags))
TARTAN_WRAP_OF_SOME(read, ssize_t, (int fd, void* into, size_t bytes), (fd, into, bytes))
TARTAN_WRAP_OF_SOME(write, ssize_t, (int fd, const void* from, size_t bytes), (fd, from, bytes))
TARTAN_WRAP(writev, ssize_t, (int fd, const iovec* parts, int count), (fd, parts, count))
TARTAN_WRAP(send, ssize_t, (int fd, const void* from, size_t bytes, int flags), (fd, from, bytes, flags))
TARTAN_WRAP(sendmsg, ssize_t, (int fd, const msghdr* message, int flags), (fd, message, flags))
TARTAN_WRAP(epoll_create1, int, (int flags), (flags))
TARTAN_WRAP(eventfd, int, (unsigned initial, int flags), (initial, flags))
TARTAN_WRAP(epoll_wait, int, (int epoll, epoll_event* into, int room, int limit), (epoll, into, room, limit))
TARTAN_WRAP(epoll_pwait2, int, (int epoll, epoll_event* into, int room, const timespec* limit, const sigset_t* mask),
            (epoll, into, room, limit, mask))
TARTAN_WRAP(select, int, (int upto, fd_set* in, fd_set* out, fd_set* urgent, timeval* limit), (upto, in, out, urgent, limit))
TARTAN_WRAP(preadv2, ssize_t, (int fd, const iovec* parts, int count, off_t at, int flags), (fd, parts, count, at, flags))
TARTAN_WRAP(pwritev2, ssize_t, (int fd, const iovec* parts, int count, off_t at, int flags), (fd, parts, count, at, flags))
TARTAN_WRAP(fstat, int, (int fd, struct stat* into), (fd, into))
TARTAN_WRAP(fsync, int, (int fd), (fd))
TARTAN_WRAP(fdatasync, int, (int fd), (fd))
TARTAN_WRAP(signalfd, int, (int fd, const sigset_t* mask, int flags), (fd, mask, flags))
TARTAN_WRAP(inotify_init1, int, (int flags), (flags))
TARTAN_WRAP(inotify_add_watch, int, (int fd, const char* path, uint32_t mask), (fd, path, mask))
TARTAN_WRAP(waitpid, pid_t, (pid_t id, int* status, int flags), (id, status, flags))
TARTAN_WRAP(kill, int, (pid_t id, int signal), (id, signal))
TARTAN_WRAP(lstat, int, (const char* path, struct stat* into), (path, into))
TARTAN_WRAP(unlink, int, (const char* path), (path))
TARTAN_WRAP(pread, ssize_t, (int fd, void* into, size_t bytes, off_t at), (fd, into, bytes, at))
TARTAN_WRAP(recvmmsg, int, (int fd, mmsghdr* messages, unsigned count, int flags, timespec* limit),
            (fd, messages, count, flags, limit))
TARTAN_WRAP(sendmmsg, int, (int fd, mmsghdr* messages, unsigned count, int flags), (fd, messages, count, flags))
TARTAN_WRAP(poll, int, (pollfd * all, nfds_t count, int limit), (all, count, limit))
TARTAN_WRAP(stat, int, (const char* path, struct stat* into), (path, into))
TARTAN_WRAP(getrandom, ssize_t, (void* into, size_t bytes, unsigned flags), (into, bytes, flags))
TARTAN_WRAP(gethostname, int, (char* into, size_t bytes), (into, bytes))
TARTAN_WRAP(sigpending, int, (sigset_t * into), (into))
TARTAN_WRAP(sigtimedwait, int, (const sigset_t* which, siginfo_t* about, const timespec* limit), (which, about, limit))
TARTAN_WRAP(waitid, int, (idtype_t kind, id_t id, siginfo_t* into, int flags), (kind, id, into, flags))

// Three of them below hand on arguments that were perhaps not given, as the C library's own do: on x86-64 that reads a register or a word
// of the stack, which AddressSanitizer would take for a mistake.

// What is watched can always be forgotten: a call of its own.
extern "C" int __real_epoll_ctl(int epoll, int what, int fd, epoll_event* event);
extern "C" int __wrap_epoll_ctl(int epoll, int what, int fd, epoll_event* event);
extern "C" int __wrap_epoll_ctl(int epoll, int what, int fd, epoll_event* event) {
  if (const int error = next_error(what == EPOLL_CTL_DEL ? call::epoll_ctl_del : call::epoll_ctl); error != 0) {
    errno = error;
    return -1;
  }
  return __real_epoll_ctl(epoll, what, fd, event);
}

// Linux closes in any case.
extern "C" int __real_close(int fd);
extern "C" int __wrap_close(int fd);
extern "C" int __wrap_close(int fd) {
  const int error = next_error(call::close);
  const int got = __real_close(fd);
  if (error == 0) return got;
  errno = error;
  return -1;
}

extern "C" int __real_fcntl(int fd, int what, ...);
extern "C" int __wrap_fcntl(int fd, int what, ...);
extern "C" [[gnu::no_sanitize_address]] int __wrap_fcntl(int fd, int what, ...) {
  if (const int error = next_error(call::fcntl); error != 0) {
    errno = error;
    return -1;
  }
  va_list more;
  va_start(more, what);
  const long argument = va_arg(more, long);
  va_end(more);
  return __real_fcntl(fd, what, argument);
}

extern "C" int __real_open(const char* path, int flags, ...);
extern "C" int __wrap_open(const char* path, int flags, ...);
extern "C" [[gnu::no_sanitize_address]] int __wrap_open(const char* path, int flags, ...) {
  if (const int error = next_error(call::open); error != 0) {
    errno = error;
    return -1;
  }
  va_list more;
  va_start(more, flags);
  const mode_t permissions = va_arg(more, mode_t);
  va_end(more);
  return __real_open(path, flags, permissions);
}

// ESTRPIPE: a reset comes in the middle. The kernel then gives what was moved before, and raises SIGPIPE all the same.
extern "C" ssize_t __real_sendfile(int to, int from, off_t* offset, size_t bytes);
extern "C" ssize_t __wrap_sendfile(int to, int from, off_t* offset, size_t bytes);
extern "C" ssize_t __wrap_sendfile(int to, int from, off_t* offset, size_t bytes) {
  const int error = next_error(call::sendfile);
  if (error == ESTRPIPE) {
    const ssize_t moved = __real_sendfile(to, from, offset, bytes / 2);
    if (moved > 0) static_cast<void>(::raise(SIGPIPE));
    return moved;
  }
  if (error == 0) return __real_sendfile(to, from, offset, bytes);
  errno = error;
  return -1;
}

// The core makes others by it: all arguments are handed on.
extern "C" long __wrap_syscall(long number, ...);
extern "C" long __wrap_syscall(long number, ...) {
  int error = 0;
  if (number == SYS_pidfd_open) error = next_error(call::pidfd_open);
  if (number == SYS_pidfd_send_signal) error = next_error(call::pidfd_send_signal);
  if (number == SYS_kcmp) error = next_error(call::kcmp);
  if (error != 0) {
    errno = error;
    return -1;
  }
  va_list more;
  va_start(more, number);
  const long given = tartan::test::real_syscall(number, more);
  va_end(more);
  return given;
}

// These give the error itself.
#define TARTAN_WRAP_ERROR(name, parameters, arguments)                                  \
  extern "C" int __real_##name parameters;                                              \
  extern "C" int __wrap_##name parameters;                                              \
  extern "C" int __wrap_##name parameters {                                             \
    if (const int error = next_error(call::name); error != 0) return error;            \
    return __real_##name arguments;                                                     \
  }

TARTAN_WRAP_ERROR(pthread_sigmask, (int how, const sigset_t* set, sigset_t* before), (how, set, before))
TARTAN_WRAP_ERROR(posix_spawn_file_actions_init, (posix_spawn_file_actions_t * actions), (actions))
TARTAN_WRAP_ERROR(posix_spawn_file_actions_adddup2, (posix_spawn_file_actions_t * actions, int fd, int becomes), (actions, fd, becomes))
TARTAN_WRAP_ERROR(posix_spawn_file_actions_addclosefrom_np, (posix_spawn_file_actions_t * actions, int from), (actions, from))
TARTAN_WRAP_ERROR(posix_spawn_file_actions_addfchdir_np, (posix_spawn_file_actions_t * actions, int fd), (actions, fd))
TARTAN_WRAP_ERROR(posix_spawnattr_init, (posix_spawnattr_t * attributes), (attributes))
TARTAN_WRAP_ERROR(posix_spawnp,
                  (pid_t * id, const char* file, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                   char* const arguments[], char* const environment[]),
                  (id, file, actions, attributes, arguments, environment))

// And this one gives 0.
extern "C" unsigned __real_if_nametoindex(const char* name);
extern "C" unsigned __wrap_if_nametoindex(const char* name);
extern "C" unsigned __wrap_if_nametoindex(const char* name) {
  const int error = next_error(call::if_nametoindex);
  if (error == 0) return __real_if_nametoindex(name);
  errno = error;
  return 0;
}
