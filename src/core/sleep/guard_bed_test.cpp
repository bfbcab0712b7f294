#include "core/sleep/guard_bed.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

#include "core/clock.h"
#include "core/sleep/poller.h"

namespace tartan::detail {
namespace {

auto open_descriptors() { return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{}); }

TEST(a_guard_bed, sleeps_until_its_alarm) {
  guard_bed here;
  const std::uint64_t at_ns = real_now_ns() + 2'000'000;
  here.set(at_ns);
  EXPECT_TRUE(here.wait(never_ns));
  EXPECT_GE(real_now_ns(), at_ns);
  EXPECT_FALSE(here.wait(0)) << "it goes off once";
}

TEST(a_guard_bed, is_called_also_before_it_waits) {
  guard_bed here;
  here.call();
  here.call();
  EXPECT_FALSE(here.wait(never_ns));
  EXPECT_FALSE(here.wait(0));
  std::jthread caller{[&] { here.call(); }};
  EXPECT_FALSE(here.wait(never_ns));
}

TEST(a_guard_bed, tells_of_the_alarm_that_has_gone_off_together_with_a_call) {
  guard_bed here;
  here.set(1);
  here.call();
  EXPECT_TRUE(here.wait(never_ns));
}

TEST(a_guard_bed, does_not_go_off_at_a_time_that_was_put_off_meanwhile) {
  static guard_bed* put_off = nullptr;
  guard_calls calls;
  calls.ppoll = [](pollfd* both, nfds_t count, const timespec* limit, const sigset_t* blocked) {
    const int ready = ::ppoll(both, count, limit, blocked);
    put_off->set(real_now_ns() + 3'600'000'000'000);
    return ready;
  };
  guard_bed here{calls};
  put_off = &here;
  here.set(1);
  EXPECT_FALSE(here.wait(never_ns));
}

TEST(a_guard_bed, ends_at_its_limit) {
  guard_bed here;
  EXPECT_FALSE(here.wait(1));
}

// With what each failing call has to say; a call that fails once and then works.
template <int Error>
struct failing {
  static int eventfd(unsigned, int) { return errno = Error, -1; }
  static int timerfd_create(int, int) { return errno = Error, -1; }
  static int settime(int, int, const itimerspec*, itimerspec*) { return errno = Error, -1; }
  static int ppoll(pollfd*, nfds_t, const timespec*, const sigset_t*) { return errno = Error, -1; }
  static ssize_t read(int, void*, std::size_t) { return errno = Error, -1; }
  static ssize_t write(int, const void*, std::size_t) { return errno = Error, -1; }
};
bool interrupted = false;
bool first_time() { return std::exchange(interrupted, true) ? false : (errno = EINTR, true); }

TEST(a_guard_bed, says_if_no_descriptors_are_left_and_keeps_none) {
  const auto before = open_descriptors();
  {
    guard_calls calls;
    calls.eventfd = &failing<EMFILE>::eventfd;
    EXPECT_THROW(guard_bed{calls}, std::system_error);
    calls = {};
    calls.timerfd_create = &failing<EMFILE>::timerfd_create;
    EXPECT_THROW(guard_bed{calls}, std::system_error);
    EXPECT_EQ(open_descriptors(), before);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(a_guard_bed, goes_on_when_a_signal_comes) {
  guard_calls calls;
  calls.ppoll = &failing<EINTR>::ppoll;
  EXPECT_FALSE(guard_bed{calls}.wait(never_ns)) << "early, for no reason";
  calls = {};
  calls.read = [](int from, void* into, std::size_t size) { return first_time() ? ssize_t{-1} : ::read(from, into, size); };
  calls.write = [](int to, const void* from, std::size_t size) { return first_time() ? ssize_t{-1} : ::write(to, from, size); };
  guard_bed here{calls};
  here.set(1);
  interrupted = false;
  EXPECT_TRUE(here.wait(never_ns));
  interrupted = false;
  here.call();
  EXPECT_FALSE(here.wait(never_ns));
}

TEST(a_guard_bed, leaves_errno_alone_when_it_is_called) {
  guard_calls calls;
  calls.write = &failing<EAGAIN>::write;  // rung as often as can be counted
  guard_bed here{calls};
  errno = ENOENT;
  here.call();
  EXPECT_EQ(errno, ENOENT);
}

TEST(a_guard_bed_death_test, ends_the_program_where_a_call_cannot_fail) {
  const auto with = [](auto change) {
    guard_calls calls;
    change(calls);
    return calls;
  };
  EXPECT_DEATH((void)guard_bed{with([](guard_calls& c) { c.ppoll = &failing<ENOMEM>::ppoll; })}.wait(never_ns), "ppoll failed with errno 12");
  EXPECT_DEATH(guard_bed{with([](guard_calls& c) { c.timerfd_settime = &failing<EINVAL>::settime; })}.set(1), "timerfd_settime failed with errno 22");
  EXPECT_DEATH(guard_bed{with([](guard_calls& c) { c.write = &failing<EBADF>::write; })}.call(), "write to an eventfd failed with errno 9");
  guard_bed here{with([](guard_calls& c) { c.read = &failing<EBADF>::read; })};
  here.call();
  EXPECT_DEATH((void)here.wait(never_ns), "read of an eventfd or a timerfd failed with errno 9");
}

}  // namespace
}  // namespace tartan::detail
