// What foreign threads may still do while a runtime is drained: docs/design/posting-gates.md, the doors. All at once: tests/stress.

#include <gtest/gtest.h>

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tartan/core/blocking.h>
#include <tartan/core/channel.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/spawn.h>
#include <tartan/core/watch.h>
#include <tartan/core/work_guard.h>
#include <tartan/core/yield.h>
#include <thread>
#include <utility>

#include "core/blocking_pool.h"
#include "core/root_registry.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
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

task<> follow(watch<int>& of) {
  auto reader = of.subscribe();
  while (co_await reader.next()) {
  }
}

TEST_P(a_drain_with_threads_outside, resumes_no_reader_of_a_watch_that_is_about_to_be_destroyed) {
  watch<int> level{0};
  call_while_draining(
      [&] {
        spawn_in(*rt, color{2}, follow, std::ref(level));
        spawn_in(*rt, color{3}, follow, std::ref(level));
      },
      [&] { EXPECT_TRUE(level.set(1)); });
  EXPECT_EQ(level.get(), 1);
  EXPECT_TRUE(level.set(2)) << "no coroutine waits in it any more";
}

TEST_P(a_drain_with_threads_outside, lets_a_thread_end_its_work_guard) {
  std::optional<work_guard> guard;
  spawn_in(*rt, color{1}, [&]() -> task<> {
    const struct at_end {
      std::optional<work_guard>& held;
      ~at_end() {
        std::thread{[&] { held.reset(); }}.join();
      }
    } ends_it{guard};
    (void)co_await never.receive();
  });
  rt->run_until_idle();
  guard.emplace(*rt);
  EXPECT_EQ(rt->drain(0ns).destroyed, 1u);
  EXPECT_FALSE(guard);
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

/// A point on the way of a foreign thread through a door, where it is held until a drain has ended. But that must wait for it: so it
/// is let go when the draining thread has used up some 50 times the CPU that a drain takes, which it does by waiting.
class held_point {
 public:
  /// By the thread on its way.
  void pass() noexcept {
    const auto begin = used_by_drainer();
    reached_ = true;
    test::spin_until([&] { return drained_ || used_by_drainer() - begin > 10ms; });
    overtaken_ = drained_.load();
  }
  /// Drains while another thread that runs f is at the point.
  template <class F>
  void drain_there(runtime& rt, F f) {
    ASSERT_EQ(::pthread_getcpuclockid(::pthread_self(), &drainers_), 0);
    std::thread other{f};
    test::spin_until([&] { return reached_.load(); });
    (void)rt.drain(0ns);
    drained_ = true;
    other.join();
    EXPECT_FALSE(overtaken_) << "the drain has not waited for a thread inside";
  }

 private:
  [[nodiscard]] std::chrono::nanoseconds used_by_drainer() const noexcept {
    ::timespec used{};
    (void)::clock_gettime(drainers_, &used);
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
  }

  clockid_t drainers_{};
  std::atomic<bool> reached_{false};
  std::atomic<bool> drained_{false};
  std::atomic<bool> overtaken_{false};
};

/// The default policy, with a point on the way of what a foreign thread posts to color 1.
class policy_with_a_point final : public detail::scheduler {
 public:
  policy_with_a_point(detail::runtime_state& rt, held_point& at) : real_{detail::make_scheduler(rt)}, at_{at} {}

  void submit(color where, detail::event& e, detail::worker* from) noexcept override {
    if (from == nullptr && where == color{1}) at_.pass();
    real_->submit(where, e, from);
  }
  void submit(detail::strand_state& s, detail::event& e, detail::worker* from) noexcept override { real_->submit(s, e, from); }
  void submit_many(std::span<detail::addressed_event> many, detail::worker* from) noexcept override { real_->submit_many(many, from); }
  detail::strand_state* open_strand(detail::worker* from, bool named) override { return real_->open_strand(from, named); }
  void close_strand(detail::strand_state& s, detail::worker* from) noexcept override { real_->close_strand(s, from); }
  color color_of(const detail::strand_state& s) const noexcept override { return real_->color_of(s); }
  void place(detail::strand_state& s, unsigned worker) noexcept override { real_->place(s, worker); }
  detail::work_seen sources(const detail::worker& w) noexcept override { return real_->sources(w); }
  detail::work_seen watch_others(const detail::worker& w) noexcept override { return real_->watch_others(w); }
  std::uint64_t first_watch_ns() const noexcept override { return real_->first_watch_ns(); }
  void look_ahead(const detail::worker& w) noexcept override { real_->look_ahead(w); }
  void cover(detail::worker& w) noexcept override { real_->cover(w); }
  bool shares_polling() const noexcept override { return real_->shares_polling(); }
  void take_over(detail::worker& w) noexcept override { real_->take_over(w); }
  detail::polling polls_at_rest(const detail::worker& w) const noexcept override { return real_->polls_at_rest(w); }
  bool any_left() noexcept override { return real_->any_left(); }
  std::size_t waiting(unsigned worker) const noexcept override { return real_->waiting(worker); }
  bool has_loot(unsigned worker) const noexcept override { return real_->has_loot(worker); }
  bool may_lose_workers() const noexcept override { return real_->may_lose_workers(); }
  void hand_over(unsigned worker_index) noexcept override { real_->hand_over(worker_index); }
  std::size_t drop_all() noexcept override { return real_->drop_all(); }
  detail::scheduler_figures figures() const noexcept override { return real_->figures(); }
  void run(detail::worker& w) override { real_->run(w); }

 private:
  std::unique_ptr<detail::scheduler> real_;
  held_point& at_;
};

task<> marked(std::shared_ptr<int> /*mark*/) {
  co_return;
}

TEST_P(a_drain_with_threads_outside, destroys_a_coroutine_once_that_is_being_spawned) {
  held_point listed_and_not_yet_posted;
  rt->state().use(std::make_unique<policy_with_a_point>(rt->state(), listed_and_not_yet_posted));
  const auto mark = std::make_shared<int>();
  listed_and_not_yet_posted.drain_there(*rt, [&] { EXPECT_TRUE(spawn_in(*rt, color{1}, marked, mark)); });
  EXPECT_EQ(mark.use_count(), 1) << "destroyed";
}

TEST_P(a_drain_with_threads_outside, destroys_what_is_being_posted) {
  held_point admitted_and_not_yet_pushed;
  rt->state().use(std::make_unique<policy_with_a_point>(rt->state(), admitted_and_not_yet_pushed));
  const auto mark = std::make_shared<int>();
  admitted_and_not_yet_pushed.drain_there(*rt, [&] { EXPECT_TRUE(rt->post(color{1}, [mark] { FAIL(); })); });
  EXPECT_EQ(mark.use_count(), 1) << "destroyed";
}

TEST_P(a_drain_with_threads_outside, refuses_a_coroutine_that_is_spawned_later) {
  (void)rt->drain(0ns);
  const auto mark = std::make_shared<int>();
  EXPECT_FALSE(spawn_in(*rt, color{1}, marked, mark));
  EXPECT_EQ(mark.use_count(), 1);
  EXPECT_EQ(rt->state().roots().size(), 0u);
}

TEST_P(a_drain_with_threads_outside, is_not_survived_by_a_blocking_job_that_is_handed_in) {
  static thread_local held_point* here = nullptr;  // the hook is a plain function
  held_point admitted_and_not_in_the_pool;
  detail::blocking_setup with = detail::blocking_pool::setup_for(rt->state());
  with.offered = [](void*) noexcept { here->pass(); };
  rt->state().use(std::make_unique<detail::blocking_pool>(with));
  rt->run_until_idle();
  const auto mark = std::make_shared<int>();
  admitted_and_not_in_the_pool.drain_there(*rt, [&] {
    here = &admitted_and_not_in_the_pool;
    (void)blocking(*rt, color{1}, [mark] {}, [mark](result<>) {});
  });
  rt.reset();
  EXPECT_EQ(mark.use_count(), 1);
}

}  // namespace
}  // namespace tartan
