// What foreign threads may still do while a runtime is drained: docs/design/posting-gates.md, the doors. All at once: tests/stress.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <tartan/core/blocking.h>
#include <tartan/core/channel.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/spawn.h>
#include <tartan/core/yield.h>
#include <thread>
#include <utility>

#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class a_drain_with_threads_outside : public test::on_workers {
 protected:
  void SetUp() override {
    on_workers::SetUp();
    start();
  }
  void TearDown() override {
    rt.reset();
    on_workers::TearDown();
  }

  /// Another runtime in the place of the last one.
  void start() {
    options with = settings();
    with.stall_after = {};
    with.blocking_threads = 1;
    rt.emplace(with);
  }

  /// Calls f on a thread of its own in the middle of drain(), before what `waits` spawns is destroyed: first asked, first destroyed.
  template <class W, class F>
  void call_while_draining(W waits, F f) {
    spawn_in(*rt, color{1}, [this, f]() -> task<> {
      const struct at_end {
        const F& call;
        ~at_end() { std::thread{call}.join(); }
      } guard{f};
      (void)co_await never.receive();
    });
    waits();
    rt->run_until_idle();
    EXPECT_NE(rt->drain(0ns).destroyed, 0u);
  }

  std::optional<runtime> rt;
  channel<int> never{capacity{1}};
};
INSTANTIATE_TEST_SUITE_P(on, a_drain_with_threads_outside, testing::ValuesIn(test::worker_counts()), test::worker_name);

task<> eat(channel<int>& from) {
  (void)co_await from.receive();
}

TEST_P(a_drain_with_threads_outside, leaves_in_the_channel_what_is_sent_to_who_is_about_to_be_destroyed) {
  channel<int> c{capacity{1}};
  call_while_draining([&] { spawn_in(*rt, color{2}, eat, std::ref(c)); }, [&] { EXPECT_TRUE(c.try_send(1)); });
  EXPECT_EQ(c.size(), 1u);
}

TEST_P(a_drain_with_threads_outside, leaves_a_channel_alone_that_was_closed_and_destroyed) {
  auto c = std::make_unique<channel<int>>(capacity{1});
  call_while_draining([&] { spawn_in(*rt, color{2}, eat, std::ref(*c)); }, [&] {
    c->close();
    c.reset();
  });
  EXPECT_EQ(c, nullptr);
}

task<> pass(semaphore& s) {
  co_await yield();
  const auto permit = co_await s.acquire();
}

TEST_P(a_drain_with_threads_outside, gives_no_permit_to_who_is_about_to_be_destroyed) {
  semaphore s{1};
  auto held = s.try_acquire();
  call_while_draining([&] { spawn_in(*rt, color{2}, pass, std::ref(s)); }, [&] { held->release(); });
  EXPECT_EQ(s.available(), 1u);
}

TEST_P(a_drain_with_threads_outside, gives_no_permit_of_who_was_destroyed_to_who_will_be) {
  semaphore s{1};
  spawn_in(*rt, color{2}, [](semaphore& from, channel<int>& silent) -> task<> {
    const auto permit = co_await from.acquire();
    (void)co_await silent.receive();
  }, std::ref(s), std::ref(never));
  spawn_in(*rt, color{2}, pass, std::ref(s));
  rt->run_until_idle();
  EXPECT_EQ(rt->drain(0ns).destroyed, 2u);
  EXPECT_EQ(s.available(), 1u);
}

/// Calls f on another thread again and again, until a drain has ended that began after its first call.
template <class F>
void drain_against(runtime& rt, std::atomic<bool>& drained, F f) {
  std::atomic<bool> begun{false};
  std::atomic<bool> end{false};
  std::thread other{[&] {
    for (int n = 0; n < 20'000 && !end; ++n) {
      f();
      begun = true;
    }
  }};
  test::spin_until([&] { return begun.load(); });
  (void)rt.drain(0ns);
  drained = true;
  end = true;
  other.join();
}

task<> nothing() {
  co_return;
}

TEST_P(a_drain_with_threads_outside, destroys_a_coroutine_once_that_is_being_spawned) {
  for (unsigned round = 0; round < test::rounds(20); ++round) {
    start();
    std::atomic<bool> drained{false};
    drain_against(*rt, drained, [&] { (void)spawn_in(*rt, color{1}, nothing); });
    EXPECT_FALSE(spawn_in(*rt, color{1}, nothing));
  }
}

TEST_P(a_drain_with_threads_outside, is_not_survived_by_a_blocking_job_that_is_handed_in) {
  for (unsigned round = 0; round < test::rounds(100); ++round) {
    start();
    std::atomic<bool> drained{false};
    std::atomic<int> late{0};
    rt->run_until_idle();
    drain_against(*rt, drained, [&] {
      (void)blocking(*rt, color{1}, [&] { late += drained ? 1 : 0; }, [](result<>) {});
    });
    rt.reset();
    EXPECT_EQ(late, 0);
  }
}

}  // namespace
}  // namespace tartan
