// A condition variable needs a lock that a signal handler must not take, and a waker that finds the sleeper already awake pays for
// it all the same. A futex sleeps on the token itself: the kernel compares it with `asleep` under its own lock, so that a token
// changed in between ends the sleep at once, and wake() is one system call that is safe in a signal handler.
#include "core/sleep/futex_poller.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <string>
#include <system_error>
#include <type_traits>

#include "core/clock.h"
#include "core/fatal.h"

namespace tartan::detail {

namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;

// The kernel's word is the atomic's only member.
static_assert(std::is_standard_layout_v<wake_token> && sizeof(wake_token) == sizeof(std::uint32_t));
std::uint32_t* word_of(wake_token& token) noexcept {
  return reinterpret_cast<std::uint32_t*>(&token);
}

// Absolute: a signal or a spurious return does not make the sleep longer.
std::uint64_t end_of(sleep_limit limit) noexcept {
  if (limit.at_most_ns == never_ns) return limit.until_ns;
  const std::uint64_t now = real_now_ns();
  const std::uint64_t patience = limit.at_most_ns < never_ns - now ? now + limit.at_most_ns : never_ns;
  return patience < limit.until_ns ? patience : limit.until_ns;
}

/// How long to ask for, of what is left until then; 0: nothing is.
std::uint64_t leg_until(std::uint64_t end_ns) noexcept {
  if (end_ns == never_ns) return never_ns;
  const std::uint64_t now = real_now_ns();
  return now >= end_ns ? 0 : leg_of(end_ns - now);
}

[[noreturn]] void sleep_failed(const char* what, int error) noexcept {
  fatal({what, " failed with errno ", std::to_string(error), "; workers cannot sleep here"});
}

}  // namespace

futex_poller::~futex_poller() { close_pipes(); }

void futex_poller::close_pipes() noexcept {
  for (unsigned n = 0; n < workers_; ++n) {
    for (const int end : seats_[n].pipe) {
      if (end >= 0) static_cast<void>(::close(end));  // nothing was written that anybody waits for
    }
  }
}

void futex_poller::attach(unsigned workers) {
  seats_ = std::make_unique<seat[]>(workers);
  workers_ = workers;
  if (kind_ == seat_kind::futex) return;
  for (unsigned n = 0; n < workers; ++n) {
    if (::pipe2(seats_[n].pipe, O_NONBLOCK | O_CLOEXEC) == 0) continue;
    throw std::system_error{errno, std::system_category(), "a pipe for each worker to sleep at"};
  }
}

void futex_poller::make_guard_bed() {
  if (workers_ == 1 || kind_ != seat_kind::futex) return;
  const std::lock_guard hold{guard_lock_};
  if (guard_ == nullptr) guard_ = std::make_unique<guard_bed>();
}

void futex_poller::take_source(readiness_source& source) noexcept {
  source_.store(&source, std::memory_order_release);  // pairs with source()
}

void futex_poller::approach(unsigned worker, bed where) noexcept {
  // relaxed: known-bed: ordered by the token
  seats_[worker].where.store(where, std::memory_order_relaxed);
  seats_[worker].known.store(source(), std::memory_order_relaxed);
}

void futex_poller::set_alarm(std::uint64_t at_ns) noexcept { guard_->set(at_ns); }

bool futex_poller::is_seated(unsigned worker) const noexcept { return seats_[worker].known.load(std::memory_order_relaxed) == source(); }

std::uint64_t futex_poller::now_ns() noexcept {
  return real_now_ns();
}

slept futex_poller::sleep(unsigned worker, wake_token& token, sleep_limit limit) noexcept {
  switch (seats_[worker].where.load(std::memory_order_relaxed)) {
    case bed::source: return sleep_at_source(worker, token, limit);
    case bed::guard: return sleep_as_guard(token, limit);
    case bed::token: break;
  }
  return kind_ == seat_kind::pipe ? sleep_by_pipe(worker, token, limit) : sleep_by_futex(token, limit);
}

slept futex_poller::sleep_at_source(unsigned worker, wake_token& token, sleep_limit limit) noexcept {
  readiness_source& in = *source();
  const std::uint64_t end_ns = end_of(limit);
  while (token.load(std::memory_order_acquire) == token_asleep) {  // pairs with the waker's claim
    const std::uint64_t leg_ns = leg_until(end_ns);
    if (leg_ns == 0) break;
    // A call for an earlier sleep ends this one too early: the token tells.
    if (in.wait(worker, leg_ns) == readiness_source::ended_by::readiness) return slept::ready;
  }
  return slept::alone;
}

slept futex_poller::sleep_as_guard(wake_token& token, sleep_limit limit) noexcept {
  const std::uint64_t end_ns = end_of(limit);
  while (token.load(std::memory_order_acquire) == token_asleep) {  // pairs with the waker's claim
    const std::uint64_t leg_ns = leg_until(end_ns);
    if (leg_ns == 0) break;
    if (guard_->wait(leg_ns)) return slept::alarm;
  }
  return slept::alone;
}

slept futex_poller::sleep_by_futex(wake_token& token, sleep_limit limit) noexcept {
  const std::uint64_t end_ns = end_of(limit);
  const timespec end{static_cast<std::time_t>(end_ns / ns_per_s), static_cast<long>(end_ns % ns_per_s)};
  // acquire: pairs with the waker's claim of the token
  while (token.load(std::memory_order_acquire) == token_asleep) {
    if (::syscall(SYS_futex, word_of(token), FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, token_asleep,
                  end_ns == never_ns ? nullptr : &end, nullptr, FUTEX_BITSET_MATCH_ANY) == 0) {
      continue;
    }
    const int error = errno;
    if (error == ETIMEDOUT) break;
    if (error != EINTR && error != EAGAIN) sleep_failed("FUTEX_WAIT_BITSET", error);
  }
  return slept::alone;
}

/// Bytes that were written for an earlier sleep, which had ended by itself, end this one too early: the token tells.
slept futex_poller::sleep_by_pipe(unsigned worker, wake_token& token, sleep_limit limit) noexcept {
  const std::uint64_t end_ns = end_of(limit);
  pollfd reads{seats_[worker].pipe[0], POLLIN, 0};
  // acquire: pairs with the waker's claim of the token
  while (token.load(std::memory_order_acquire) == token_asleep) {
    const std::uint64_t leg_ns = leg_until(end_ns);
    if (leg_ns == 0) break;
    const timespec leg{static_cast<std::time_t>(leg_ns / ns_per_s), static_cast<long>(leg_ns % ns_per_s)};
    const int ready = ::ppoll(&reads, 1, leg_ns == never_ns ? nullptr : &leg, nullptr);
    if (ready < 0 && errno != EINTR) sleep_failed("ppoll", errno);
    char dropped[64];
    while (ready > 0 && ::read(reads.fd, dropped, sizeof dropped) == sizeof dropped) {
    }
  }
  return slept::alone;
}

void futex_poller::wake(unsigned worker, wake_token& token) noexcept {
  // relaxed: known-bed: the caller's claim has acquired it
  switch (seats_[worker].where.load(std::memory_order_relaxed)) {
    case bed::source: return source()->call();
    case bed::guard: return guard_->call();
    case bed::token: break;
  }
  const int errno_before = errno;  // a signal handler's caller may be about to read it
  if (kind_ == seat_kind::pipe) {
    const char byte = 0;
    // A full pipe (EAGAIN) wakes as well as one byte.
    while (::write(seats_[worker].pipe[1], &byte, 1) < 0 && errno == EINTR) {
    }
  } else if (::syscall(SYS_futex, word_of(token), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, nullptr, nullptr, 0) < 0) {
    sleep_failed("FUTEX_WAKE", errno);
  }
  errno = errno_before;
}

void futex_poller::deliver(unsigned worker) noexcept {
  if (seats_[worker].where.load(std::memory_order_relaxed) == bed::source) source()->deliver(worker);
}

bool futex_poller::set_aside(unsigned worker) noexcept {
  return seats_[worker].where.load(std::memory_order_relaxed) == bed::source && source()->set_aside(worker);
}

bool futex_poller::has_aside() const noexcept {
  const readiness_source* const from = source();
  return from != nullptr && from->has_aside();
}

bool futex_poller::harvest(unsigned worker) noexcept {
  readiness_source* const from = source();
  return from != nullptr && from->harvest(worker);
}

bool futex_poller::may_have_left(unsigned worker) const noexcept {
  const readiness_source* const from = source();
  return from != nullptr && from->may_have_left(worker);
}

bool futex_poller::saw_call(unsigned worker) const noexcept {
  const readiness_source* const from = source();
  return from != nullptr && from->saw_call(worker);
}

void futex_poller::forget_call() noexcept {
  if (readiness_source* const from = source()) from->forget_call();
}

int futex_poller::descriptor() const noexcept {
  const readiness_source* const from = source();
  return from != nullptr ? from->descriptor() : -1;
}

}  // namespace tartan::detail
