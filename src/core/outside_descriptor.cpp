// Another loop can wait for a descriptor, not for a futex or a timer wheel. An eventfd says "something was posted"; it would have
// to be written at every post, so a flag remembers that it was. A timerfd says "a timer is due". An epoll descriptor that holds
// both is readable when either is, and is one number to hand out.
//
// The race is between a post that finds the flag set, and so writes nothing, and a clear() that is about to reset it. clear()
// empties the eventfd first and resets the flag after it, and its caller looks at posts and timers last: whoever found the flag set
// published before the reset, so the look finds what it published. The other way round, the flag would be set and the
// eventfd empty: no post would ever be seen again.

#include "core/outside_descriptor.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string>
#include <system_error>
#include <utility>

#include "core/fatal.h"

namespace tartan::detail {

namespace {

[[noreturn]] void lost(const char* call, int error) noexcept {
  fatal({"the descriptor for other event loops does not work any more: ", call, ": ",
         std::system_category().message(error), " (did the program close a descriptor that was not its own?)"});
}

/// Closes what was opened if not all could be.
class opened {
 public:
  opened(const descriptor_calls& calls, int descriptor, const char* call) : calls_{calls}, descriptor_{descriptor} {
    if (descriptor < 0) {
      throw std::system_error{errno, std::system_category(), std::string{"tartan: runtime::descriptor: "} + call};
    }
  }
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;
  ~opened() {
    if (descriptor_ >= 0) static_cast<void>(calls_.close(descriptor_));  // Linux has closed it whatever it says
  }
  [[nodiscard]] int number() const noexcept { return descriptor_; }
  int keep() noexcept { return std::exchange(descriptor_, -1); }

 private:
  const descriptor_calls& calls_;
  int descriptor_;
};

void add(const descriptor_calls& calls, int epoll, int member) {
  epoll_event interest{};
  interest.events = EPOLLIN;
  if (calls.epoll_ctl(epoll, EPOLL_CTL_ADD, member, &interest) != 0) {
    throw std::system_error{errno, std::system_category(), "tartan: runtime::descriptor: epoll_ctl"};
  }
}

}  // namespace

outside_descriptor::~outside_descriptor() {
  for (const int descriptor : {epoll_, timer_, event_.load(std::memory_order_relaxed)}) {
    if (descriptor >= 0) static_cast<void>(calls_.close(descriptor));  // Linux has closed it whatever it says
  }
}

int outside_descriptor::get() {
  const std::lock_guard held{lock_};
  if (epoll_ < 0) {
    make();
    signal();
    set_timer(armed_ns_);
  }
  return epoll_;
}

void outside_descriptor::make() {
  opened event{calls_, calls_.eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd"};
  opened timer{calls_, calls_.timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create"};
  opened epoll{calls_, calls_.epoll_create(EPOLL_CLOEXEC), "epoll_create1"};
  add(calls_, epoll.number(), event.number());
  add(calls_, epoll.number(), timer.number());
  timer_ = timer.keep();
  epoll_ = epoll.keep();
  event_.store(event.keep(), std::memory_order_release);  // pairs with signal() and clear()
}

void outside_descriptor::signal() noexcept {
  const int event = event_.load(std::memory_order_acquire);  // pairs with make()
  if (event < 0) return;                                     // get() will signal
  // Pairs with clear()'s exchange: it comes after ours and its caller sees what we published, or before and we write.
  if (!signalled_.exchange(true, std::memory_order_seq_cst)) write_event(event);
}

void outside_descriptor::write_event(int descriptor) noexcept {
  const int saved = errno;
  const std::uint64_t one = 1;
  while (calls_.write(descriptor, &one, sizeof one) < 0) {
    if (errno == EAGAIN) break;  // the counter is at its maximum, so it is readable
    if (errno != EINTR) lost("write to an eventfd", errno);
  }
  errno = saved;
}

bool outside_descriptor::drain(int descriptor, const char* name) noexcept {
  std::uint64_t count = 0;
  while (calls_.read(descriptor, &count, sizeof count) < 0) {
    if (errno == EAGAIN) return false;  // was not readable
    if (errno != EINTR) lost(name, errno);
  }
  return true;
}

void outside_descriptor::clear() noexcept {
  const int event = event_.load(std::memory_order_acquire);  // pairs with make()
  if (event < 0) return;
  {
    const std::lock_guard held{lock_};
    if (drain(timer_, "read from a timerfd")) armed_ns_ = never_ns;
  }
  static_cast<void>(drain(event, "read from an eventfd"));
  static_cast<void>(signalled_.exchange(false, std::memory_order_seq_cst));  // pairs with signal()'s exchange
}

void outside_descriptor::arm_timer(std::uint64_t deadline_ns) noexcept {
  const std::lock_guard held{lock_};
  if (deadline_ns == armed_ns_) return;
  armed_ns_ = deadline_ns;
  if (timer_ >= 0) set_timer(deadline_ns);
}

void outside_descriptor::arm_timer_earlier(std::uint64_t deadline_ns) noexcept {
  const std::lock_guard held{lock_};
  if (deadline_ns >= armed_ns_) return;
  armed_ns_ = deadline_ns;
  if (timer_ >= 0) set_timer(deadline_ns);
}

void outside_descriptor::watch(int descriptor) noexcept {
  const std::lock_guard held{lock_};
  epoll_event interest{};
  interest.events = EPOLLIN;
  if (calls_.epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &interest) != 0 && errno != EEXIST) lost("epoll_ctl", errno);
}

void outside_descriptor::forget(int descriptor) noexcept {
  const std::lock_guard held{lock_};
  epoll_event unused{};
  if (calls_.epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, &unused) != 0 && errno != ENOENT) lost("epoll_ctl", errno);
}

/// Under the lock.
void outside_descriptor::set_timer(std::uint64_t deadline_ns) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  itimerspec when{};  // all zero disarms
  if (deadline_ns != never_ns) {
    const std::uint64_t at = std::max<std::uint64_t>(deadline_ns, 1);
    when.it_value.tv_sec = static_cast<std::time_t>(at / second);
    when.it_value.tv_nsec = static_cast<long>(at % second);
  }
  if (calls_.timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr) != 0) lost("timerfd_settime", errno);
}

}  // namespace tartan::detail
