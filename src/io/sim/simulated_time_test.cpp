#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tartan/core/blocking.h>
#include <tartan/core/post.h>
#include <tartan/core/spawn.h>
#include <tartan/io/file.h>
#include <tartan/io/simulation.h>
#include <tartan/time/sleep.h>
#include <thread>

#include "io/machine_fixture.h"
#include "tests/temporary_folder.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using test::here_color;

class simulated_time : public test::on_machine, public testing::WithParamInterface<test::place> {
 protected:
  [[nodiscard]] test::place where() const final { return GetParam(); }

  [[nodiscard]] std::chrono::nanoseconds now() { return std::chrono::nanoseconds{rt().state().now_ns()}; }

  /// Gives the workers every chance to fall asleep, and the clock to jump.
  static void work_for_a_while() {
    for (int n = 0; n < 500; ++n) std::this_thread::yield();
  }
};
INSTANTIATE_TEST_SUITE_P(of, simulated_time, testing::ValuesIn(test::places_on(test::machine::simulated)), test::place_name);

TEST_P(simulated_time, stands_still_while_a_blocking_job_runs) {
  for (int round = 0; round < 20; ++round) {
    spawn_in(rt(), color{8}, []() -> task<> { static_cast<void>(co_await sleep(30s)); }).detach();
    in_color([&]() -> task<> {
      const auto before = now();
      const auto seen = co_await blocking([&] {
        work_for_a_while();
        return now();
      });
      EXPECT_EQ(seen, before);
      EXPECT_EQ(now(), before);
    });
  }
}

TEST_P(simulated_time, stands_still_for_jobs_that_wait_for_a_thread) {
  int ended = 0;
  rt().post(here_color, [&] {
    const auto before = now();
    post_after(1ns, [&] { EXPECT_EQ(ended, 40); });
    for (int n = 0; n < 40; ++n) {
      blocking(here_color, [] { work_for_a_while(); }, [&, before](const result<>& done) {
        EXPECT_TRUE(done);
        EXPECT_EQ(now(), before);
        ++ended;
      });
    }
  });
  rt().run_until_idle();
  EXPECT_EQ(ended, 40);
}

TEST_P(simulated_time, stands_still_while_a_file_is_written) {
  const test::temporary_folder folder;
  const std::string path = folder / "file";
  for (int round = 0; round < 20; ++round) {
    const auto before = now();
    spawn_in(rt(), color{8}, []() -> task<> { static_cast<void>(co_await sleep(30s)); }).detach();
    in_color([&]() -> task<> {
      auto opened = co_await file::open(path, file_flags::write | file_flags::create);
      EXPECT_TRUE(opened);
      EXPECT_TRUE(co_await opened->write_at(0, "text"));
      EXPECT_TRUE(co_await opened->sync());
      EXPECT_TRUE(co_await opened->close());
      EXPECT_EQ(now(), before);
    });
    EXPECT_GE(now(), before + 30s) << "and goes on behind it";
  }
}

TEST_P(simulated_time, does_not_wait_for_ever_for_a_job_that_waits_for_it) {
  world_with.longest_job = 1ms;
  std::atomic<bool> fired{false};
  rt().post(here_color, [&] {
    post_after(1h, [&] { fired = true; });
    blocking(here_color, [&] { test::spin_until([&] { return fired.load(); }); }, [](const result<>& done) { EXPECT_TRUE(done); });
  });
  rt().run_until_idle();
  EXPECT_TRUE(fired);
}

// The time is up just when a worker falls asleep, in one of some ten thousand rounds: the long form is sure to see that.
TEST_P(simulated_time, goes_on_whenever_the_time_for_a_job_is_up) {
  world_with.longest_job = 12us;
  int left = static_cast<int>(test::rounds(2'000));
  in_color([&]() -> task<> {
    for (; left != 0; --left) {
      std::atomic<bool> fired{false};
      post_after(1h, [&] { fired = true; });
      co_await blocking([&] { test::spin_until([&] { return fired.load(); }); });
    }
  });
  EXPECT_EQ(left, 0);
}

// It would count as awake, and time would stand still for ever.
TEST_P(simulated_time, goes_on_when_a_worker_has_left) {
  in_color([&]() -> task<> {
    const auto before = now();
    rt().set_workers(1);
    EXPECT_TRUE(co_await sleep(1h));
    EXPECT_TRUE(co_await blocking([] { return true; }));
    EXPECT_GE(now(), before + 1h);
  });
}

/// Sleeps again and again until the runtime stops.
task<> go_on_sleeping() {
  for (;;) {
    const result<> slept = co_await sleep(1s);
    if (!slept) co_return;
  }
}

TEST_P(simulated_time, is_stopped_by_a_signal_wherever_that_comes) {
  const pthread_t here = ::pthread_self();
  for (unsigned round = 0; round < test::rounds(100); ++round) {
    std::atomic<bool> runs{false};
    rt().stop_on({SIGUSR1});
    rt().spawn(go_on_sleeping).detach();
    rt().post(here_color, [&] { runs = true; });
    std::thread sender{[&] {
      test::spin_until([&] { return runs.load(); });
      for (unsigned n = 0; n < round % 7; ++n) std::this_thread::yield();
      ::pthread_kill(here, SIGUSR1);
    }};
    EXPECT_EQ(rt().run(), 0);
    sender.join();
    end_runtime();
  }
}

}  // namespace
}  // namespace tartan
