#include <tartan/core/work_guard.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <tartan/core/yield.h>
#include <thread>
#include <utility>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class a_work_guard : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, a_work_guard, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(a_work_guard, keeps_a_run_until_idle_going_for_what_another_thread_posts) {
  for (int round = 0; round < 200; ++round) {
    int got = 0;
    std::thread later{[&, guard = work_guard{rt()}]() mutable {
      for (int n = 0; n < round % 7; ++n) std::this_thread::yield();  // workers: anywhere from awake to asleep
      rt().post(color{1}, [&] { ++got; });
      guard.reset();
    }};
    run();
    EXPECT_EQ(got, 1) << "round " << round;
    later.join();
  }
}

TEST_P(a_work_guard, makes_visible_what_its_thread_did) {
  int plain = 0;
  std::thread later{[&, guard = work_guard{rt()}] { plain = 7; }};
  run();
  EXPECT_EQ(plain, 7);
  later.join();
}

TEST_P(a_work_guard, may_be_ended_by_a_thread_while_the_runtime_is_destroyed) {
  for (int round = 0; round < 100; ++round) {
    auto mine = std::make_unique<runtime>(settings());
    std::thread later{[guard = work_guard{*mine}] {}};  // ends with the closure, on the thread
    mine->run_until_idle();
    mine.reset();
    later.join();
  }
}

TEST_P(a_work_guard, counts_as_long_as_one_of_several_is_left) {
  work_guard first{rt()};
  work_guard second{rt()};
  bool ran = false;
  rt().post([&] {
    first.reset();
    first.reset();
    spawn_in(color{1}, [&]() -> task<> {
      for (int n = 0; n < 100; ++n) co_await yield();
      ran = true;
      second.reset();
    });
  });
  run();
  EXPECT_TRUE(ran);
}

TEST_P(a_work_guard, moves_its_promise) {
  work_guard from{rt()};
  work_guard to{std::move(from)};
  EXPECT_FALSE(from);
  EXPECT_TRUE(to);
  from = work_guard{rt()};
  from = std::move(to);  // ends the one that it had
  EXPECT_TRUE(from);
  EXPECT_FALSE(to);
  std::thread last{[&] { from.reset(); }};
  run();
  last.join();
  EXPECT_FALSE(from);
}

TEST_P(a_work_guard, counts_for_nothing_after_a_stop) {
  work_guard guard{rt()};
  bool left = false;
  std::thread stops{[&] { rt().stop(); }};
  run();  // the stop ends it
  stops.join();
  rt().post([] {});
  spawn(rt(), [&]() -> task<> {
    left = true;
    co_return;
  });
  const auto before = clock.now();
  EXPECT_TRUE(rt().drain(10s).complete);
  EXPECT_EQ(clock.now(), before) << "the drain has waited";
  EXPECT_FALSE(left) << "refused after the stop";
}

TEST_P(a_work_guard, is_waited_for_by_a_shutdown) {
  int got = 0;
  auto real_time = std::make_unique<runtime>(settings());
  std::thread later{[&, guard = work_guard{*real_time}]() mutable {
    test::spin_until([&] { return real_time->shutting_down(); });
    EXPECT_TRUE(real_time->post(color{1}, [&] { ++got; }));
    guard.reset();
  }};
  real_time->shutdown(1h);
  EXPECT_EQ(real_time->run(), 0);
  EXPECT_EQ(got, 1);
  later.join();
}

TEST_P(a_work_guard, does_not_hold_up_a_shutdown_beyond_its_time) {
  work_guard guard{rt()};
  const auto before = clock.now();
  rt().shutdown(10s);
  EXPECT_EQ(rt().run(), 0);
  EXPECT_GE(clock.now() - before, 10s);
  EXPECT_LE(clock.now() - before, 11s);
}

TEST_P(a_work_guard, does_not_hold_up_a_run_that_a_run_that_has_an_end_of_its_own) {
  work_guard guard{rt()};
  int ran = 0;
  rt().post([&] { ++ran; });
  EXPECT_EQ(rt().run_for(0ns), 1u);
  EXPECT_EQ(rt().run_for(1ms), 0u);
  EXPECT_EQ(ran, 1);
}

TEST(a_work_guard_that_outlives_its_runtime, ends_the_program) {
  EXPECT_DEATH(
      {
        auto rt = std::make_unique<runtime>();
        const work_guard guard{*rt};
        rt.reset();
      },
      "a runtime was destroyed before 1 work guards that belong to it");
}

}  // namespace
}  // namespace tartan
