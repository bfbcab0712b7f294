// When shared_queue's select event polls, and who may block for it.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <thread>

#include "core/sleep/futex_poller.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/papers/input_fixture.h"
#include "core/sched/papers/policy_probes.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

/// Real sleep; nothing ever becomes ready. Notes who sleeps, who of them where readiness would come, and how often somebody has looked.
class quiet_outside final : public detail::poller {
 public:
  void attach(unsigned workers) override { real_.attach(workers); }
  void approach(unsigned worker, detail::bed where) noexcept override {
    blocks[worker] = where == detail::bed::source;
    real_.approach(worker, detail::bed::token);
  }
  std::uint64_t now_ns() noexcept override { return real_.now_ns(); }
  detail::slept sleep(unsigned worker, detail::wake_token& token, detail::sleep_limit limit) noexcept override {
    sleeps[worker] = true;
    const detail::slept how = real_.sleep(worker, token, limit);
    sleeps[worker] = false;
    return how;
  }
  void wake(unsigned worker, detail::wake_token& token) noexcept override { real_.wake(worker, token); }
  bool harvest(unsigned /*worker*/) noexcept override {
    looks.fetch_add(1);
    return false;
  }

  bool has_source() const noexcept override { return true; }

  std::array<std::atomic<bool>, 3> blocks{};
  std::array<std::atomic<bool>, 3> sleeps{};
  std::atomic<unsigned> looks{0};

 private:
  detail::futex_poller real_{detail::futex_poller::seat_kind::pipe};
};

class shared_select : public test::leaves_nothing {
 protected:
  void TearDown() override {
    outside_.reset();
    leaves_nothing::TearDown();
  }
  [[nodiscard]] quiet_outside& outside() const { return *outside_; }
  [[nodiscard]] options with(unsigned workers) {
    options made;
    made.scheduler = "shared_queue";
    made.workers = workers;
    made.stall_after = 0ns;
    made.poller = outside_.get();
    return made;
  }

  /// From an event, or, with all workers, from a thread outside: until so many sleep, and nobody is on its way.
  void await_sleepers(runtime& rt, unsigned number) {
    detail::lifecycle& life = rt.state().life();
    test::spin_until([&] {
      unsigned asleep = 0;
      for (unsigned n = 0; n < rt.workers(); ++n) asleep += life.sleepers().is_asleep(n) && outside().sleeps[n] ? 1 : 0;
      const detail::idle_view seen = life.sleepers().view();
      return asleep == number && seen.sleeping() == number && seen.searching() == 0;
    });
  }
  /// Of those that sleep, all but the calling worker.
  [[nodiscard]] unsigned blocking(runtime& rt) const {
    const detail::worker* const me = rt.state().worker_here();
    unsigned all = 0;
    for (unsigned n = 0; n < rt.workers(); ++n) all += (me == nullptr || me->index != n) && outside().blocks[n] ? 1 : 0;
    return all;
  }

 private:
  std::unique_ptr<quiet_outside> outside_ = std::make_unique<quiet_outside>();
};

TEST_F(shared_select, blocks_only_when_it_is_alone_in_the_queue) {
  runtime rt{with(2)};
  unsigned alone = 0;
  unsigned beside_another = ~0u;
  std::atomic<bool> ran{false};
  rt.post(color{1}, [&] {
    await_sleepers(rt, 1);
    alone = blocking(rt);
    rt.post(color{1}, [&] { ran = true; });  // wakes the other one, which may not run it
    await_sleepers(rt, 1);
    beside_another = blocking(rt);
  });
  unsigned at_last = 0;
  std::thread later{[&] {
    test::spin_until([&] { return ran.load(); });
    await_sleepers(rt, 2);
    at_last = blocking(rt);
    rt.stop();
  }};
  rt.run();
  later.join();
  EXPECT_EQ(alone, 1u);
  EXPECT_EQ(beside_another, 0u);
  EXPECT_EQ(at_last, 1u);
}

/// It is of color 0 itself.
TEST_F(shared_select, blocks_only_while_color_0_does_not_run) {
  runtime rt{with(2)};
  unsigned meanwhile = 0;
  bool looked_before = false;
  std::atomic<bool> ran{false};
  rt.post([&] {
    await_sleepers(rt, 1);
    rt.post([&] {  // behind the first look, which finds nothing
      looked_before = outside().looks != 0;
      await_sleepers(rt, 1);
      meanwhile = blocking(rt);
      rt.post(color{7}, [&] { ran = true; });
      test::spin_until([&] { return ran.load(); });
      await_sleepers(rt, 1);
      meanwhile += blocking(rt);
    });
  });
  rt.run_until_idle();
  EXPECT_TRUE(looked_before);
  EXPECT_EQ(meanwhile, 0u);
}

TEST_F(shared_select, blocks_one_worker_and_no_other) {
  runtime rt{with(3)};
  std::array<unsigned, 30> seen{};
  rt.post(color{1}, [&] {
    for (unsigned& each : seen) {
      std::atomic<bool> ran{false};
      rt.post(color{7}, [&] { ran = true; });
      test::spin_until([&] { return ran.load(); });
      await_sleepers(rt, 2);
      each = blocking(rt);
    }
  });
  rt.run_until_idle();
  for (const unsigned each : seen) EXPECT_EQ(each, 1u);
}

TEST_F(shared_select, is_ended_by_a_post_and_polls_then) {
  runtime rt{with(2)};
  unsigned blocked = 0;
  unsigned looks = 0;
  rt.post(color{1}, [&] {
    await_sleepers(rt, 1);
    blocked = blocking(rt);
    looks = outside().looks;
    std::atomic<bool> ran{false};
    rt.post(color{7}, [&] { ran = true; });
    test::spin_until([&] { return ran.load(); });
    await_sleepers(rt, 1);
    looks = outside().looks - looks;
  });
  rt.run_until_idle();
  EXPECT_EQ(blocked, 1u);
  EXPECT_EQ(looks, 1u);
}

/// Worker 0 runs; worker 1 looks for work meanwhile, step by step on the same thread.
TEST(shared_select_steps, see_what_has_ended_between_a_search_and_a_rest) {
  using probe = detail::policy_probe<detail::shared_queue_policy>;
  options settings;
  settings.scheduler = "shared_queue";
  settings.workers = 2;
  settings.stall_after = 0ns;
  runtime rt{settings};
  while (probe::run_next(rt, 0)) {  // the look, which finds nothing
  }
  bool seen = false;
  rt.post([&] {
    EXPECT_FALSE(probe::search(rt, 1));
    EXPECT_EQ(probe::polls_at_rest(rt, 1), detail::polling::never) << "beside an event of color 0";
    rt.post(color{5}, [&] {
      seen = true;
      EXPECT_EQ(probe::sources(rt, 1), detail::work_seen::found);
      EXPECT_FALSE(probe::search(rt, 1));
      EXPECT_EQ(probe::polls_at_rest(rt, 1), detail::polling::always);
      EXPECT_EQ(probe::sources(rt, 1), detail::work_seen::none);
    });
  });
  while (probe::run_next(rt, 0)) {
  }
  EXPECT_TRUE(seen);
}

/// Two workers, each with an event at any time, take them in turn. Input of ever new colors: computation, and what is of a worker's last color,
/// would go before the look.
TEST_F(shared_select, polls_once_in_64_events_while_all_are_busy) {
  constexpr unsigned rounds = 1000;
  runtime rt{with(2)};
  std::array<std::atomic<unsigned>, 2> begun{};
  std::function<void(unsigned)> again = [&](unsigned which) {
    const unsigned round = begun[which].load() + 1;
    if (round != rounds) test::post_input(rt, color{2 * round + 3 + which}, [&again, which] { again(which); });
    begun[which] = round;  // what comes next is queued by then, so that neither overtakes the other
    test::spin_until([&] { return begun[1 - which].load() >= round; });
  };
  for (const unsigned which : {0u, 1u}) test::post_input(rt, color{which + 1}, [&again, which] { again(which); });
  rt.run_until_idle();
  EXPECT_GE(outside().looks, 2 * rounds / 64 / 2);
  EXPECT_LE(outside().looks, 2 * rounds / 64 * 3 / 2);
}

}  // namespace
}  // namespace tartan
