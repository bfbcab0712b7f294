#include <tartan/io/signal_set.h>

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "io/object_fixture.h"

namespace tartan {
namespace {

using test::here_color;

/// A signal of its own and who waits for it.
struct one_signal {
  int number;
  signal_set set;
  void close() { set.close(); }
  void cancel() { set.cancel(); }
  [[nodiscard]] bool is_open() const { return set.is_open(); }
};

class signals_as_values : public test::with_objects {
 protected:
  void SetUp() override {
    with_objects::SetUp();
    ::pthread_sigmask(SIG_SETMASK, nullptr, &before_);
  }
  void TearDown() override {
    with_objects::TearDown();
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  /// The error of making one.
  std::error_code refused(std::initializer_list<int> signals) {
    try {
      const signal_set made{rt(), signals};
      return {};
    } catch (const std::system_error& e) {
      return e.code();
    }
  }

 private:
  sigset_t before_{};
};
INSTANTIATE_TEST_SUITE_P(on, signals_as_values, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(signals_as_values, end_in_every_way) {
  std::deque<std::unique_ptr<one_signal>> made;
  for (int number = SIGRTMIN; number < SIGRTMIN + 12; ++number) {
    made.push_back(std::unique_ptr<one_signal>{new one_signal{number, signal_set{rt(), {number}, here_color}}});
  }
  ends_in_every_way(test::operation_under_test{[&] {
                                                 auto next = std::move(made.front());
                                                 made.pop_front();
                                                 if (made.size() == 2) made.clear();  // the runtime ends before this function does
                                                 return next;
                                               },
                                               [](one_signal& s) { return s.set.next(); },
                                               [](one_signal& s, auto f) { s.set.next(std::move(f)); },
                                               [](one_signal& s) { EXPECT_EQ(::kill(::getpid(), s.number), 0); }});
}

TEST_P(signals_as_values, give_their_numbers) {
  signal_set set{rt(), {SIGUSR1, SIGUSR2}, here_color};
  in_color([&]() -> task<> {
    ::kill(::getpid(), SIGUSR2);
    EXPECT_EQ(*co_await set.next(), SIGUSR2);
    post(here_color, [] { ::kill(::getpid(), SIGUSR1); });
    EXPECT_EQ(*co_await set.next(), SIGUSR1);
    ::kill(::getpid(), SIGUSR1);
    ::kill(::getpid(), SIGUSR1);
    EXPECT_EQ(*co_await set.next(), SIGUSR1);
    const auto again = co_await with_timeout(std::chrono::milliseconds{1}, set.next());
    EXPECT_EQ(again.error(), errc::timed_out) << "the system keeps one of each";
  });
}

TEST_P(signals_as_values, belong_to_one_object) {
  signal_set first{rt(), {SIGUSR1, SIGUSR2}, here_color};
  EXPECT_EQ(refused({SIGHUP, SIGUSR1}), std::errc::device_or_resource_busy);
  EXPECT_EQ(refused({SIGHUP}), std::error_code{}) << "what was refused has taken nothing";
  {
    options other_settings = settings();
    runtime other{other_settings};
    EXPECT_THROW((signal_set{other, {SIGUSR2}}), std::system_error) << "it is the process's";
  }
  in_color([&]() -> task<> {
    ::kill(::getpid(), SIGUSR1);
    EXPECT_EQ(*co_await first.next(), SIGUSR1);
    first.close();
    co_return;
  });
  signal_set second{rt(), {SIGUSR1}, here_color};
  in_color([&]() -> task<> {
    ::kill(::getpid(), SIGUSR1);
    EXPECT_EQ(*co_await second.next(), SIGUSR1);
  });
}

TEST_P(signals_as_values, do_not_mix_with_stop_on) {
  {
    signal_set set{rt(), {SIGUSR1}};
    try {
      rt().stop_on({SIGUSR2, SIGUSR1});
      FAIL();
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::device_or_resource_busy);
    }
    EXPECT_EQ(refused({SIGUSR2}), std::error_code{}) << "what was refused has taken nothing";
    set.close();
  }
  rt().stop_on({SIGUSR1});
  EXPECT_EQ(refused({SIGUSR1}), std::errc::device_or_resource_busy);
}

TEST_P(signals_as_values, stop_a_program_that_says_goodbye_first) {
  signal_set set{rt(), {SIGTERM}, here_color};
  bool goodbye = false;
  spawn_in(rt(), here_color, [&]() -> task<> {
    EXPECT_EQ(*co_await set.next(), SIGTERM);
    goodbye = true;
    rt().stop();
  }).detach();
  ::kill(::getpid(), SIGTERM);
  EXPECT_EQ(rt().run(), 0);
  EXPECT_TRUE(goodbye);
}

/// Threads that a signal could interrupt.
std::size_t threads_open_to(int number) {
  std::size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::ifstream about{each.path() / "status"};
    for (std::string line; std::getline(about, line);) {
      if (!line.starts_with("SigBlk:")) continue;
      const std::uint64_t blocked = std::stoull(line.substr(7), nullptr, 16);
      count += ((blocked >> (number - 1)) & 1) == 0 ? 1 : 0;
    }
  }
  return count;
}

class blocked_signals : public signals_as_values {
 protected:
  /// One that comes between two runs and one that comes during the second.
  void come_through(signal_set& set) {
    ASSERT_EQ(threads_open_to(SIGUSR1), 0u);
    ::kill(::getpid(), SIGUSR1);
    in_color([&]() -> task<> {
      EXPECT_EQ(*co_await set.next(), SIGUSR1);
      ::kill(::getpid(), SIGUSR1);
      EXPECT_EQ(*co_await set.next(), SIGUSR1);
    });
  }

  std::optional<runtime> started_;
  std::optional<signal_set> set_;
};
INSTANTIATE_TEST_SUITE_P(on, blocked_signals, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(blocked_signals, are_blocked_by_threads_that_there_are_already) {
  rt().run_until_idle();  // starts the workers
  signal_set set{rt(), {SIGUSR1}, here_color};
  come_through(set);
  const signal_set other{rt(), {SIGUSR2}};
  EXPECT_EQ(threads_open_to(SIGUSR2), 0u);
  come_through(set);
}

TEST_P(blocked_signals, are_blocked_by_threads_that_come_later) {
  signal_set set{rt(), {SIGUSR1}, here_color};
  rt().run_until_idle();  // starts the workers
  come_through(set);
}

TEST_P(blocked_signals, are_blocked_from_the_first_worker_s_start) {
  options with = settings();
  with.on_worker_start = [&](unsigned index) {
    if (index == 0) set_.emplace(*started_, std::initializer_list<int>{SIGUSR1});
  };
  started_.emplace(with);
  started_->run_until_idle();
  EXPECT_EQ(threads_open_to(SIGUSR1), 0u);
  set_.reset();
  started_.reset();
}

// Made on another thread, which the workers have nothing from.
TEST_P(blocked_signals, are_blocked_by_workers_whoever_starts_them) {
  std::unique_ptr<signal_set> set;
  std::unique_ptr<signal_set> other;
  std::thread{[&] {
    set = std::make_unique<signal_set>(rt(), std::initializer_list<int>{SIGUSR1}, here_color);
    other = std::make_unique<signal_set>(rt(), std::initializer_list<int>{SIGUSR2}, here_color);
  }}.join();
  rt().run_until_idle();  // starts the workers here
  EXPECT_EQ(threads_open_to(SIGUSR1), 1u) << "this one";
  sigset_t mine;
  sigemptyset(&mine);
  sigaddset(&mine, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &mine, nullptr);
  come_through(*set);
}

TEST_P(signals_as_values, refuse_what_cannot_be_waited_for) {
  for (const int number : {0, -1, NSIG, SIGKILL, SIGSTOP, SIGSEGV}) {
    EXPECT_EQ(refused({number}), std::errc::invalid_argument) << number;
  }
}

TEST_P(signals_as_values, that_were_refused_are_not_blocked) {
  const signal_set other{rt(), {SIGUSR1}};
  EXPECT_EQ(refused({SIGUSR2, SIGUSR1}), std::errc::device_or_resource_busy);
  sigset_t mine;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mine);
  EXPECT_EQ(sigismember(&mine, SIGUSR2), 0);
}

TEST_P(signals_as_values, are_asked_for_before_the_run) {
  EXPECT_DEATH(
      {
        rt().post([&] { const signal_set late{rt(), {SIGUSR1}}; });
        rt().run_until_idle();
      },
      "signal_set was made while the runtime runs");
}

}  // namespace
}  // namespace tartan
