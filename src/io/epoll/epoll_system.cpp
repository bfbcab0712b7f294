// Workers sleep in one epoll descriptor together, so that whatever becomes ready reaches an idle one at once and no worker has to be
// appointed to poll: a sole poller that runs a handler would leave ready sockets where only a busy worker can reach them. A call
// through the eventfd costs some 4 us more than a futex, and reaches whichever worker the kernel picks; lifecycle_sleep.cpp says
// how that one takes the place of the one that was meant.
#include "io/epoll/epoll_system.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <string>
#include <system_error>

#include "core/fatal.h"
#include "io/readiness.h"

namespace tartan::detail {

namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};
constexpr std::uint64_t bell_mark = never;
constexpr std::uint64_t ns_per_s = 1'000'000'000;

/// -errno for -1.
template <class N>
N or_error(N given) noexcept {
  return given >= 0 ? given : static_cast<N>(-errno);
}

/// Blocks SIGPIPE in this thread: only sockets have a flag against it, and what is right for the whole process is the program's to say.
class pipe_signal_held {
 public:
  pipe_signal_held() noexcept {
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
    if (!was_blocked()) static_cast<void>(::pthread_sigmask(SIG_SETMASK, &before_, nullptr));
  }

  /// Takes the one that the write has raised.
  void consume() noexcept {
    if (was_pending_) return;
    const timespec at_once{};
    while (::sigtimedwait(&only_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }

 private:
  [[nodiscard]] bool was_blocked() const noexcept { return sigismember(&before_, SIGPIPE) == 1; }

  sigset_t only_;
  sigset_t before_;
  bool was_pending_ = false;
};

std::uint32_t bits_of(std::uint32_t events) noexcept {
  using word = readiness<real_memory>;
  std::uint32_t bits = 0;
  if ((events & EPOLLIN) != 0) bits |= word::in;
  if ((events & EPOLLOUT) != 0) bits |= word::out;
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) bits |= word::hung_up;
  return bits;
}

}  // namespace

/// What one worker has collected. A full one means that there may be more.
struct epoll_system::haul {
  std::array<epoll_event, 128> events;
  int count = 0;
};

epoll_system::epoll_system(unsigned workers) {
  const auto refuse = [](const char* call) { throw std::system_error{errno, std::system_category(), call}; };
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) refuse("epoll_create1");
  bell_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event rings{};
  rings.events = EPOLLIN | EPOLLET;
  rings.data.u64 = bell_mark;
  if (bell_ < 0 || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, bell_, &rings) < 0) {
    const int error = errno;
    if (bell_ >= 0) ::close(bell_);
    ::close(epoll_);
    errno = error;
    refuse(bell_ < 0 ? "eventfd" : "epoll_ctl");
  }
  for (unsigned n = 0; n < workers; ++n) hauls_.push_back(std::make_unique<haul>());
}

epoll_system::~epoll_system() {
  ::close(bell_);
  ::close(epoll_);
}

/// Gives whether the bell has rung: 1, or 0.
int epoll_system::collect(haul& into, std::uint64_t at_most_ns) noexcept {
  const timespec limit{static_cast<time_t>(at_most_ns / ns_per_s), static_cast<long>(at_most_ns % ns_per_s)};
  const int got = ::epoll_pwait2(epoll_, into.events.data(), static_cast<int>(into.events.size()), at_most_ns == never ? nullptr : &limit,
                                 nullptr);
  if (got < 0 && errno != EINTR) fatal({"epoll_pwait2 failed with errno ", std::to_string(errno), "; workers cannot sleep here"});
  into.count = got > 0 ? got : 0;
  for (int n = 0; n < into.count; ++n) {
    auto& each = into.events[static_cast<std::size_t>(n)];
    if (each.data.u64 != bell_mark) continue;
    each = into.events[static_cast<std::size_t>(--into.count)];
    return 1;
  }
  return 0;
}

readiness_source::ended_by epoll_system::wait(unsigned worker, std::uint64_t at_most_ns) noexcept {
  haul& mine = *hauls_[worker];
  if (collect(mine, at_most_ns) != 0) return ended_by::call;
  return mine.count != 0 ? ended_by::readiness : ended_by::time;
}

void epoll_system::call() noexcept {
  const int errno_before = errno;  // a signal handler's caller may be about to read it
  const std::uint64_t one = 1;
  // Never full: 2^64 calls.
  if (::write(bell_, &one, sizeof one) < 0 && errno != EAGAIN) {
    fatal({"write to an eventfd failed with errno ", std::to_string(errno), "; workers cannot be woken"});
  }
  errno = errno_before;
}

bool epoll_system::post(haul& from) noexcept {
  bool posted = false;
  for (int n = 0; n < from.count; ++n) {
    const epoll_event& each = from.events[static_cast<std::size_t>(n)];
    posted = ledger_->ready(each.data.u64, bits_of(each.events)) || posted;
  }
  from.count = 0;
  return posted;
}

bool epoll_system::harvest(unsigned worker) noexcept {
  haul& mine = *hauls_[worker];
  // Taken from a sleeper that it was meant for: it must ring again, there.
  if (collect(mine, 0) != 0) call();
  return post(mine);
}

void epoll_system::deliver(unsigned worker) noexcept { static_cast<void>(post(*hauls_[worker])); }

int epoll_system::watch(int descriptor, std::uint64_t mark) noexcept {
  epoll_event edges{};
  edges.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  edges.data.u64 = mark;
  return or_error(::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &edges));
}

void epoll_system::forget(int descriptor) noexcept {
  // Can fail only if it was never watched.
  static_cast<void>(::epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr));
}

int epoll_system::open_socket(int domain, int type, int protocol) noexcept {
  return or_error(::socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
}
int epoll_system::open_pair(int domain, int type, int ends[2]) noexcept {
  return or_error(::socketpair(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends));
}
int epoll_system::open_pipe(int ends[2]) noexcept { return or_error(::pipe2(ends, O_NONBLOCK | O_CLOEXEC)); }
int epoll_system::bind(int descriptor, const sockaddr* at, socklen_t length) noexcept { return or_error(::bind(descriptor, at, length)); }
int epoll_system::listen(int descriptor, int backlog) noexcept { return or_error(::listen(descriptor, backlog)); }
int epoll_system::accept(int descriptor, sockaddr* peer, socklen_t* length) noexcept {
  return or_error(::accept4(descriptor, peer, length, SOCK_NONBLOCK | SOCK_CLOEXEC));
}
int epoll_system::connect(int descriptor, const sockaddr* to, socklen_t length) noexcept {
  return or_error(::connect(descriptor, to, length));
}
int epoll_system::shut_down(int descriptor, int how) noexcept { return or_error(::shutdown(descriptor, how)); }
int epoll_system::set_option(int descriptor, int level, int name, const void* value, socklen_t length) noexcept {
  return or_error(::setsockopt(descriptor, level, name, value, length));
}
int epoll_system::get_option(int descriptor, int level, int name, void* value, socklen_t* length) noexcept {
  return or_error(::getsockopt(descriptor, level, name, value, length));
}
int epoll_system::local_address(int descriptor, sockaddr* into, socklen_t* length) noexcept {
  return or_error(::getsockname(descriptor, into, length));
}
int epoll_system::peer_address(int descriptor, sockaddr* into, socklen_t* length) noexcept {
  return or_error(::getpeername(descriptor, into, length));
}
ssize_t epoll_system::read(int descriptor, void* into, std::size_t bytes) noexcept { return or_error(::read(descriptor, into, bytes)); }
ssize_t epoll_system::receive(int descriptor, void* into, std::size_t bytes) noexcept { return or_error(::recv(descriptor, into, bytes, 0)); }
ssize_t epoll_system::receive_message(int descriptor, msghdr& message) noexcept {
  return or_error(::recvmsg(descriptor, &message, MSG_CMSG_CLOEXEC));
}
ssize_t epoll_system::write(int descriptor, const iovec* parts, std::size_t count) noexcept {
  pipe_signal_held hold;
  const ssize_t got = or_error(::writev(descriptor, parts, static_cast<int>(count)));
  if (got == -EPIPE) hold.consume();
  return got;
}
ssize_t epoll_system::send(int descriptor, const void* from, std::size_t bytes) noexcept {
  return or_error(::send(descriptor, from, bytes, MSG_NOSIGNAL));
}
ssize_t epoll_system::send_message(int descriptor, const msghdr& message, int flags) noexcept {
  return or_error(::sendmsg(descriptor, &message, flags | MSG_NOSIGNAL));
}
ssize_t epoll_system::send_file(int descriptor, int file, std::int64_t* offset, std::size_t bytes) noexcept {
  static_assert(sizeof(off_t) == sizeof(std::int64_t));
  pipe_signal_held hold;  // it knows no MSG_NOSIGNAL
  const ssize_t got = or_error(::sendfile(descriptor, file, reinterpret_cast<off_t*>(offset), bytes));
  if (got == -EPIPE) hold.consume();
  return got;
}
int epoll_system::unblock(int descriptor) noexcept {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0) return -errno;
  return (flags & O_NONBLOCK) != 0 ? 0 : or_error(::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK));
}
void epoll_system::close(int descriptor) noexcept {
  // Linux has closed it even when it says EINTR.
  static_cast<void>(::close(descriptor));
}

}  // namespace tartan::detail
