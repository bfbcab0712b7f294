#include "core/outside_descriptor.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <thread>

namespace tartan::detail {
namespace {

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

bool readable(int descriptor, int wait_ms = 0) {
  pollfd entry{descriptor, POLLIN, 0};
  return ::poll(&entry, 1, wait_ms) == 1;
}

auto open_descriptors() {
  return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{});
}

TEST(a_descriptor_for_other_loops, is_readable_when_new_and_then_from_signal_to_clear) {
  outside_descriptor outside;
  const int descriptor = outside.get();
  EXPECT_EQ(outside.get(), descriptor);
  EXPECT_TRUE(readable(descriptor));
  outside.clear();
  EXPECT_FALSE(readable(descriptor));
  outside.signal();
  outside.signal();
  EXPECT_TRUE(readable(descriptor));
  EXPECT_TRUE(readable(descriptor));
  outside.clear();
  EXPECT_FALSE(readable(descriptor));
  outside.clear();
  outside.signal();
  EXPECT_TRUE(readable(descriptor));
}

TEST(a_descriptor_for_other_loops, costs_no_descriptor_until_it_is_asked_for_and_none_at_its_end) {
  const auto before = open_descriptors();
  {
    outside_descriptor outside;
    outside.signal();
    outside.clear();
    outside.arm_timer(now_ns());
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_EQ(::fcntl(outside.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    EXPECT_EQ(open_descriptors(), before + 3);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(a_descriptor_for_other_loops, is_readable_from_the_armed_time_on) {
  constexpr std::uint64_t hour = 3600ull * 1'000'000'000;
  outside_descriptor outside;
  const int descriptor = outside.get();
  outside.clear();
  outside.arm_timer(now_ns() + hour);
  EXPECT_FALSE(readable(descriptor));
  outside.arm_timer(0);
  EXPECT_TRUE(readable(descriptor, -1));
  outside.clear();
  EXPECT_FALSE(readable(descriptor));
  outside.arm_timer(now_ns());  // the same as before would do: an expired timer is not armed
  EXPECT_TRUE(readable(descriptor, -1));
  outside.arm_timer(never_ns);
  EXPECT_FALSE(readable(descriptor));
}

TEST(a_descriptor_for_other_loops, keeps_a_timer_that_is_still_to_come_over_a_clear) {
  outside_descriptor outside;
  outside.arm_timer(now_ns() + 20'000'000);  // before there was a descriptor
  const int descriptor = outside.get();
  outside.clear();
  EXPECT_TRUE(readable(descriptor, -1));
}

TEST(a_descriptor_for_other_loops, can_be_armed_earlier_but_not_later_by_timers_set_outside) {
  constexpr std::uint64_t hour = 3600ull * 1'000'000'000;
  outside_descriptor outside;
  const int descriptor = outside.get();
  outside.clear();
  outside.arm_timer(now_ns() + hour);
  outside.arm_timer_earlier(1);
  EXPECT_TRUE(readable(descriptor, -1));
  outside.arm_timer_earlier(now_ns() + hour);
  EXPECT_TRUE(readable(descriptor));
  outside.clear();
  outside.arm_timer_earlier(now_ns() + hour);
  EXPECT_FALSE(readable(descriptor));
}

TEST(a_descriptor_for_other_loops, is_readable_while_one_that_it_watches_is) {
  outside_descriptor outside;
  outside_descriptor watched;
  const int descriptor = outside.get();
  const int other = watched.get();
  outside.clear();
  watched.clear();
  outside.watch(other);
  outside.watch(other);
  EXPECT_FALSE(readable(descriptor));
  watched.signal();
  EXPECT_TRUE(readable(descriptor));
  outside.clear();
  EXPECT_TRUE(readable(descriptor));
  watched.clear();
  EXPECT_FALSE(readable(descriptor));
  watched.signal();
  outside.forget(other);
  outside.forget(other);
  EXPECT_FALSE(readable(descriptor));
}

// A poster publishes and signals, the loop clears and looks: at the end nothing published may be left unseen and unsignalled.
TEST(a_descriptor_for_other_loops, never_hides_a_signal_behind_a_clear) {
  outside_descriptor outside;
  const int descriptor = outside.get();
  constexpr int posts = 200'000;
  real_memory::atomic<int> published{0};
  std::thread poster{[&] {
    for (int i = 1; i <= posts; ++i) {
      published.store(i, std::memory_order_seq_cst);
      outside.signal();
    }
  }};
  for (int seen = 0; seen < posts;) {
    ASSERT_TRUE(readable(descriptor, -1));
    outside.clear();
    seen = published.load(std::memory_order_seq_cst);
  }
  poster.join();
}

// Each call in turn fails once.
struct failing {
  static inline int before_failure = 0;
  static inline int error = 0;
  static bool now() {
    if (before_failure-- != 0) return false;
    errno = error;
    return true;
  }
};
descriptor_calls failing_calls(int after, int error) {
  failing::before_failure = after;
  failing::error = error;
  return {
      .eventfd = [](unsigned value, int flags) { return failing::now() ? -1 : ::eventfd(value, flags); },
      .timerfd_create = [](int clock, int flags) { return failing::now() ? -1 : ::timerfd_create(clock, flags); },
      .epoll_create = [](int flags) { return failing::now() ? -1 : ::epoll_create1(flags); },
      .epoll_ctl = [](int epoll, int what, int fd,
                      epoll_event* event) { return failing::now() ? -1 : ::epoll_ctl(epoll, what, fd, event); },
  };
}

TEST(a_descriptor_for_other_loops, that_cannot_be_made_is_an_error_leaves_nothing_open_and_can_be_asked_for_again) {
  const auto before = open_descriptors();
  for (int call = 0; call < 5; ++call) {
    outside_descriptor outside{failing_calls(call, EMFILE)};
    try {
      static_cast<void>(outside.get());
      ADD_FAILURE() << call;
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::too_many_files_open) << call;
    }
    EXPECT_EQ(open_descriptors(), before) << call;
    outside.signal();
    EXPECT_TRUE(readable(outside.get())) << call;
  }
}

TEST(a_descriptor_for_other_loops, goes_on_after_an_interrupted_call_and_a_full_counter) {
  static int interruptions = 0;
  static bool full = false;
  descriptor_calls calls;
  calls.write = [](int fd, const void* data, std::size_t size) -> ssize_t {
    if (interruptions-- > 0) {
      errno = EINTR;
      return -1;
    }
    const ssize_t written = ::write(fd, data, size);
    if (!full) return written;
    errno = EAGAIN;
    return -1;
  };
  calls.read = [](int fd, void* data, std::size_t size) -> ssize_t {
    if (interruptions-- > 0) {
      errno = EINTR;
      return -1;
    }
    return ::read(fd, data, size);
  };
  outside_descriptor outside{calls};
  const int descriptor = outside.get();
  interruptions = 2;
  outside.clear();
  EXPECT_FALSE(readable(descriptor));
  interruptions = 2;
  full = true;
  errno = ENOTDIR;
  outside.signal();
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_TRUE(readable(descriptor));
}

TEST(a_descriptor_for_other_loops, that_breaks_ends_the_program_with_the_reason) {
  const auto broken_write = [] {
    descriptor_calls calls;
    calls.write = [](int, const void*, std::size_t) -> ssize_t {
      errno = EBADF;
      return -1;
    };
    outside_descriptor outside{calls};
    static_cast<void>(outside.get());
  };
  EXPECT_DEATH(broken_write(), "does not work any more: write to an eventfd: Bad file descriptor");
  const auto broken_read = [] {
    descriptor_calls calls;
    calls.read = [](int, void*, std::size_t) -> ssize_t {
      errno = EBADF;
      return -1;
    };
    outside_descriptor outside{calls};
    static_cast<void>(outside.get());
    outside.clear();
  };
  EXPECT_DEATH(broken_read(), "read from a timerfd: Bad file descriptor");
  const auto broken_timer = [] {
    descriptor_calls calls;
    calls.timerfd_settime = [](int, int, const itimerspec*, itimerspec*) {
      errno = EINVAL;
      return -1;
    };
    outside_descriptor outside{calls};
    static_cast<void>(outside.get());
  };
  EXPECT_DEATH(broken_timer(), "timerfd_settime: Invalid argument");
}

}  // namespace
}  // namespace tartan::detail
