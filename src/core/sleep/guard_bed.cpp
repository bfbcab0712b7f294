// A sleep with a time limit of its own would end each time, at 38 us, although whoever runs has looked at what is ready long since. A timerfd
// is set ahead by those who run, while the sleeper sleeps on.
#include "core/sleep/guard_bed.h"

#include <cerrno>
#include <string>
#include <system_error>

#include "core/fatal.h"
#include "core/sleep/poller.h"

namespace tartan::detail {

namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;

[[noreturn]] void failed(const char* call, int error, const char* so = "workers cannot sleep here") noexcept {
  fatal({call, " failed with errno ", std::to_string(error), "; ", so});
}

}  // namespace

guard_bed::guard_bed(guard_calls calls) : calls_{calls} {
  bell_ = calls_.eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (bell_ < 0) throw std::system_error{errno, std::system_category(), "an eventfd for workers to sleep at"};
  timer_ = calls_.timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (timer_ >= 0) return;
  const int error = errno;
  static_cast<void>(calls_.close(bell_));  // Linux has closed it whatever it says
  throw std::system_error{error, std::system_category(), "a timerfd for workers to sleep at"};
}

guard_bed::~guard_bed() {
  for (const int each : {timer_, bell_}) static_cast<void>(calls_.close(each));
}

bool guard_bed::wait(std::uint64_t at_most_ns) noexcept {
  pollfd both[2] = {{timer_, POLLIN, 0}, {bell_, POLLIN, 0}};
  const timespec limit{static_cast<std::time_t>(at_most_ns / ns_per_s), static_cast<long>(at_most_ns % ns_per_s)};
  const int ready = calls_.ppoll(both, 2, at_most_ns == never_ns ? nullptr : &limit, nullptr);
  if (ready < 0 && errno != EINTR) failed("ppoll", errno);
  if (ready <= 0) return false;
  if (both[1].revents != 0) static_cast<void>(drain(bell_));
  return both[0].revents != 0 && drain(timer_);  // somebody may have set it ahead since
}

bool guard_bed::drain(int descriptor) noexcept {
  std::uint64_t count = 0;
  while (calls_.read(descriptor, &count, sizeof count) < 0) {
    if (errno == EAGAIN) return false;
    if (errno != EINTR) failed("read of an eventfd or a timerfd", errno);
  }
  return true;
}

void guard_bed::call() noexcept {
  const int errno_before = errno;  // a signal handler's caller may be about to read it
  const std::uint64_t one = 1;
  while (calls_.write(bell_, &one, sizeof one) < 0 && errno != EAGAIN) {  // EAGAIN: it was rung 2^64 times
    if (errno != EINTR) failed("write to an eventfd", errno, "workers cannot be woken");
  }
  errno = errno_before;
}

void guard_bed::set(std::uint64_t at_ns) noexcept {
  const itimerspec when{{}, {static_cast<std::time_t>(at_ns / ns_per_s), static_cast<long>(at_ns % ns_per_s)}};
  if (calls_.timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr) != 0) failed("timerfd_settime", errno, "workers cannot be woken");
}

}  // namespace tartan::detail
