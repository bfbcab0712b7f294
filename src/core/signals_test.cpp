#include "core/signals.h"

#include <gtest/gtest.h>

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <system_error>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <thread>

#include "core/memory.h"
#include "tests/workers.h"

namespace tartan::detail {
namespace {

using signal_counter = real_memory::atomic<int>;
int count(const signal_counter& counter) {
  return counter.load(std::memory_order_relaxed);
}

signal_counter former_calls{0};
void count_former(int) {
  former_calls.fetch_add(1, std::memory_order_relaxed);
}

void set_handler(int number, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  ASSERT_EQ(::sigaction(number, &action, nullptr), 0);
}
auto handler_of(int number) {
  struct sigaction now{};
  EXPECT_EQ(::sigaction(number, nullptr, &now), 0);
  return now.sa_handler;
}

void count_stop(void* target, std::uint64_t /*within_ns*/) noexcept {
  static_cast<signal_counter*>(target)->fetch_add(1, std::memory_order_relaxed);
}

class signals_that_stop : public ::testing::Test {
 protected:
  signals_that_stop() {
    former_calls.store(0, std::memory_order_relaxed);
    set_handler(SIGUSR1, &count_former);
    set_handler(SIGUSR2, &count_former);
  }
  ~signals_that_stop() override {
    set_handler(SIGUSR1, SIG_DFL);
    set_handler(SIGUSR2, SIG_DFL);
  }

  signal_counter stops_{0};
  void* target_ = &stops_;
};

TEST_F(signals_that_stop, call_stop_once_and_leave_errno_alone) {
  stop_signals signals{&count_stop, target_};
  signals.stop_on({SIGUSR1, SIGUSR2});
  signals.stop_on({SIGUSR1});
  errno = ENOTDIR;
  ::raise(SIGUSR2);
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_EQ(count(stops_), 1);
  EXPECT_EQ(count(former_calls), 0);
}

TEST_F(signals_that_stop, do_what_they_did_before_when_they_are_released) {
  {
    stop_signals signals{&count_stop, target_};
    signals.stop_on({SIGUSR1});
    ::raise(SIGUSR2);
    EXPECT_EQ(count(former_calls), 1) << "was not asked for";
  }
  EXPECT_EQ(handler_of(SIGUSR1), &count_former);
  ::raise(SIGUSR1);
  EXPECT_EQ(count(former_calls), 2);
  EXPECT_EQ(count(stops_), 0);
}

TEST_F(signals_that_stop, may_belong_to_one_owner_after_the_other) {
  signal_counter second_stops{0};
  stop_signals first{&count_stop, target_};
  stop_signals second{&count_stop, &second_stops};
  first.stop_on({SIGUSR1});
  ::raise(SIGUSR1);
  first.release();
  first.release();
  second.stop_on({SIGUSR1});
  ::raise(SIGUSR1);
  EXPECT_EQ(count(stops_), 1);
  EXPECT_EQ(count(second_stops), 1) << "the count of signals begins anew";
}

TEST_F(signals_that_stop, leave_a_handler_alone_that_the_program_installed_later) {
  stop_signals signals{&count_stop, target_};
  signals.stop_on({SIGUSR1});
  set_handler(SIGUSR1, SIG_IGN);
  signals.release();
  EXPECT_EQ(handler_of(SIGUSR1), SIG_IGN);
}

TEST_F(signals_that_stop, are_none_of_the_call_if_one_cannot_be_caught) {
  stop_signals signals{&count_stop, target_};
  for (const int wrong : {SIGKILL, 0, -1, NSIG, 100'000}) {
    try {
      signals.stop_on({SIGUSR1, wrong, SIGUSR2});
      ADD_FAILURE() << wrong;
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::invalid_argument) << wrong;
    }
    EXPECT_EQ(handler_of(SIGUSR1), &count_former);
    EXPECT_EQ(handler_of(SIGUSR2), &count_former);
  }
  stop_signals other{&count_stop, target_};
  other.stop_on({SIGUSR1});  // the failed calls left nothing behind
  EXPECT_THROW(other.stop_on({SIGUSR2, SIGSTOP}), std::system_error);
  ::raise(SIGUSR1);
  EXPECT_EQ(count(stops_), 1) << "what an earlier call got stays";
}

TEST_F(signals_that_stop, tell_what_the_system_refuses) {
  const auto refuse = [](int, const struct sigaction* wanted, struct sigaction*) {
    errno = wanted == nullptr ? 0 : ENOSYS;
    return wanted == nullptr ? 0 : -1;
  };
  stop_signals signals{&count_stop, target_, {.action = refuse}};
  try {
    signals.stop_on({SIGUSR1});
    ADD_FAILURE();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::function_not_supported);
  }
}

TEST_F(signals_that_stop, end_the_process_at_once_at_the_second) {
  const auto twice = [this] {
    stop_signals signals{&count_stop, target_};
    signals.stop_on({SIGUSR1, SIGUSR2});
    ::raise(SIGUSR1);
    ::raise(SIGUSR2);
  };
  EXPECT_EXIT(twice(), ::testing::ExitedWithCode(128 + SIGUSR2), "");
}

TEST_F(signals_that_stop, can_belong_to_one_owner_only) {
  stop_signals first{&count_stop, target_};
  first.stop_on({SIGUSR1});
  stop_signals second{&count_stop, target_};
  EXPECT_DEATH(second.stop_on({SIGUSR2}), "tartan: stop_on: another runtime has the signals already");
}

TEST_F(signals_that_stop, mean_in_a_child_of_fork_what_they_meant_before) {
  stop_signals signals{&count_stop, target_};
  signals.stop_on({SIGUSR1});
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::raise(SIGUSR1);
    ::raise(SIGUSR1);
    ::syscall(SYS_exit_group, count(stops_) == 0 && count(former_calls) == 2 ? 7 : 1);  // past the sanitizers
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST_F(signals_that_stop, reach_any_thread_while_another_releases) {
  for (int round = 0; round < 200; ++round) {
    auto target = std::make_unique<signal_counter>(0);
    stop_signals signals{&count_stop, target.get()};
    signals.stop_on({SIGUSR1});
    std::thread raiser{[] { ::pthread_kill(::pthread_self(), SIGUSR1); }};
    signals.release();
    target.reset();  // a handler that is late must not touch it
    raiser.join();
  }
}

class a_runtime_with_signals : public ::testing::TestWithParam<unsigned> {
 protected:
  static options with() {
    options o;
    o.workers = GetParam();
    return o;
  }
};
INSTANTIATE_TEST_SUITE_P(workers, a_runtime_with_signals, ::testing::Values(1u, 2u, 4u));

TEST_P(a_runtime_with_signals, stops_and_drains_at_the_first) {
  for (int round = 0; round < 3; ++round) {
    runtime rt{with()};
    rt.stop_on({SIGUSR1, SIGUSR2});
    int ran = 0;
    rt.post([&] {
      ::kill(::getpid(), SIGUSR2);  // reaches any thread that does not block it
      post([&] { ++ran; });
    });
    EXPECT_EQ(rt.run(), 0);
    EXPECT_TRUE(rt.stopped());
    EXPECT_EQ(ran, 1) << "what was posted before runs";
  }
  EXPECT_EQ(handler_of(SIGUSR2), SIG_DFL);
}

TEST_P(a_runtime_with_signals, stops_at_a_signal_that_comes_while_it_sleeps) {
  runtime rt{with()};
  rt.stop_on({SIGUSR1});
  std::thread sender;
  rt.post([&] {
    sender = std::thread{[] { ::kill(::getpid(), SIGUSR1); }};  // without a look at whether the workers sleep by now
  });
  EXPECT_EQ(rt.run(), 0);
  sender.join();
}

TEST_P(a_runtime_with_signals, is_left_at_once_at_the_second) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto twice = [] {
    runtime rt{with()};
    rt.stop_on({SIGUSR1, SIGUSR2});
    rt.post([&] {
      ::kill(::getpid(), SIGUSR1);
      test::spin_until([&] { return rt.stopped(); });
      ::kill(::getpid(), SIGUSR2);
    });
    rt.run();
  };
  EXPECT_EXIT(twice(), ::testing::ExitedWithCode(128 + SIGUSR2), "");
}

TEST_P(a_runtime_with_signals, takes_two_that_come_at_once_one_after_the_other) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto both = [] {
    runtime rt{with()};
    rt.stop_on({SIGUSR1, SIGUSR2});
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGUSR1);
    sigaddset(&held, SIGUSR2);
    ::pthread_sigmask(SIG_BLOCK, &held, nullptr);
    ::kill(::getpid(), SIGUSR2);
    ::kill(::getpid(), SIGUSR1);
    ::pthread_sigmask(SIG_UNBLOCK, &held, nullptr);  // the system begins with the lower number
    rt.run();
  };
  EXPECT_EXIT(both(), ::testing::ExitedWithCode(128 + SIGUSR2), "");
}

TEST_P(a_runtime_with_signals, is_the_only_one) {
  runtime first{with()};
  runtime second{with()};
  first.stop_on({SIGUSR1});
  EXPECT_DEATH(second.stop_on({SIGUSR2}), "another runtime has the signals already");
}

TEST(a_thread_of_the_runtime, has_signals_from_outside_blocked_and_its_starter_keeps_its_own) {
  sigset_t before;
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &before), 0);
  int blocked_inside = 0;
  int open_inside = 0;
  {
    const signals_blocked quiet;
    std::thread{[&] {
      sigset_t mask;
      ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD}) blocked_inside += ::sigismember(&mask, number);
      for (const int number : {SIGSEGV, SIGABRT, SIGPROF}) open_inside += 1 - ::sigismember(&mask, number);
    }}.join();
  }
  EXPECT_EQ(blocked_inside, 4);
  EXPECT_EQ(open_inside, 3);
  sigset_t after;
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &after), 0);
  for (const int number : {SIGINT, SIGTERM, SIGUSR1})
    EXPECT_EQ(::sigismember(&before, number), ::sigismember(&after, number));
}

}  // namespace
}  // namespace tartan::detail
