#pragma once
/// Where the guard sleeps: the one worker with a time limit, which the others put off as long as they look themselves.

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <ctime>

namespace tartan::detail {

/// The system calls of a guard_bed; a test puts failing ones here.
struct guard_calls {
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
class guard_bed {
 public:
  /// Errors: std::system_error if there are no descriptors for it.
  explicit guard_bed(guard_calls calls = {});
  guard_bed(const guard_bed&) = delete;
  guard_bed& operator=(const guard_bed&) = delete;
  ~guard_bed();

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

  const guard_calls calls_;
  int timer_ = -1;
  int bell_ = -1;
};

}  // namespace tartan::detail
