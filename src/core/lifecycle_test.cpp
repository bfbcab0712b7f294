// Misuse that ends the program, and what happens between two runs; the promises themselves: tests/promises/life_test.cpp.

#include "core/lifecycle.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>

#include "core/sleep/futex_poller.h"
#include "core/lifecycle_probe.h"
#include "core/runtime_state.h"
#include "core/stall_watch.h"
#include "tests/short_turns.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class between_runs : public test::on_workers {};
class between_runs_of_several : public test::on_workers {};

options one_worker() {
  options with;
  with.workers = 1;
  return with;
}

void run_from_its_own_event(void (*how)(runtime&)) {
  runtime rt{one_worker()};
  rt.post(color{1}, [&] { how(rt); });
  rt.run_until_idle();
}

TEST(lifecycle_DeathTest, a_runtime_that_is_run_or_drained_from_its_own_event_ends_the_program_with_the_post_site) {
  const char* const message =
      "tartan: a runtime was run from one of its own events, posted at .*lifecycle_test.cpp:[0-9]+";
  EXPECT_DEATH(run_from_its_own_event([](runtime& rt) { rt.run(); }), message);
  EXPECT_DEATH(run_from_its_own_event([](runtime& rt) { rt.run_until_idle(); }), message);
  EXPECT_DEATH(run_from_its_own_event([](runtime& rt) { rt.run_for(1ms); }), message);
  EXPECT_DEATH(run_from_its_own_event([](runtime& rt) { rt.drain(0ns); }), message);
}

void run_by_two_threads(bool drain) {
  runtime rt{one_worker()};
  std::atomic<bool> running{false};
  rt.post([&] {
    running = true;
    test::spin_until([] { return false; });
  });
  std::thread first{[&] { rt.run(); }};
  test::spin_until([&] { return running.load(); });
  if (drain) {
    rt.drain(0ns);
  } else {
    rt.run_until_idle();
  }
}

TEST(lifecycle_DeathTest, two_threads_that_run_or_drain_one_runtime_at_once_end_the_program_with_the_place) {
  const char* const message =
      "tartan: a runtime is run or drained by two threads at once, here at .*lifecycle_test.cpp:[0-9]+";
  EXPECT_DEATH(run_by_two_threads(false), message);
  EXPECT_DEATH(run_by_two_threads(true), message);
}

/// Gives whether the child died of abort().
template <class F>
bool child_aborts(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    f();
    ::_exit(0);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/// Ends as its child did, so that the test sees the child's message.
template <class F>
void fork_after_a_run(F f) {
  options with;
  with.workers = 2;
  runtime rt{with};
  strand s{rt, "in the parent"};
  rt.run_until_idle();
  if (child_aborts([&] { f(rt, s); })) ::abort();
}

TEST(lifecycle_DeathTest, a_child_of_fork_that_uses_a_runtime_which_had_run_ends_with_a_clear_message) {
  const char* const message = "tartan: .*fork";
  EXPECT_DEATH(fork_after_a_run([](runtime& rt, strand&) { rt.post([] {}); }), message);
  EXPECT_DEATH(fork_after_a_run([](runtime&, strand& s) { s.post([] {}); }), message);
  EXPECT_DEATH(fork_after_a_run([](runtime& rt, strand&) { rt.run(); }), message);
  EXPECT_DEATH(fork_after_a_run([](runtime& rt, strand&) { rt.drain(0ns); }), message);
}

TEST(lifecycle, a_child_of_fork_that_leaves_the_runtime_alone_lives) {
  options with;
  with.workers = 2;
  runtime rt{with};
  rt.run_until_idle();
  EXPECT_FALSE(child_aborts([] {}));
  bool ran = false;
  rt.post([&] { ran = true; });
  rt.run_until_idle();
  EXPECT_TRUE(ran);
}

TEST(lifecycle, a_runtime_that_has_not_run_may_be_used_in_a_child_of_fork) {
  runtime rt{one_worker()};
  rt.post([] {});
  EXPECT_FALSE(child_aborts([&] {
    rt.run_until_idle();
    if (rt.counters().events != 1) ::abort();
  }));
}

/// The time of the first workers but 0 who sleep with a limit is up when the test says so: in a pause, which no test can hit otherwise.
class impatient_poller final : public detail::poller {
 public:
  void attach(unsigned workers) override { real_.attach(workers); }
  void approach(unsigned worker, detail::bed where) noexcept override { real_.approach(worker, where); }
  std::uint64_t now_ns() noexcept override { return real_.now_ns(); }
  detail::slept sleep(unsigned worker, detail::wake_token& token, detail::sleep_limit limit) noexcept override {
    if (worker != 0 && limit.at_most_ns != detail::never_ns && !time_is_up) {
      limited.fetch_add(1);
      test::spin_until(
          [&] { return time_is_up.load() || token.load(std::memory_order_acquire) != detail::token_asleep; });
      limited.fetch_sub(1);
      return detail::slept::alone;
    }
    return real_.sleep(worker, token, limit);
  }
  void wake(unsigned worker, detail::wake_token& token) noexcept override { real_.wake(worker, token); }
  bool harvest(unsigned worker) noexcept override { return real_.harvest(worker); }

  std::atomic<bool> time_is_up{false};
  std::atomic<unsigned> limited{0};

 private:
  detail::futex_poller real_;
};

TEST_P(between_runs_of_several, a_watcher_whose_time_is_up_in_a_pause_promises_nothing_for_the_next_run) {
  for (unsigned round = 0; round < test::rounds(10); ++round) {
    impatient_poller time;
    options with = settings();
    with.poller = &time;
    runtime rt{with};
    test::short_turns_until(rt, [&] { return time.limited.load() != 0; });
    time.time_is_up = true;
    test::spin_until([&] { return time.limited.load() == 0; });
    std::atomic<bool> ran{false};
    rt.post(color{1}, [&] {
      post(color{9}, [&] { ran = true; });
      test::spin_until([&] { return ran.load(); });
    });
    rt.run_until_idle();
    EXPECT_TRUE(ran);
  }
}

// It may have begun its watch and been left without a count by its second look; looks that find nothing then end it, and do not begin anew.
TEST(lifecycle, a_watcher_at_its_last_look_watches_no_longer) {
  options with;
  with.workers = 2;
  runtime rt{with};
  detail::worker& watcher = rt.state().life().at(1);
  for (const unsigned left : {1u, 0u}) {
    watcher.watch_left = left;
    EXPECT_FALSE(detail::lifecycle_probe::watches_on(rt.state().life(), watcher));
    EXPECT_EQ(watcher.watch_left, 0u);
  }
  watcher.watch_left = 2;
  EXPECT_TRUE(detail::lifecycle_probe::watches_on(rt.state().life(), watcher));
}

// Or it would be the watcher for ever, and no other worker could be. The guard has its alarm.
TEST(lifecycle, a_watcher_sleeps_for_a_time_also_before_its_last_look) {
  options with;
  with.workers = 2;
  runtime rt{with};
  detail::worker& watcher = rt.state().life().at(1);
  const auto sleeps_ns = [&](unsigned left, detail::bed where, std::uint64_t last_ns) {
    watcher.watch_left = left;
    watcher.rests_in = where;
    return detail::lifecycle_probe::watch_again_ns(rt.state().life(), watcher, last_ns);
  };
  for (const unsigned left : {8u, 0u}) {
    EXPECT_EQ(sleeps_ns(left, detail::bed::token, detail::never_ns), 100'000u);
    EXPECT_EQ(sleeps_ns(left, detail::bed::token, 100'000), 200'000u);
    EXPECT_EQ(sleeps_ns(left, detail::bed::token, 200'000), 340'000u);
  }
  EXPECT_EQ(sleeps_ns(8, detail::bed::guard, detail::never_ns), 100'000u) << "it has declined something";
  EXPECT_EQ(sleeps_ns(0, detail::bed::guard, detail::never_ns), detail::never_ns);
}

/// Worker 1 begins to rest before the first run has begun, and goes on when worker 0 has gone to sleep in that run.
class late_poller final : public detail::poller {
 public:
  void attach(unsigned workers) override { real_.attach(workers); }
  void starts(unsigned worker) noexcept override {
    if (worker == 2) test::spin_until([&] { return one_begins_.load(); });  // worker 0 starts it, before its run has a number
  }
  void approach(unsigned worker, detail::bed where) noexcept override {
    if (worker == 1 && !one_begins_.exchange(true)) test::spin_until([&] { return zero_sleeps_.load(); });
    real_.approach(worker, where);
  }
  std::uint64_t now_ns() noexcept override { return real_.now_ns(); }
  detail::slept sleep(unsigned worker, detail::wake_token& token, detail::sleep_limit limit) noexcept override {
    if (worker == 0) zero_sleeps_ = true;
    return real_.sleep(worker, token, limit);
  }
  void wake(unsigned worker, detail::wake_token& token) noexcept override { real_.wake(worker, token); }
  bool harvest(unsigned worker) noexcept override { return real_.harvest(worker); }

 private:
  detail::futex_poller real_;
  std::atomic<bool> one_begins_{false};
  std::atomic<bool> zero_sleeps_{false};
};

TEST(lifecycle, a_run_until_idle_is_ended_by_a_worker_that_began_to_rest_before_the_run) {
  late_poller late;
  options with;
  with.workers = 3;
  with.poller = &late;
  runtime rt{with};
  rt.run_until_idle();  // worker 1 is the last to rest, with the number of no run
  EXPECT_EQ(rt.counters().events, 0u);
}

/// The hooks of which worker were called.
struct called_hooks {
  void note_in(options& with) {
    with.on_worker_start = [this](unsigned n) { note(started, n); };
    with.on_worker_stop = [this](unsigned n) { note(stopped, n); };
  }
  void note(std::multiset<unsigned>& where, unsigned n) {
    const std::lock_guard hold{lock};
    where.insert(n);
  }

  std::mutex lock;
  std::multiset<unsigned> started;
  std::multiset<unsigned> stopped;
};

/// Nothing to watch; and the first thread that is to do it cannot be started.
class unlucky_watch final : public detail::stall_probe {
 public:
  unlucky_watch() { threads_wanted = 0; }
  [[nodiscard]] unsigned workers() const noexcept override { return 0; }
  [[nodiscard]] std::uint64_t events(unsigned /*worker*/) const noexcept override { return 0; }
  [[nodiscard]] bool snapshot(unsigned /*worker*/, stalled_handler& /*into*/) const noexcept override { return false; }
  [[nodiscard]] std::string name_of(color /*c*/) const override { return {}; }
  [[nodiscard]] bool anybody_awake() const noexcept override { return false; }

  void watch(runtime& rt) const {
    detail::stall_setup with;
    with.stall_after = 1s;
    with.create_thread = [](pthread_t* id, const pthread_attr_t* attributes, void* (*enter)(void*), void* argument) {
      return ++threads_wanted == 1 ? EAGAIN : ::pthread_create(id, attributes, enter, argument);
    };
    detail::lifecycle_probe::use(rt.state().life(), std::make_unique<detail::stall_watch>(*this, with));
  }

  static inline unsigned threads_wanted = 0;
};

TEST_P(between_runs, a_first_run_that_fails_half_way_is_begun_again_by_the_next_one) {
  called_hooks hooks;
  const unlucky_watch unlucky;
  options with = settings();
  hooks.note_in(with);
  std::multiset<unsigned> each_once;
  for (unsigned n = 0; n < GetParam(); ++n) each_once.insert(n);
  {
    runtime rt{with};
    unlucky.watch(rt);
    bool ran = false;
    rt.post([&] { ran = true; });
    EXPECT_THROW(rt.run_until_idle(), std::system_error);
    EXPECT_FALSE(ran);
    EXPECT_TRUE(hooks.started.empty());
    rt.run_until_idle();
    EXPECT_TRUE(ran);
    EXPECT_EQ(unlucky_watch::threads_wanted, 2u) << "nobody watches for stalls";
    rt.run_until_idle();
    EXPECT_EQ(hooks.started, each_once);
  }
  EXPECT_EQ(hooks.stopped, each_once);
}

TEST_P(between_runs, a_drain_that_cannot_start_the_workers_is_begun_again_by_the_next_run) {
  const unlucky_watch unlucky;
  for (const bool drains_again : {false, true}) {
    unlucky_watch::threads_wanted = 0;
    runtime rt{settings()};
    unlucky.watch(rt);
    bool ran = false;
    rt.post([&] { ran = true; });
    EXPECT_THROW((void)rt.drain(1h), std::system_error);
    EXPECT_FALSE(ran);
    if (drains_again) {
      EXPECT_TRUE(rt.drain(1h).complete);
    } else {
      EXPECT_EQ(rt.run(), 0);
    }
    EXPECT_TRUE(ran);
  }
}

TEST_P(between_runs, a_worker_that_was_never_started_is_not_stopped) {
  called_hooks hooks;
  const unlucky_watch unlucky;
  options with = settings();
  hooks.note_in(with);
  {
    runtime rt{with};
    unlucky.watch(rt);
    EXPECT_THROW(rt.run_until_idle(), std::system_error);
  }
  EXPECT_TRUE(hooks.started.empty());
  EXPECT_TRUE(hooks.stopped.empty());
}

TEST_P(between_runs, what_the_first_hook_throws_reaches_the_caller_and_the_next_run_calls_it_again) {
  options with = settings();
  unsigned calls = 0;
  unsigned stops = 0;
  with.on_worker_start = [&](unsigned n) {
    if (n == 0 && ++calls == 1) throw std::runtime_error{"not yet"};
  };
  with.on_worker_stop = [&](unsigned n) {
    if (n == 0) ++stops;
  };
  {
    runtime rt{with};
    EXPECT_THROW(rt.run_until_idle(), std::runtime_error);
    rt.run_until_idle();
    rt.run_until_idle();
    EXPECT_EQ(calls, 2u);
  }
  EXPECT_EQ(stops, 1u);
}

TEST_P(between_runs, the_hooks_of_every_worker_stand_on_it) {
  options with = settings();
  std::atomic<unsigned> ran{0};
  std::atomic<unsigned> refused{0};
  with.on_worker_start = [&](unsigned n) {
    EXPECT_FALSE(in_event());
    EXPECT_TRUE(post(color{n + 1}, [&] { ran.fetch_add(1); }));
  };
  with.on_worker_stop = [&](unsigned n) {
    EXPECT_FALSE(in_event());
    if (!post(color{n + 1}, [&] { ran.fetch_add(1); })) refused.fetch_add(1);
  };
  {
    runtime rt{with};
    rt.run_until_idle();
    EXPECT_EQ(ran.load(), GetParam());
  }
  EXPECT_EQ(refused.load(), GetParam()) << "the runtime is over by then";
  EXPECT_EQ(ran.load(), GetParam());
}

/// Pausing all workers and letting them go again, at every distance from their falling asleep.
TEST_P(between_runs, every_pause_ends) {
  runtime rt{settings()};
  std::atomic<unsigned> ran{0};
  for (unsigned round = 0; round < test::rounds(1000); ++round) {
    for (unsigned n = 0; n < round % 4; ++n) rt.post(color{n + 1}, [&] { ran.fetch_add(1); });
    switch (round % 3) {
      case 0:
        rt.run_for(0ns);
        break;
      case 1:
        rt.run_for(std::chrono::microseconds{round % 60});
        break;
      default:
        rt.run_until_idle();
        break;
    }
  }
  rt.run_until_idle();
  EXPECT_EQ(rt.counters().events, ran.load());
  EXPECT_EQ(ran.load(), test::rounds(1000) / 4 * 6);
}

/// A foreign thread's posts end a run that is just falling idle by another way; that word must not end the run after it.
TEST_P(between_runs, the_end_of_one_run_does_not_end_the_next) {
  runtime rt{settings()};
  std::atomic<bool> done{false};
  std::atomic<unsigned> ran{0};
  std::thread outside{[&] {
    for (unsigned n = 0; !done; ++n) {
      rt.post(color{n % 3 + 1}, [&] { ran.fetch_add(1); });
      for (unsigned k = 0; k < n % 64; ++k) std::this_thread::yield();
    }
  }};
  for (unsigned round = 0; round < test::rounds(300); ++round) {
    rt.run_until_idle();
    std::atomic<bool> woken{false};
    rt.post(color{100}, [&] { woken = true; });
    rt.run_until_idle();
    ASSERT_TRUE(woken);
    ASSERT_FALSE(rt.stopped());
  }
  done = true;
  outside.join();
}

TEST_P(between_runs, a_drain_or_a_run_may_have_all_the_time_there_is) {
  options with = settings();
  with.drain_within = std::chrono::nanoseconds::max();
  {
    runtime rt{with};
    rt.post([] {});
    EXPECT_TRUE(rt.drain(std::chrono::nanoseconds::max()).complete);
  }
  runtime rt{with};
  rt.post([&] { rt.stop(); });
  rt.run_for(std::chrono::nanoseconds::max());
  EXPECT_EQ(rt.run(), 0);
}

INSTANTIATE_TEST_SUITE_P(workers, between_runs, testing::ValuesIn(test::worker_counts()), test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, between_runs_of_several, testing::ValuesIn(test::several_workers()),
                         test::worker_name);

}  // namespace
}  // namespace tartan
