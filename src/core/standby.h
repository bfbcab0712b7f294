#pragma once
/// Where one worker sleeps that leaves what becomes ready to the others.

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <ctime>

namespace tartan::detail {

/// The system calls of a standby; a test puts failing ones here.
struct standby_calls {
  int (*eventfd)(unsigned, int) = &::eventfd;
  int (*timerfd_create)(int, int) = [](int clock, int flags) { return ::timerfd_create(clock, flags); };
  int (*timerfd_settime)(int, int, const itimerspec*, itimerspec*) = &::timerfd_settime;
  int (*ppoll)(pollfd*, nfds_t, const timespec*, const sigset_t*) = &::ppoll;
  ssize_t (*read)(int, void*, std::size_t) = &::read;
  ssize_t (*write)(int, const void*, std::size_t) = &::write;
  int (*close)(int) = &::close;
};

/// A timer that others may set while somebody sleeps at it, and a bell.
///
/// Threads: any; one waits at a time.
class standby {
 public:
  explicit standby(standby_calls calls = {}) noexcept;
  standby(const standby&) = delete;
  standby& operator=(const standby&) = delete;
  ~standby();

  /// Whether there were descriptors for it.
  [[nodiscard]] bool is_open() const noexcept { return timer_ >= 0; }

  /// Blocks until the timer goes off, somebody calls, or so much time has passed; never_ns: no limit. True: the timer. It may return
  /// early for no reason.
  [[nodiscard]] bool wait(std::uint64_t at_most_ns) noexcept;

  /// Ends the wait, or the next one. Async-signal-safe.
  void call() noexcept;

  /// Sets the timer, by CLOCK_MONOTONIC; 0: it does not go off.
  ///
  /// Cost: a system call; in a virtual machine 4 us.
  void set(std::uint64_t at_ns) noexcept;

 private:
  [[nodiscard]] bool drain(int descriptor) noexcept;

  const standby_calls calls_;
  int timer_ = -1;
  int bell_ = -1;
};

}  // namespace tartan::detail
