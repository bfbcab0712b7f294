// Contract 16: a coroutine's frame is there as long as anything that it awaits is running.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <system_error>
#include <tartan/core/await_blocking.h>
#include <tartan/core/in.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <tartan/time/sleep.h>
#include <tartan/time/with_timeout.h>
#include <thread>

#include "tests/virtual_time.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class nothing_dangles : public test::on_workers {
 protected:
  options virtual_settings() {
    options with = settings();
    with.poller = &clock;
    with.stall_after = {};
    return with;
  }

  /// A local variable of a coroutine, and who uses it while the coroutine waits.
  struct local {
    explicit local(std::atomic<int>& users) : users_{users} {}
    local(const local&) = delete;
    local& operator=(const local&) = delete;
    ~local() { EXPECT_EQ(users_.load(), 0) << "somebody uses a frame that goes away"; }
    std::atomic<int>& users_;
  };

  test::virtual_poller clock;
  std::atomic<int> users{0};
};

TEST_P(nothing_dangles, because_a_time_limit_returns_when_the_operation_has_ended) {
  runtime rt{virtual_settings()};
  bool done = false;
  rt.spawn_in(color{1}, [&]() -> task<> {
    local mine{users};
    const auto stubborn = [&]() -> task<> {
      users.fetch_add(1);
      (void)co_await in(color{2}, [] { return 1; });
      EXPECT_FALSE(co_await sleep(1h)) << "is asked to end";
      for (int n = 0; n < 10; ++n) co_await in(color{3}, [] {});
      users.fetch_sub(1);
    };
    const result<void> outcome = co_await with_timeout(1ms, stubborn());
    EXPECT_EQ(users.load(), 0);
    EXPECT_EQ(outcome.error(), errc::timed_out);
    done = true;
  });
  rt.run_until_idle();
  EXPECT_TRUE(done);
}

TEST_P(nothing_dangles, because_blocking_work_is_not_cut_short) {
  for (unsigned round = 0; round < test::rounds(10); ++round) {
    std::atomic<bool> begun{false};
    std::atomic<bool> may_end{false};
    runtime rt{settings()};
    auto handle = rt.spawn_in(color{1}, [&]() -> task<> {
      local mine{users};
      co_await blocking([&] {
        users.fetch_add(1);
        begun = true;
        test::spin_until([&] { return may_end.load(); });
        users.fetch_sub(1);
      });
    });
    std::thread later{[&] {
      test::spin_until([&] { return begun.load(); });
      handle.cancel();
      rt.stop();
      for (unsigned n = 0; n < 100; ++n) std::this_thread::yield();
      may_end = true;
    }};
    rt.run_until_idle();
    rt.drain(0ns);  // the frame goes, but not before the job
    later.join();
    EXPECT_EQ(users.load(), 0);
  }
}

TEST_P(nothing_dangles, because_a_visit_to_another_color_is_not_cut_short) {
  for (unsigned round = 0; round < test::rounds(10); ++round) {
    runtime rt{settings()};
    bool came_back = false;
    join_handle<void>* visitor = nullptr;
    auto handle = rt.spawn_in(color{1}, [&]() -> task<> {
      local mine{users};
      co_await in(color{2}, [&]() -> task<> {
        users.fetch_add(1);
        co_await in(color{3}, [&] {
          users.fetch_add(1);
          visitor->cancel();
          users.fetch_sub(1);
        });
        users.fetch_sub(1);
      });
      came_back = true;
    });
    visitor = &handle;
    rt.run_until_idle();
    EXPECT_TRUE(came_back);
  }
}

TEST(nothing_dangles_DeathTest, because_a_drain_that_cannot_end_ends_the_process_with_a_report) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto stuck = [] {
    options with;
    with.workers = 1;
    with.drain_within = 0ns;
    runtime rt{with};
    std::atomic<bool> begun{false};
    rt.spawn_in(color{1}, [&]() -> task<> {
      co_await blocking([&] {
        begun = true;
        test::spin_until([] { return false; });
      });
    });
    rt.run_for(0ns);
    test::spin_until([&] { return begun.load(); });
    rt.drain(0ns);
  };
  EXPECT_DEATH(stuck(), "a blocking job does not end.*nothing_dangles_test.cpp:[0-9]+");
}

INSTANTIATE_TEST_SUITE_P(workers, nothing_dangles, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
