#include "io/kernel_system.h"

#include <poll.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <span>

namespace tartan::detail {

namespace {

/// -errno for -1.
template <class N>
N or_error(N given) noexcept {
  return given >= 0 ? given : static_cast<N>(-errno);
}

/// Blocks SIGPIPE in this thread: only sockets have a flag against it, and what is right for the whole process is the program's to say.
class pipe_signal_held {
 public:
  /// Does nothing if not `needed`.
  explicit pipe_signal_held(bool needed) noexcept : holds_{needed} {
    if (!holds_) return;
    sigemptyset(&only_);
    sigaddset(&only_, SIGPIPE);
    static_cast<void>(::pthread_sigmask(SIG_BLOCK, &only_, &before_));
    if (!was_blocked()) return;
    sigset_t pending;
    was_pending_ = ::sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
  }
  pipe_signal_held(const pipe_signal_held&) = delete;
  pipe_signal_held& operator=(const pipe_signal_held&) = delete;
  ~pipe_signal_held() {
    if (holds_ && !was_blocked()) static_cast<void>(::pthread_sigmask(SIG_SETMASK, &before_, nullptr));
  }

  /// Takes the one that the write has raised, if any. One that has moved a part may have met the reset behind it, and does not say so.
  void consume_after(ssize_t moved, std::size_t asked) noexcept {
    const bool all = moved >= 0 && static_cast<std::size_t>(moved) == asked;
    if (!holds_ || was_pending_ || all || (moved < 0 && moved != -EPIPE)) return;
    const timespec at_once{};
    while (::sigtimedwait(&only_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }

 private:
  [[nodiscard]] bool was_blocked() const noexcept { return sigismember(&before_, SIGPIPE) == 1; }

  bool holds_;
  sigset_t only_;
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace

int kernel_system::open_socket(int domain, int type, int protocol) noexcept {
  return or_error(::socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
}
int kernel_system::open_pair(int domain, int type, int ends[2]) noexcept {
  return or_error(::socketpair(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends));
}
int kernel_system::open_pipe(int ends[2]) noexcept { return or_error(::pipe2(ends, O_NONBLOCK | O_CLOEXEC)); }
int kernel_system::bind(int descriptor, const sockaddr* at, socklen_t length) noexcept { return or_error(::bind(descriptor, at, length)); }
int kernel_system::listen(int descriptor, int backlog) noexcept { return or_error(::listen(descriptor, backlog)); }
int kernel_system::accept(int descriptor, sockaddr* peer, socklen_t* length) noexcept {
  return or_error(::accept4(descriptor, peer, length, SOCK_NONBLOCK | SOCK_CLOEXEC));
}
int kernel_system::connect(int descriptor, const sockaddr* to, socklen_t length) noexcept {
  return or_error(::connect(descriptor, to, length));
}
int kernel_system::shut_down(int descriptor, int how) noexcept { return or_error(::shutdown(descriptor, how)); }
int kernel_system::set_option(int descriptor, int level, int name, const void* value, socklen_t length) noexcept {
  return or_error(::setsockopt(descriptor, level, name, value, length));
}
int kernel_system::get_option(int descriptor, int level, int name, void* value, socklen_t* length) noexcept {
  return or_error(::getsockopt(descriptor, level, name, value, length));
}
int kernel_system::local_address(int descriptor, sockaddr* into, socklen_t* length) noexcept {
  return or_error(::getsockname(descriptor, into, length));
}
int kernel_system::peer_address(int descriptor, sockaddr* into, socklen_t* length) noexcept {
  return or_error(::getpeername(descriptor, into, length));
}
ssize_t kernel_system::read(int descriptor, void* into, std::size_t bytes) noexcept { return or_error(::read(descriptor, into, bytes)); }
ssize_t kernel_system::receive(int descriptor, void* into, std::size_t bytes) noexcept { return or_error(::recv(descriptor, into, bytes, 0)); }
ssize_t kernel_system::receive_message(int descriptor, msghdr& message) noexcept {
  return or_error(::recvmsg(descriptor, &message, MSG_CMSG_CLOEXEC));
}
ssize_t kernel_system::write(int descriptor, const iovec* parts, std::size_t count) noexcept {
  pipe_signal_held hold{holds_pipe_signal_};
  const ssize_t got = or_error(::writev(descriptor, parts, static_cast<int>(count)));
  std::size_t asked = 0;
  for (const iovec& each : std::span{parts, count}) asked += each.iov_len;
  hold.consume_after(got, asked);
  return got;
}
ssize_t kernel_system::send(int descriptor, const void* from, std::size_t bytes) noexcept {
  return or_error(::send(descriptor, from, bytes, MSG_NOSIGNAL));
}
ssize_t kernel_system::send_message(int descriptor, const msghdr& message, int flags) noexcept {
  return or_error(::sendmsg(descriptor, &message, flags | MSG_NOSIGNAL));
}
ssize_t kernel_system::send_file(int descriptor, int file, std::int64_t* offset, std::size_t bytes) noexcept {
  static_assert(sizeof(off_t) == sizeof(std::int64_t));
  pipe_signal_held hold{holds_pipe_signal_};  // it knows no MSG_NOSIGNAL
  const ssize_t got = or_error(::sendfile(descriptor, file, reinterpret_cast<off_t*>(offset), bytes));
  hold.consume_after(got, bytes);
  return got;
}
int kernel_system::receive_messages(int descriptor, mmsghdr* messages, unsigned count) noexcept {
  return or_error(::recvmmsg(descriptor, messages, count, MSG_CMSG_CLOEXEC, nullptr));
}
int kernel_system::send_messages(int descriptor, mmsghdr* messages, unsigned count) noexcept {
  return or_error(::sendmmsg(descriptor, messages, count, MSG_NOSIGNAL));
}
int kernel_system::unblock(int descriptor) noexcept {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0) return -errno;
  if ((flags & O_NONBLOCK) != 0) return 0;
  return ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 1;
}
void kernel_system::block(int descriptor) noexcept {
  // Fails only if the number was closed behind our back.
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags >= 0) static_cast<void>(::fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK));
}
int kernel_system::duplicate(int descriptor) noexcept { return or_error(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)); }
int kernel_system::is_ready(int descriptor, flow way, int lent) noexcept {
  const auto wanted = static_cast<short>(way == flow::in ? POLLIN | POLLRDHUP : POLLOUT);
  pollfd both[] = {{descriptor, wanted, 0}, {lent, 0, 0}};
  int got = 0;
  do {
    got = ::poll(both, 2, 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return -errno;
  if ((both[1].revents & POLLNVAL) != 0) return -EBADF;
  return both[0].revents != 0 ? 1 : 0;
}
void kernel_system::close(int descriptor) noexcept {
  // Linux has closed it even when it says EINTR.
  static_cast<void>(::close(descriptor));
}

}  // namespace tartan::detail
