// What a runtime does while it has nothing to do but to wait for a timer: nothing, and then it is in time.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/time/post_after.h>
#include <thread>

#include "tests/still_clock.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t ms_ns = 1'000'000;
using durations = std::initializer_list<std::chrono::nanoseconds>;

class an_idle_runtime : public test::on_workers {
 protected:
  void SetUp() override {
    on_workers::SetUp();
    options with = settings();
    with.poller = &clock;
    rt_ = std::make_unique<runtime>(with);
  }

  /// Runs until stop(); for as long as the clock shows, if it is told so.
  void start(std::chrono::nanoseconds limit = {}) {
    runner_ = std::thread{[this, limit] {
      if (limit == 0ns) {
        rt().run();
      } else {
        rt().run_for(limit);
      }
    }};
  }
  void await_sleep() {
    test::spin_until([this] { return clock.all_asleep(); });
  }
  void TearDown() override {
    rt().stop();
    if (runner_.joinable()) runner_.join();
    rt_.reset();
    on_workers::TearDown();
  }

  runtime& rt() { return *rt_; }

  test::still_poller clock;

 private:
  std::unique_ptr<runtime> rt_;
  std::thread runner_;
};
INSTANTIATE_TEST_SUITE_P(on, an_idle_runtime, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(an_idle_runtime, sleeps_for_10_seconds_without_a_look_at_anything) {
  for (unsigned n = 1; n <= 100; ++n) rt().post(color{n}, [] { post(color{7}, [] {}); });
  post_after(rt(), 1h, [] {});
  start();
  test::spin_until([&] { return rt().counters().events == 200; });
  await_sleep();
  EXPECT_GE(clock.first_awake_ns(), clock.now_ns() + 3'600'000 * ms_ns);
  const runtime_counters before = rt().counters();
  const std::uint64_t harvests = clock.harvests();
  clock.advance(10s);
  ASSERT_TRUE(clock.all_asleep());  // so that nothing can change any more
  EXPECT_EQ(rt().counters().sleeps, before.sleeps);
  EXPECT_EQ(rt().counters().wakes, before.wakes);
  EXPECT_EQ(clock.harvests(), harvests);
}

TEST_P(an_idle_runtime, has_a_worker_awake_at_most_1_ms_after_the_deadline_of_a_timer_from_outside) {
  start();
  for (const auto wait : durations{500ms, 499ms, 100ms, 99'900us, 1ms, 1us}) {
    await_sleep();
    const std::uint64_t deadline = clock.now_ns() + static_cast<std::uint64_t>(wait.count());
    post_after(rt(), color{5}, wait, [] {});
    await_sleep();
    EXPECT_GE(clock.first_awake_ns(), deadline);
    EXPECT_LE(clock.first_awake_ns(), deadline + ms_ns) << wait.count();
  }
}

TEST_P(an_idle_runtime, has_a_worker_awake_at_most_1_ms_after_the_deadline_of_a_timer_that_an_event_has_set) {
  start();
  for (const auto wait : durations{500ms, 499ms, 100ms, 99'900us, 1ms, 1us}) {
    await_sleep();
    const std::uint64_t deadline = clock.now_ns() + static_cast<std::uint64_t>(wait.count());
    const std::uint64_t events = rt().counters().events;
    rt().post(color{6}, [wait] { post_after(color{6}, wait, [] {}); });
    test::spin_until([&] { return rt().counters().events != events; });
    await_sleep();
    EXPECT_GE(clock.first_awake_ns(), deadline);
    EXPECT_LE(clock.first_awake_ns(), deadline + ms_ns) << wait.count();
  }
}

TEST_P(an_idle_runtime, relies_on_no_sleeper_who_will_be_awake_too_late_for_a_timer) {
  start(50ms);  // worker 0 will be awake then
  for (const auto wait : durations{46ms, 42ms, 39ms}) {
    await_sleep();
    const std::uint64_t deadline = clock.now_ns() + static_cast<std::uint64_t>(wait.count());
    post_after(rt(), wait, [] {});
    await_sleep();
    EXPECT_LE(clock.first_awake_ns(), deadline + ms_ns) << wait.count();
  }
}

}  // namespace
}  // namespace tartan
