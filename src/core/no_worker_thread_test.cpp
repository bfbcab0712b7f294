// Workers for which the system has no thread: the runtime goes on with those that there are.

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <system_error>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <tartan/core/work_guard.h>
#include <thread>
#include <vector>

#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "core/sleep/futex_poller.h"
#include "tests/short_turns.h"
#include "tests/workers.h"

namespace tartan {
namespace {

/// While it exists no thread can be started: the stack that each would get by default is larger than the address space.
class no_more_threads {
 public:
  no_more_threads() {
    EXPECT_EQ(::pthread_getattr_default_np(&before_), 0);
    pthread_attr_t huge;
    EXPECT_EQ(::pthread_attr_init(&huge), 0);
    EXPECT_EQ(::pthread_attr_setstacksize(&huge, std::size_t{1} << 60), 0);
    EXPECT_EQ(::pthread_setattr_default_np(&huge), 0);
    ::pthread_attr_destroy(&huge);
    EXPECT_THROW(std::thread{[] {}}.join(), std::system_error);
  }
  no_more_threads(const no_more_threads&) = delete;
  no_more_threads& operator=(const no_more_threads&) = delete;
  ~no_more_threads() {
    EXPECT_EQ(::pthread_setattr_default_np(&before_), 0);
    ::pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_{};
};

class workers_without_a_thread : public test::leaves_nothing, public testing::WithParamInterface<unsigned> {
 protected:
  static constexpr unsigned most = 8;
  [[nodiscard]] static options settings() {
    options with;
    with.workers = GetParam();
    with.max_workers = most;
    with.scheduler = "default";
    return with;
  }
  /// All that there are have an event at the same time.
  static void expect_together(runtime& rt, unsigned workers) {
    std::atomic<unsigned> begun{0};
    std::atomic<unsigned> ended{0};
    for (unsigned n = 0; n < workers; ++n) {
      rt.post(color{100 + n}, [&] {
        begun.fetch_add(1);
        test::spin_until([&] { return begun.load() == workers; });
        ended.fetch_add(1);
      });
    }
    test::spin_until([&] { return ended.load() == workers; });
  }
  static void expect_nothing_left_behind(bool at_the_new_one);
};
/// The real one; does something while a worker counts as searching that has no thread yet.
class interrupting_poller final : public detail::poller {
 public:
  void attach(unsigned workers) override { real_.attach(workers); }
  void starts(unsigned worker) noexcept override {
    if (interrupt) interrupt(worker);
  }
  [[nodiscard]] std::uint64_t now_ns() noexcept override { return real_.now_ns(); }
  detail::slept sleep(unsigned worker, detail::wake_token& token, detail::sleep_limit limit) noexcept override { return real_.sleep(worker, token, limit); }
  void wake(unsigned worker, detail::wake_token& token) noexcept override { real_.wake(worker, token); }
  bool harvest(unsigned worker) noexcept override { return real_.harvest(worker); }

  std::function<void(unsigned worker)> interrupt;

 private:
  detail::futex_poller real_;
};

INSTANTIATE_TEST_SUITE_P(first, workers_without_a_thread, testing::Values(1u, 2u, 4u));

TEST_P(workers_without_a_thread, leave_the_others_at_work_while_it_runs) {
  const unsigned first = GetParam();
  runtime rt{settings()};
  std::thread outside{[&, open = work_guard{rt}]() mutable {
    expect_together(rt, first);
    {
      const no_more_threads none;
      for (int n = 0; n < 3; ++n) {
        EXPECT_THROW(rt.set_workers(most), std::system_error);
        EXPECT_EQ(rt.workers(), first);
      }
      expect_together(rt, first);
    }
    rt.set_workers(most);
    EXPECT_EQ(rt.workers(), most);
    expect_together(rt, most);
    rt.set_workers(1);
    expect_together(rt, 1);
    open.reset();
  }};
  rt.run_until_idle();
  outside.join();
}

/// All others sleep, and what is posted while a worker counts as searching that never comes wakes none of them. The colors' worker is the one that
/// never comes, or worker 0.
void workers_without_a_thread::expect_nothing_left_behind(bool at_the_new_one) {
  constexpr int colors = 16;
  interrupting_poller clock;
  options with = settings();
  with.poller = &clock;
  runtime rt{with};
  std::vector<strand> strands;
  for (int n = 0; n < colors; ++n) strands.emplace_back(rt);
  std::atomic<int> ran{0};
  std::thread outside{[&, open = work_guard{rt}]() mutable {
    expect_together(rt, GetParam());
    const auto& sleepers = rt.state().life().sleepers();
    test::spin_until([&] { return sleepers.view().awake() == 0; });
    clock.interrupt = [&](unsigned worker) {
      for (strand& each : strands) {
        rt.state().policy().place(detail::strand_access::state(each), at_the_new_one ? worker : 0);
        each.post([&] { ran.fetch_add(1); });
      }
    };
    {
      const no_more_threads none;
      EXPECT_THROW(rt.set_workers(most), std::system_error);
    }
    test::spin_until([&] { return ran.load() == colors; });
    open.reset();
  }};
  rt.run_until_idle();
  outside.join();
}

TEST_P(workers_without_a_thread, leave_nothing_behind_that_was_posted_to_them) { expect_nothing_left_behind(true); }

TEST_P(workers_without_a_thread, leave_nothing_behind_that_was_left_to_their_search) { expect_nothing_left_behind(false); }

// None of those that never came may count as awake or searching: then the run would wait for it.
TEST_P(workers_without_a_thread, do_not_keep_a_run_from_ending) {
  runtime rt{settings()};
  std::thread outside{[&, open = work_guard{rt}]() mutable {
    expect_together(rt, GetParam());
    const no_more_threads none;
    EXPECT_THROW(rt.set_workers(most), std::system_error);
    open.reset();
  }};
  rt.run_until_idle();
  outside.join();
}

TEST_P(workers_without_a_thread, fail_the_run_that_begins_and_the_next_one_has_them) {
  runtime rt{settings()};
  rt.set_workers(most);
  std::atomic<int> ran{0};
  rt.post([&] { ran.fetch_add(1); });
  {
    const no_more_threads none;
    EXPECT_THROW(rt.run_until_idle(), std::system_error);
    EXPECT_EQ(ran.load(), 0);
  }
  rt.run_until_idle();
  EXPECT_EQ(ran.load(), 1);
  EXPECT_EQ(rt.workers(), most);
  std::thread outside{[&, open = work_guard{rt}]() mutable {
    expect_together(rt, most);
    open.reset();
  }};
  rt.run_until_idle();
  outside.join();
}

}  // namespace
}  // namespace tartan
