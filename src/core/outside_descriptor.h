#pragma once
/// How another event loop learns that a runtime has something to do.

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>

#include "core/memory.h"
#include "core/sleep/poller.h"

namespace tartan::detail {

/// The system calls of an outside_descriptor; a test puts failing ones here.
struct descriptor_calls {
  int (*eventfd)(unsigned, int) = &::eventfd;
  int (*timerfd_create)(int, int) = [](int clock, int flags) { return ::timerfd_create(clock, flags); };
  int (*timerfd_settime)(int, int, const itimerspec*, itimerspec*) = &::timerfd_settime;
  int (*epoll_create)(int) = &::epoll_create1;
  int (*epoll_ctl)(int, int, int, epoll_event*) = &::epoll_ctl;
  ssize_t (*read)(int, void*, std::size_t) = &::read;
  ssize_t (*write)(int, const void*, std::size_t) = &::write;
  int (*close)(int) = &::close;
};

/// One descriptor that is readable from signal() to clear(), and from a time on: an epoll descriptor around an eventfd and a timerfd.
///
/// It is made when it is first asked for; until then everything but get() costs a load.
/// Threads: any.
class outside_descriptor {
 public:
  explicit outside_descriptor(descriptor_calls calls = {}) noexcept : calls_{calls} {}
  outside_descriptor(const outside_descriptor&) = delete;
  outside_descriptor& operator=(const outside_descriptor&) = delete;
  ~outside_descriptor();

  /// The descriptor. A new one is readable: what happened before it existed was not kept.
  ///
  /// Errors: std::system_error.
  [[nodiscard]] int get();

  /// Makes it readable. Async-signal-safe.
  ///
  /// Order: what the caller published before is seen by whoever looks after the clear() that ends this signal.
  /// Cost: a read-modify-write; a system call only if it was not signalled.
  void signal() noexcept;

  /// Makes it unreadable; whoever calls it must look at every source afterwards. A timer that is still to come stays armed.
  void clear() noexcept;

  /// Makes it readable from this time of CLOCK_MONOTONIC on; never_ns: not by time.
  void arm_timer(std::uint64_t deadline_ns) noexcept;

  /// The same, unless it is armed for an earlier time already: for timers set while nobody runs the runtime.
  void arm_timer_earlier(std::uint64_t deadline_ns) noexcept;

  /// Makes it readable also while this descriptor is, until forget(). Threads: any, after get(). Twice is the same as once.
  void watch(int descriptor) noexcept;
  void forget(int descriptor) noexcept;

 private:
  void make();
  void set_timer(std::uint64_t deadline_ns) noexcept;
  void write_event(int descriptor) noexcept;
  bool drain(int descriptor, const char* name) noexcept;

  const descriptor_calls calls_;
  real_memory::atomic<int> event_{-1};          // set once, when all three exist
  real_memory::atomic<bool> signalled_{false};  // the eventfd was written since the last clear, or is about to be
  std::mutex lock_;                             // guards the rest
  int timer_ = -1;
  int epoll_ = -1;
  std::uint64_t armed_ns_ = never_ns;
};

}  // namespace tartan::detail
