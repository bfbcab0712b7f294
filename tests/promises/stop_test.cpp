// Contract 14: what a run waits for, and what a stop, a signal and fork() do.

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <system_error>
#include <tartan/core/blocking.h>
#include <tartan/core/channel.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/spawn.h>
#include <tartan/io/pipe.h>
#include <tartan/io/tcp.h>
#include <tartan/time/post_after.h>
#include <tartan/time/sleep.h>
#include <tartan/time/timer.h>
#include <thread>

#include "tests/virtual_time.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class run_until_idle : public test::on_workers {};
class a_stop : public test::on_workers {};
class a_signal : public test::on_workers {};

TEST_P(run_until_idle, waits_for_timers) {
  test::virtual_poller clock;
  options with = settings();
  with.poller = &clock;
  runtime rt{with};
  bool fired = false;
  bool woken = false;
  EXPECT_TRUE(post_after(rt, color{1}, 10h, [&] { fired = true; }));
  rt.spawn_in(color{2}, [&]() -> task<> { woken = (co_await sleep(20h)).has_value(); });
  rt.run_until_idle();
  EXPECT_TRUE(fired);
  EXPECT_TRUE(woken);
}

TEST_P(run_until_idle, waits_for_blocking_jobs) {
  runtime rt{settings()};
  bool done = false;
  EXPECT_TRUE(blocking(
      rt, color{1},
      [] {
        for (int n = 0; n < 100; ++n) std::this_thread::yield();
      },
      [&](result<> outcome) { done = outcome.has_value(); }));
  rt.run_until_idle();
  EXPECT_TRUE(done);
}

TEST_P(run_until_idle, waits_for_operations) {
  runtime rt{settings()};
  auto ends = pipe::open(rt, color{1}, color{1});
  ASSERT_TRUE(ends);
  std::atomic<bool> reads{false};
  bool done = false;
  rt.spawn_in(color{1}, [&]() -> task<> {
    std::array<std::byte, 1> room{};
    reads = true;
    const auto got = co_await ends->read.read_some(room);
    done = got.has_value();
  });
  std::thread outside{[&, to = ends->write.native_handle()] {
    test::spin_until([&] { return reads.load(); });
    for (int n = 0; n < 100; ++n) std::this_thread::yield();
    EXPECT_EQ(::write(to, "x", 1), 1);
  }};
  rt.run_until_idle();
  EXPECT_TRUE(done);
  outside.join();
}

TEST_P(a_stop, lets_waits_and_timers_complete_as_canceled) {
  runtime rt{settings()};
  channel<int> silent{capacity{1}};
  semaphore taken{1};
  const auto permit = taken.try_acquire();
  timer mine{rt, color{1}};
  std::array<std::error_code, 5> ended{};
  const auto note = [&](std::size_t at) {
    return [&ended, at](result<void> outcome) { ended[at] = outcome.error(); };
  };
  rt.spawn_in(color{2}, [&]() -> task<> { ended[0] = (co_await sleep(1h)).error(); });
  rt.spawn_in(color{3}, [&]() -> task<> { ended[1] = (co_await silent.receive()).error(); });
  rt.spawn_in(color{4}, [&]() -> task<> { ended[2] = (co_await taken.acquire()).error(); });
  rt.post(color{1}, [&] {
    mine.set(1h, note(3));
    post_after(color{5}, 1h, note(4));
  });
  rt.run_for(0ns);
  rt.post([&] { rt.stop(); });
  EXPECT_EQ(rt.run(), 0);
  for (const std::error_code& each : ended) EXPECT_EQ(each, errc::canceled);
}

TEST_P(a_stop, closes_the_listeners_too) {
  runtime rt{settings()};
  tcp::listener door = tcp::listen(rt, "127.0.0.1:0");
  bool refused = false;
  rt.spawn_in(door.color(), [&]() -> task<> {
    const auto peer = co_await door.accept();
    refused = !peer;
  });
  rt.run_for(0ns);
  EXPECT_TRUE(door.is_open());
  rt.stop();
  EXPECT_EQ(rt.run(), 0);
  EXPECT_TRUE(refused);
  EXPECT_FALSE(door.is_open());
}

TEST_P(a_signal, that_was_asked_for_stops_the_runtime) {
  runtime rt{settings()};
  rt.stop_on({SIGUSR1});
  std::error_code ended;
  EXPECT_TRUE(post_after(rt, color{1}, 1h, [&](result<void> outcome) { ended = outcome.error(); }));
  rt.post([] { ::raise(SIGUSR1); });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(ended, errc::canceled);
}

TEST(a_signal_DeathTest, that_comes_a_second_time_ends_the_program_at_once) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto twice = [] {
    options with;
    with.workers = 1;
    runtime rt{with};
    rt.stop_on({SIGUSR1});
    rt.post([] {
      ::raise(SIGUSR1);
      ::raise(SIGUSR1);
      ::abort();
    });
    rt.run();
  };
  EXPECT_EXIT(twice(), ::testing::ExitedWithCode(128 + SIGUSR1), "");
}

TEST(a_signal_DeathTest, that_was_not_asked_for_does_what_it_always_does) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto not_asked_for = [] {
    runtime rt;
    rt.stop_on({SIGUSR2});
    rt.post([] { ::raise(SIGUSR1); });
    rt.run();
  };
  EXPECT_EXIT(not_asked_for(), ::testing::KilledBySignal(SIGUSR1), "");
}

TEST(a_fork_DeathTest, after_a_run_leaves_a_child_that_may_not_use_the_runtime) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto post_in_child = [] {
    runtime rt;
    rt.run_until_idle();
    const ::pid_t child = ::fork();
    if (child == 0) rt.post([] {});
    int status = 0;
    if (::waitpid(child, &status, 0) == child && WIFSIGNALED(status)) ::abort();
    ::_exit(0);
  };
  EXPECT_DEATH(post_in_child(), "tartan: .*fork");
}

INSTANTIATE_TEST_SUITE_P(workers, run_until_idle, testing::ValuesIn(test::worker_counts()), test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, a_stop, testing::ValuesIn(test::worker_counts()), test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, a_signal, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
