#include "tests/io_failures/failing_calls.h"

#include <array>

namespace tartan::test {

namespace {

constexpr std::array<std::string_view, static_cast<unsigned>(call::last) + 1> names{
    "socket", "socketpair", "pipe2", "bind", "listen", "accept4", "connect", "shutdown", "setsockopt", "getsockopt", "getsockname",
    "getpeername", "read", "recv", "recvmsg", "write", "writev", "send", "sendmsg", "sendfile", "fcntl", "epoll_create1", "eventfd",
    "epoll_ctl", "epoll_ctl_del", "epoll_wait", "epoll_pwait2", "select", "open", "close", "preadv2", "pwritev2", "fstat", "fsync", "fdatasync",
    "pthread_sigmask", "signalfd", "inotify_init1", "inotify_add_watch", "posix_spawnp", "posix_spawn_file_actions_init",
    "posix_spawn_file_actions_adddup2", "posix_spawn_file_actions_addclosefrom_np", "posix_spawn_file_actions_addfchdir_np",
    "posix_spawnattr_init", "pidfd_open", "pidfd_send_signal", "waitid", "waitpid", "kill", "lstat", "unlink", "pread", "sigpending",
    "sigtimedwait", "if_nametoindex", "recvmmsg", "sendmmsg", "poll", "stat", "kcmp", "getrandom", "gethostname"};
static_assert(!names.back().empty());

/// What becomes of one kind of call.
struct plan {
  std::atomic<unsigned long> made{0};  ///< since the program began
  std::atomic<bool> fails{false};
  std::atomic<bool> spares_wakes{false};
  std::atomic<int> error{0};
  std::atomic<long> left{0};   ///< calls that are made before it fails; negative: that many were made since
  std::atomic<long> times{1};  ///< how often it fails
};
std::array<plan, names.size()> plans;

plan& plan_of(call which) noexcept { return plans[static_cast<unsigned>(which)]; }

}  // namespace

std::string_view name_of(call which) noexcept { return names[static_cast<unsigned>(which)]; }

failing_call::failing_call(call which, int error, unsigned before, unsigned times, strikes which_ones) noexcept
    : which_{which}, before_{before} {
  plan& mine = plan_of(which);
  mine.spares_wakes = which_ones == strikes::but_wakes;
  mine.error = error;
  mine.left = before;
  mine.times = times;
  mine.fails = true;
}

failing_call::~failing_call() { plan_of(which_).fails = false; }

bool failing_call::struck() const noexcept { return plan_of(which_).left < 0; }

unsigned failing_call::made() const noexcept { return static_cast<unsigned>(before_ - plan_of(which_).left); }

unsigned long calls_made(call which) noexcept { return plan_of(which).made.load(std::memory_order_relaxed); }

bool spares_wakes(call which) noexcept { return plan_of(which).spares_wakes; }

int next_error(call which) noexcept {
  plan& its = plan_of(which);
  its.made.fetch_add(1, std::memory_order_relaxed);
  if (!its.fails) return 0;
  const long left = its.left.fetch_sub(1);
  return left <= 0 && -left < its.times ? its.error.load() : 0;
}

}  // namespace tartan::test
