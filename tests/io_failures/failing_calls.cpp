#include "tests/io_failures/failing_calls.h"

#include <array>

namespace tartan::test {

namespace {

constexpr std::array<std::string_view, static_cast<unsigned>(call::last) + 1> names{
    "socket", "socketpair", "pipe2", "bind", "listen", "accept4", "connect", "shutdown", "setsockopt", "getsockopt", "getsockname",
    "getpeername", "read", "recv", "recvmsg", "write", "writev", "send", "sendmsg", "sendfile", "fcntl", "epoll_create1", "eventfd",
    "epoll_ctl", "epoll_wait", "epoll_pwait2", "open", "close", "preadv2", "pwritev2", "fstat", "fsync", "fdatasync", "pthread_sigmask",
    "signalfd", "inotify_init1", "inotify_add_watch", "posix_spawnp", "pidfd_open", "pidfd_send_signal", "waitid"};
static_assert(!names.back().empty());

constexpr int nothing = -1;
std::atomic<int> chosen{nothing};
std::atomic<int> error_to_give{0};
std::atomic<long> left{0};

}  // namespace

std::string_view name_of(call which) noexcept { return names[static_cast<unsigned>(which)]; }

failing_call::failing_call(call which, int error, unsigned before) noexcept {
  error_to_give = error;
  left = before;
  chosen = static_cast<int>(which);
}

failing_call::~failing_call() { chosen = nothing; }

bool failing_call::struck() const noexcept { return left < 0; }

int next_error(call which) noexcept {
  if (chosen != static_cast<int>(which)) return 0;
  return left.fetch_sub(1) == 0 ? error_to_give.load() : 0;
}

}  // namespace tartan::test
