// The interface of a policy must do for others than the default: here for one that runs everything on one worker, in an order of
// its own, and polls when it likes.
#include "core/lifecycle.h"
#include "core/sched/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <ranges>
#include <source_location>
#include <string>
#include <tartan/core/await_blocking.h>
#include <tartan/core/channel.h>
#include <tartan/core/event_batch.h>
#include <tartan/core/in.h>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <thread>
#include <utility>
#include <vector>

#include "core/sleep/futex_poller.h"
#include "core/sleep/readiness_source.h"
#include "core/sched/default_policy.h"
#include "core/sched/polling_event_policy_fixture.h"
#include "core/sched/serial_policy_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using detail::origin;

/// An event of any origin, with hints, that writes its number down.
struct noted_event : detail::event {
  noted_event(std::vector<int>& into, int which, const detail::event_ops& of, detail::handler_hints hints = {})
      : list{&into}, number{which} {
    ops = &of;
    site = std::source_location::current();
    std::memcpy(storage, &hints, sizeof(hints));
  }

  static void run_event(detail::event& e) {
    auto& noted = static_cast<noted_event&>(e);
    noted.list->push_back(noted.number);
  }
  static void drop_event(detail::event& /*e*/) noexcept {}
  template <origin From>
  static constexpr detail::event_ops ops_of{&run_event, &drop_event, From, false, true};

  std::vector<int>* list;
  int number;
};

/// Real sleep; when it is polled, it gives what the test has put there, and asks whether the policy wanted to poll.
class watched_poller final : public detail::poller {
 public:
  void attach(unsigned workers) override { real_.attach(workers); }
  std::uint64_t now_ns() noexcept override { return real_.now_ns(); }
  void approach(unsigned worker, detail::bed where) noexcept override { real_.approach(worker, where); }
  detail::slept sleep(unsigned worker, detail::wake_token& token, detail::sleep_limit limit) noexcept override {
    return real_.sleep(worker, token, limit);
  }
  void wake(unsigned worker, detail::wake_token& token) noexcept override { real_.wake(worker, token); }
  void deliver(unsigned worker) noexcept override {
    if (worker != 0) unasked.fetch_add(1);
  }
  bool harvest(unsigned worker) noexcept override {
    harvests.fetch_add(1);
    if (worker != 0 || !policy->polls) unasked.fetch_add(1);
    detail::event* const e = ready.exchange(nullptr);
    return e != nullptr && detail::submit_completion(*rt, color{7}, *e);
  }

  detail::runtime_state* rt = nullptr;
  test::serial_policy* policy = nullptr;
  std::atomic<detail::event*> ready{nullptr};
  std::atomic<unsigned> harvests{0};
  std::atomic<unsigned> unasked{0};

 private:
  detail::futex_poller real_;
};

/// Ends the sleeps of all workers but 0 and waits until they sleep again.
void disturb_sleepers(detail::lifecycle& life) {
  for (unsigned n = 1; n < life.size(); ++n) {
    test::spin_until([&] { return life.sleepers().is_asleep(n); });
    life.wake(n, nullptr);
    test::spin_until([&] { return life.sleepers().is_asleep(n); });
  }
}

/// One that can be called by nobody: as if it were not there, or had another name.
struct hides_leave : test::serial_policy {
 private:
  static void leave(const detail::worker& /*w*/) noexcept {}
};
struct hides_watch_others : test::serial_policy {
 private:
  static detail::work_seen watch_others(const detail::worker& /*w*/) noexcept { return detail::work_seen::none; }
};
struct hides_first_watch : test::serial_policy {
 private:
  static std::uint64_t first_watch_ns() noexcept { return 1; }
};
struct hides_figures : test::serial_policy {
 private:
  static detail::scheduler_figures figures() noexcept { return {.counted = true}; }
};
static_assert(!detail::scheduling_policy<hides_leave>);
static_assert(!detail::scheduling_policy<hides_watch_others>);
static_assert(!detail::scheduling_policy<hides_first_watch>);
static_assert(!detail::scheduling_policy<hides_figures>);

class a_second_policy : public test::with_a_serial_policy {};

TEST_P(a_second_policy, sees_the_origin_and_the_hints_of_every_event) {
  runtime rt{settings()};
  use_policy(rt);
  std::vector<int> ran;
  noted_event io{ran, 1, noted_event::ops_of<origin::io>, {.cost_ns = 100, .penalty = 2, .priority = 3}};
  noted_event timer{ran, 2, noted_event::ops_of<origin::timer>, {.cost_ns = 200, .penalty = 3, .priority = 2}};
  noted_event signal{ran, 3, noted_event::ops_of<origin::signal>, {.cost_ns = 300, .penalty = 4, .priority = 1}};
  detail::submit(rt.state(), color{1}, io);
  detail::submit(rt.state(), color{2}, timer);
  detail::submit(rt.state(), color{3}, signal);
  rt.post(color{4}, [] {});
  rt.run_until_idle();
  ASSERT_EQ(policy->seen.size(), 4u);
  EXPECT_EQ(ran.size(), 3u);
  const origin origins[] = {origin::io, origin::timer, origin::signal, origin::post};
  for (unsigned n = 0; n < 4; ++n) {
    EXPECT_EQ(policy->seen[n].where, color{n + 1});
    EXPECT_EQ(policy->seen[n].from, origins[n]);
    if (n == 3) continue;
    EXPECT_EQ(policy->seen[n].hints.cost_ns, 100 * (n + 1));
    EXPECT_EQ(policy->seen[n].hints.penalty, n + 2);
    EXPECT_EQ(policy->seen[n].hints.priority, 3 - n);
  }
}

TEST_P(a_second_policy, decides_by_priority_what_runs_next_and_keeps_the_order_of_each_color) {
  runtime rt{settings()};
  use_policy(rt);
  std::vector<int> ran;
  noted_event low{ran, 4, noted_event::ops_of<origin::post>};
  noted_event behind_low{ran, 5, noted_event::ops_of<origin::post>, {.priority = 9}};
  noted_event high{ran, 1, noted_event::ops_of<origin::io>, {.priority = 2}};
  noted_event behind_high{ran, 3, noted_event::ops_of<origin::io>, {.priority = 1}};
  noted_event middle{ran, 2, noted_event::ops_of<origin::timer>, {.priority = 1}};
  detail::submit(rt.state(), color{1}, low);
  detail::submit(rt.state(), color{1}, behind_low);
  detail::submit(rt.state(), color{2}, high);
  detail::submit(rt.state(), color{3}, middle);
  detail::submit(rt.state(), color{2}, behind_high);
  rt.run_until_idle();
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST_P(a_second_policy, decides_who_polls_and_when) {
  watched_poller polled;
  options with = settings();
  with.poller = &polled;
  with.stall_after = {};
  runtime rt{with};
  use_policy(rt);
  polled.rt = &rt.state();
  polled.policy = policy;
  std::vector<int> ran;
  noted_event io{ran, 100, noted_event::ops_of<origin::io>};
  for (int n = 0; n < 8; ++n) {
    rt.post([&, n] {
      ran.push_back(n);
      if (n == 4) polled.ready = &io;
      if (n == 5) disturb_sleepers(rt.state().life());
    });
  }
  rt.run_until_idle();
  EXPECT_TRUE(policy->steps.starts_with("eeepeeepeeep")) << policy->steps;
  EXPECT_EQ(ran, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 100}));
  EXPECT_EQ(polled.harvests, std::count(policy->steps.begin(), policy->steps.end(), 'p'));
  EXPECT_EQ(polled.unasked, 0u) << "polled by somebody else, or at another time";
}

TEST_P(a_second_policy, is_woken_by_posts_of_other_threads) {
  runtime rt{settings()};
  use_policy(rt);
  unsigned ran = 0;
  std::thread outside{[&] {
    for (unsigned n = 0; n < 1000; ++n) {
      rt.post(color{n % 5}, [&] {
        if (++ran == 1000) rt.stop();
      });
      if (n % 10 == 0) std::this_thread::yield();
    }
  }};
  EXPECT_EQ(rt.run(), 0);
  outside.join();
  EXPECT_EQ(ran, 1000u);
}

task<int> visit(channel<int>& values, strand& elsewhere) {
  co_await on(elsewhere);
  int sum = 0;
  for (int n = 0; n < 10; ++n) sum += (co_await values.receive()).value();
  sum += co_await in(color{3}, [] { return 100; });
  sum += co_await blocking([] { return 1000; });
  co_return sum;
}

TEST_P(a_second_policy, carries_the_rest_of_the_runtime) {
  runtime rt{settings()};
  use_policy(rt);
  int got = 0;
  int plain = 0;
  {
    strand elsewhere{rt, "elsewhere"};
    EXPECT_EQ(rt.name_of(elsewhere), "elsewhere");
    channel<int> values{capacity{2}};
    rt.spawn([&]() -> task<> { got = co_await visit(values, elsewhere); });
    rt.spawn([&]() -> task<> {
      for (int n = 0; n < 10; ++n) (void)co_await values.send(1);
    });
    event_batch batch{rt};
    for (unsigned n = 0; n < 10; ++n) batch.add(color{n}, [&] { ++plain; });
    rt.post(std::move(batch));
    rt.run_until_idle();
  }
  EXPECT_EQ(got, 1110);
  EXPECT_EQ(plain, 10);
}

TEST_P(a_second_policy, gives_up_what_is_left_at_the_end) {
  runtime rt{settings()};
  use_policy(rt);
  std::vector<int> ran;
  for (unsigned n = 0; n < 10; ++n) rt.post(color{n}, [&] { ran.push_back(0); });
  const drained left = rt.drain(0ns);
  EXPECT_EQ(left.destroyed, 10u);
  EXPECT_TRUE(ran.empty());
  EXPECT_FALSE(rt.post([] {}));
}

/// Readiness that a test makes, one at a time; writes down which worker takes it. What is ready is an event.
class one_edge final : public detail::readiness_source {
 public:
  /// Threads: before the first run of this runtime, which must not outlive it.
  void plug_into(runtime& rt) {
    rt_ = &rt.state();
    rt_->clock().take_source(*this);
    rt_->life().source_changed();
  }

  /// A run until idle waits until one was delivered.
  void await_one() { rt_->operation_started(); }
  void make_ready(detail::event& e) {
    const std::lock_guard hold{lock_};
    ready_ = &e;
    changed_.notify_all();
  }

  ended_by wait(unsigned worker, std::uint64_t /*at_most_ns*/) noexcept override {
    std::unique_lock hold{lock_};
    changed_.wait(hold, [&] { return called_ || ready_ != nullptr; });
    if (std::exchange(called_, false)) return ended_by::call;
    taken_ = std::exchange(ready_, nullptr);
    takers.push_back(worker);
    return ended_by::readiness;
  }
  void call() noexcept override {
    const std::lock_guard hold{lock_};
    called_ = true;
    changed_.notify_all();
  }
  void deliver(unsigned /*worker*/) noexcept override {
    if (detail::event* const e = take(taken_)) (void)post(*e);
  }
  bool set_aside(unsigned /*worker*/) noexcept override { return false; }  // nothing is ready in a pause
  [[nodiscard]] bool has_aside() const noexcept override { return false; }
  bool harvest(unsigned worker) noexcept override {
    detail::event* const e = take(ready_);
    if (e == nullptr) return false;
    takers.push_back(worker);
    return post(*e);
  }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }

  /// Threads: while no worker runs.
  std::vector<unsigned> takers;

 private:
  detail::event* take(detail::event*& from) {
    const std::lock_guard hold{lock_};
    return std::exchange(from, nullptr);
  }
  bool post(detail::event& e) {
    const bool posted = detail::submit_completion(*rt_, color{7}, e);
    rt_->operation_ended();
    return posted;
  }

  detail::runtime_state* rt_ = nullptr;
  std::mutex lock_;
  std::condition_variable changed_;
  detail::event* ready_ = nullptr;
  detail::event* taken_ = nullptr;
  bool called_ = false;
};

/// Workers that sleep where readiness wakes them, once all sleep.
std::vector<unsigned> seated(runtime& rt) {
  std::vector<unsigned> all;
  const auto& sleepers = rt.state().life().sleepers();
  const auto sleeps = [&](unsigned worker) { return sleepers.is_asleep(worker); };
  test::spin_until([&] { return std::ranges::all_of(std::views::iota(0u, rt.workers()), sleeps); });
  for (unsigned n = 0; n < rt.workers(); ++n) {
    if (sleepers.bed_of(n) == detail::bed::source) all.push_back(n);
  }
  return all;
}

TEST_P(a_second_policy, decides_who_takes_readiness_in_its_sleep) {
  for (const unsigned chosen : {0u, GetParam() - 1}) {
    one_edge outside;
    runtime rt{settings()};
    use_policy(rt);
    policy->poller = chosen;
    outside.plug_into(rt);
    std::vector<int> ran;
    noted_event io{ran, 100, noted_event::ops_of<origin::io>};
    std::thread world{[&] {
      EXPECT_EQ(seated(rt), std::vector<unsigned>{chosen});
      outside.make_ready(io);
    }};
    outside.await_one();
    rt.run_until_idle();
    world.join();
    EXPECT_EQ(ran, std::vector<int>{100});
    EXPECT_EQ(outside.takers, std::vector<unsigned>{chosen});
  }
}

class a_policy_with_a_polling_event : public test::on_workers {
 protected:
  test::polling_event_policy& use_policy(runtime& rt) {
    auto made = std::make_unique<detail::scheduled<test::polling_event_policy>>(rt.state());
    test::polling_event_policy& inner = made->inner();
    rt.state().use(std::move(made));
    return inner;
  }
};

TEST_P(a_policy_with_a_polling_event, blocks_in_it_when_it_is_alone_and_only_there_does_readiness_wake_anybody) {
  one_edge outside;
  runtime rt{settings()};
  test::polling_event_policy& policy = use_policy(rt);
  outside.plug_into(rt);
  std::vector<int> ran;
  noted_event io{ran, 100, noted_event::ops_of<origin::io>};
  std::thread world{[&] {
    std::vector<unsigned> seats;
    unsigned block = 0;
    do {  // a worker that is called and has not come yet counts as asleep: all of this within one and the same block
      block = policy.block_now();
      seats = seated(rt);
    } while (block == 0 || block != policy.block_now());
    EXPECT_EQ(seats.size(), 1u);
    outside.make_ready(io);
  }};
  outside.await_one();
  rt.run_until_idle();
  world.join();
  EXPECT_EQ(ran, std::vector<int>{100});
  EXPECT_EQ(outside.takers.size(), 1u);
  EXPECT_GE(policy.blocks, 1u);
}

TEST_P(a_policy_with_a_polling_event, only_looks_while_there_is_something_else_to_run) {
  one_edge outside;
  runtime rt{settings()};
  const test::polling_event_policy& policy = use_policy(rt);
  outside.plug_into(rt);
  std::vector<int> ran;
  noted_event io{ran, 100, noted_event::ops_of<origin::io>};
  // Never idle until that has run: in the color of `io`, which is ready from the third event on.
  std::function<void(int)> go_on = [&](int n) {
    if (n == 3) outside.make_ready(io);
    if (ran.empty()) post(color{7}, [&go_on, n] { go_on(n + 1); });
  };
  outside.await_one();
  rt.post(color{7}, [&] { go_on(1); });
  rt.run_until_idle();
  EXPECT_EQ(ran, std::vector<int>{100});
  EXPECT_EQ(outside.takers.size(), 1u);
  if (GetParam() == 1) {
    EXPECT_GE(policy.looks, 1u);
  }
}

TEST_P(a_policy_with_a_polling_event, is_called_off_for_an_event_of_its_color) {
  one_edge outside;
  runtime rt{settings()};
  (void)use_policy(rt);
  outside.plug_into(rt);
  unsigned ran = 0;
  std::thread world{[&] {
    for (unsigned n = 0; n < 100; ++n) {
      if (n % 10 == 0) (void)seated(rt);
      rt.post([&] {
        if (++ran == 100) rt.stop();
      });
    }
  }};
  EXPECT_EQ(rt.run(), 0);
  world.join();
  EXPECT_EQ(ran, 100u);
}

class a_default_policy_in_place_of_another : public test::on_workers {};

/// The threads' free lines for color queues came from the first policy's pool.
TEST_P(a_default_policy_in_place_of_another, has_color_queues_of_its_own) {
  runtime rt{settings()};
  rt.state().use(std::make_unique<detail::scheduled<detail::default_policy>>(rt.state()));
  const strand owned{rt};
  std::atomic<int> ran{0};
  rt.post([&] { ++ran; });
  rt.post(owned.value(), [&] { ++ran; });
  rt.run_until_idle();
  EXPECT_EQ(ran, 2);
}

INSTANTIATE_TEST_SUITE_P(workers, a_default_policy_in_place_of_another, testing::ValuesIn(test::worker_counts()),
                         test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, a_policy_with_a_polling_event, testing::ValuesIn(test::worker_counts()),
                         test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, a_second_policy, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
