#include <gtest/gtest.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <tartan/time/post_after.h>
#include <tartan/time/timer.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/frame_pool.h"
#include "core/runtime_state.h"
#include "tests/virtual_time.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

options on_clock(test::virtual_poller& clock, unsigned workers) {
  options with;
  with.workers = workers;
  with.poller = &clock;
  return with;
}

class timers : public test::on_workers {
 protected:
  void TearDown() override {
    owner_.reset();
    on_workers::TearDown();
  }

  /// Runs `f` in color 7 and everything that follows from it.
  template <class F>
  void run_in_color(F f) {
    rt.post(color{7}, std::move(f));
    rt.run_until_idle();
  }

  /// In an event: lets time pass, and what is due be posted behind the running event.
  void let_expire(std::chrono::nanoseconds by) {
    clock.advance(by);
    detail::clockwork* const pending = rt.state().timers();
    ASSERT_NE(pending, nullptr);
    test::spin_until([&] {  // another worker may be at it
      (void)pending->expire(clock.now_ns());
      return pending->next_ns() > clock.now_ns();
    });
  }

  test::virtual_poller clock;
  std::unique_ptr<runtime> owner_ = std::make_unique<runtime>(on_clock(clock, GetParam()));
  runtime& rt = *owner_;
};
INSTANTIATE_TEST_SUITE_P(on, timers, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(timers, call_their_callback_in_their_color_when_the_time_has_passed) {
  timer t{rt, color{7}};
  const auto begin = clock.now();
  int calls = 0;
  run_in_color([&] {
    t.set(50ms, [&](result<void> outcome) {
      EXPECT_TRUE(outcome);
      EXPECT_EQ(current_color(), color{7});
      EXPECT_GT(clock.now(), begin + 50ms);
      EXPECT_LE(clock.now(), begin + 51ms);
      EXPECT_FALSE(t.pending());
      ++calls;
    });
    EXPECT_TRUE(t.pending());
  });
  EXPECT_EQ(calls, 1);
}

/// Their memory is from the pool of frames: made by one thread, freed by the thread that runs, cancels or drops them.
TEST_P(timers, of_foreign_threads_give_their_memory_back_on_the_workers) {
  detail::frame_pool& pool = rt.state().frames();
  std::atomic<unsigned> fired{0};
  for (unsigned round = 0; round < 5; ++round) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (unsigned n = 0; n < 300; ++n) post_after(rt, color{n % 7 + t}, std::chrono::microseconds{n}, [&] { ++fired; });
      });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(pool.live(), 900);
    rt.run_until_idle();
    EXPECT_EQ(pool.live(), 0);
  }
  EXPECT_EQ(fired, 4500u);
  EXPECT_LE(pool.system_bytes(), (GetParam() + 1) << 20);
}

TEST_P(timers, that_nobody_waits_for_give_their_memory_back_to_the_runtime) {
  detail::frame_pool& pool = rt.state().frames();
  std::thread{[&] {
    for (unsigned n = 0; n < 100; ++n) post_after(rt, color{n}, 1h, [] {});
  }}.join();
  timer kept{rt, color{7}};
  rt.post(color{7}, [&] { kept.set(1h, [] {}); });
  rt.run_for(0ns);
  (void)rt.drain(0ns);
  EXPECT_EQ(pool.live(), 1);  // that of `kept`, for its next wait
}

TEST_P(timers, are_in_the_default_color_if_none_is_given) {
  std::optional<timer> t;
  run_in_color([&] { t.emplace(); });
  EXPECT_EQ(t->where(), color{});
  EXPECT_EQ(timer{rt}.where(), color{});
}

TEST_P(timers, take_a_strand_for_a_color) {
  strand s{rt, "clock"};
  timer t{rt, s};
  bool called = false;
  s.post([&] { t.set(1s, [&] { called = current_color() == s.value(); }); });
  rt.run_until_idle();
  EXPECT_TRUE(called);
}

TEST_P(timers, take_a_point_in_time) {
  timer t{rt, color{7}};
  const auto at = clock.now() + 3h;
  run_in_color([&] { t.set(at, [&] { EXPECT_GT(clock.now(), at); }); });
  EXPECT_LE(clock.now(), at + 1ms);
  EXPECT_FALSE(t.pending());
}

TEST_P(timers, never_call_back_before_set_returns) {
  timer t{rt, color{7}};
  std::string order;
  run_in_color([&] {
    t.set(-1s, [&] { order += "called"; });
    order += "set ";
  });
  EXPECT_EQ(order, "set called");
}

TEST_P(timers, keep_callables_of_any_size_and_those_that_can_only_be_moved) {
  timer small{rt, color{7}};
  timer big{rt, color{7}};
  auto owned = std::make_unique<int>(3);
  std::array<char, 200> much{};
  much.back() = 'x';
  int sum = 0;
  run_in_color([&] {
    small.set(1ms, [&sum, kept = std::move(owned)] { sum += *kept; });
    big.set(2ms, [&sum, much](result<void> outcome) { sum += outcome ? much.back() : 0; });
  });
  EXPECT_EQ(sum, 3 + 'x');
}

TEST_P(timers, that_are_set_again_forget_what_was_set_before) {
  timer t{rt, color{7}};
  const auto first = std::make_shared<int>();
  std::string called;
  run_in_color([&] {
    t.set(1ms, [&called, first] { called += "first"; });
    EXPECT_EQ(first.use_count(), 2);
    t.set(2ms, [&] { called += "second"; });
    EXPECT_EQ(first.use_count(), 1);
  });
  EXPECT_EQ(called, "second");
}

TEST_P(timers, that_are_canceled_do_not_call_and_destroy_the_callback_at_once) {
  timer t{rt, color{7}};
  const auto kept = std::make_shared<int>();
  run_in_color([&] {
    t.set(1ms, [kept] { FAIL(); });
    EXPECT_TRUE(t.cancel());
    EXPECT_EQ(kept.use_count(), 1);
    EXPECT_FALSE(t.pending());
    EXPECT_FALSE(t.cancel());
  });
}

TEST_P(timers, that_are_canceled_in_their_color_do_not_call_although_they_are_queued) {
  timer t{rt, color{7}};
  const auto kept = std::make_shared<int>();
  run_in_color([&] {
    t.set(1ms, [kept] { FAIL(); });
    let_expire(2ms);
    EXPECT_TRUE(t.pending());
    EXPECT_TRUE(t.cancel());
    EXPECT_EQ(kept.use_count(), 1);
    EXPECT_FALSE(t.pending());
  });
}

TEST_P(timers, that_are_set_again_when_queued_call_only_the_new_callback) {
  timer t{rt, color{7}};
  std::string called;
  run_in_color([&] {
    t.set(1ms, [&] { called += "first"; });
    let_expire(2ms);
    t.set(1ms, [&] { called += "second"; });
    let_expire(2ms);
    t.set(1ms, [&] { called += "third"; });
  });
  EXPECT_EQ(called, "third");
}

TEST_P(timers, may_be_destroyed_while_they_wait_and_while_they_are_queued) {
  auto waiting = std::make_unique<timer>(rt, color{7});
  auto queued = std::make_unique<timer>(rt, color{7});
  const auto kept = std::make_shared<int>();
  run_in_color([&] {
    waiting->set(1h, [kept] { FAIL(); });
    queued->set(1ms, [kept] { FAIL(); });
    let_expire(2ms);
    waiting.reset();
    queued.reset();
    EXPECT_EQ(kept.use_count(), 1);
  });
  EXPECT_LT(clock.now().time_since_epoch(), 1h);
}

TEST_P(timers, may_be_set_from_their_own_callback_again_and_again) {
  timer t{rt, color{7}};
  int ticks = 0;
  const auto begin = clock.now();
  struct tick {
    timer& t;
    int& ticks;
    void operator()() {
      if (++ticks < 1000) t.set(10ms, tick{t, ticks});
    }
  };
  run_in_color([&] { t.set(10ms, tick{t, ticks}); });
  EXPECT_EQ(ticks, 1000);
  EXPECT_GE(clock.now(), begin + 10s);
}

TEST_P(timers, may_be_destroyed_by_their_own_callback) {
  auto t = std::make_unique<timer>(rt, color{7});
  bool called = false;
  run_in_color([&] {
    t->set(1ms, [&] {
      t.reset();
      called = true;
    });
  });
  EXPECT_TRUE(called);
}

struct session : std::enable_shared_from_this<session> {
  explicit session(runtime& rt) : idle{rt, color{7}} {}
  void begin() {
    idle.set(1h, [self = shared_from_this()] {});
  }
  timer idle;
};

TEST_P(timers, may_be_owned_by_what_their_callback_owns) {
  std::weak_ptr<session> canceled;
  std::weak_ptr<session> expired;
  run_in_color([&] {
    auto a = std::make_shared<session>(rt);
    auto b = std::make_shared<session>(rt);
    canceled = a;
    expired = b;
    a->begin();
    b->begin();
    timer& idle = a->idle;
    a.reset();
    EXPECT_FALSE(canceled.expired());
    idle.cancel();
    EXPECT_TRUE(canceled.expired()) << "the callback was the last owner";
  });
  EXPECT_TRUE(expired.expired());
}

TEST_P(timers, can_be_moved_while_they_wait) {
  timer a{rt, color{7}};
  std::string called;
  std::optional<timer> b;
  run_in_color([&] {
    a.set(1ms, [&] { called += "moved "; });
    b.emplace(std::move(a));
    EXPECT_FALSE(a.pending());
    EXPECT_TRUE(b->pending());
    a.set(2ms, [&] { called += "reused "; });
    timer c{rt, color{7}};
    c.set(3ms, [&] { called += "assigned "; });
    timer d{rt, color{7}};
    d.set(1us, [&] { called += "overwritten "; });
    d = std::move(c);
    a = std::move(d);
  });
  EXPECT_EQ(called, "moved assigned ") << "an assignment cancels what was there";
}

TEST_P(timers, complete_as_canceled_when_the_runtime_stops) {
  timer waits{rt, color{7}};
  timer silent{rt, color{7}};
  timer later{rt, color{7}};
  const auto kept = std::make_shared<int>();
  std::vector<std::error_code> errors;
  const auto note = [&](result<void> outcome) {
    EXPECT_EQ(current_color(), color{7});
    errors.push_back(outcome.error());
  };
  rt.post(color{7}, [&] {
    waits.set(1h, note);
    silent.set(1h, [kept] { FAIL(); });
    rt.stop();
    later.set(1ms, note);
  });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(errors, (std::vector<std::error_code>{errc::canceled, errc::canceled}));
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_FALSE(waits.pending());
}

TEST_P(timers, that_remain_at_a_drain_without_time_are_destroyed_and_counted) {
  timer owned{rt, color{7}};
  const auto kept = std::make_shared<int>();
  rt.post(color{7}, [&] { owned.set(1h, [kept] { FAIL(); }); });
  rt.run_for(0ns);
  const drained left = rt.drain(0ns);
  EXPECT_EQ(left.destroyed, 1u);
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_FALSE(owned.pending());
}

TEST_P(timers, let_an_exception_of_the_callback_reach_the_handler) {
  std::string text;
  options with = on_clock(clock, GetParam());
  with.on_exception = [&](const escaped_exception& e) {
    try {
      std::rethrow_exception(e.exception);
    } catch (const std::runtime_error& error) {
      text = error.what();
    }
    EXPECT_EQ(e.in, color{7});
  };
  runtime own{with};
  timer t{own, color{7}};
  own.post(color{7}, [&] { t.set(1ms, [] { throw std::runtime_error{"from a timer"}; }); });
  own.run_until_idle();
  EXPECT_EQ(text, "from a timer");
  EXPECT_FALSE(t.pending());
}

struct throws_when_copied {
  throws_when_copied() = default;
  throws_when_copied(const throws_when_copied&) { throw std::bad_alloc{}; }
  void operator()() const {}
};

TEST_P(timers, are_not_set_if_the_callable_cannot_be_copied) {
  timer t{rt, color{7}};
  run_in_color([&] {
    const throws_when_copied bad;
    EXPECT_THROW(t.set(1ms, bad), std::bad_alloc);
    EXPECT_FALSE(t.pending());
  });
}

class timers_death : public ::testing::Test {
 protected:
  test::virtual_poller clock;
  runtime rt{on_clock(clock, 1)};
};

TEST_F(timers_death, are_refused_the_unordered_color) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(timer(rt, color::unordered), "unordered.*timer_test.cpp");
}

TEST_F(timers_death, are_set_and_canceled_in_their_color_only) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  timer t{rt, color{7}};
  const char* const message =
      "a timer of color 7 is set or canceled at .*timer_test.cpp:[0-9]+.*, but color 8 runs, posted at .*timer_test.cpp:[0-9]+";
  EXPECT_DEATH((rt.post(color{8}, [&] { t.set(1s, [] {}); }), rt.run_until_idle()), message);
  EXPECT_DEATH((rt.post(color{8}, [&] { t.cancel(); }), rt.run_until_idle()), message);
}

TEST_F(timers_death, are_not_used_by_other_threads_while_their_runtime_runs) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  rt.name(color{7}, "clock");
  timer t{rt, color{7}};
  t.set(1h, [] {});
  const auto elsewhere = [this](auto use) {
    rt.post(color{7}, [use] { std::thread{use}.join(); });  // also while its color waits for them
    rt.run_for(1ms);
  };
  const std::string at_call = "a timer of color 7 \"clock\" is set or canceled at .*timer_test.cpp:[0-9]+ .*on a thread that runs no event";
  EXPECT_DEATH(elsewhere([&] { t.set(1s, [] {}); }), at_call);
  EXPECT_DEATH(elsewhere([&] { t.cancel(); }), at_call);
  EXPECT_DEATH(elsewhere([&] { const timer taken{std::move(t)}; }),
               "a timer of color 7 \"clock\" is destroyed, which was set at .*timer_test.cpp:[0-9]+ ");
}

TEST_F(timers_death, are_not_used_by_events_of_another_runtime_while_their_own_runs) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  timer t{rt, color{7}};
  const auto in_another = [&] {
    runtime other{on_clock(clock, 1)};
    other.post(color{7}, [&] { t.cancel(); });  // the number is the same, the color is not
    other.run_until_idle();
  };
  EXPECT_DEATH((rt.post(color{7}, [&] { std::thread{in_another}.join(); }), rt.run_until_idle()),
               "a timer of color 7 is set or canceled at .*in an event of another runtime, posted at .*timer_test.cpp:[0-9]+ ");
  in_another();  // its own does not run
}

TEST_P(timers, may_be_used_by_any_thread_before_and_after_a_run) {
  int calls = 0;
  const auto on_a_thread = [](auto use) { std::thread{use}.join(); };
  timer t{rt, color{7}};
  on_a_thread([&] { t.set(1h, [&] { ++calls; }); });
  on_a_thread([&] { t.set(1ms, [&] { ++calls; }); });
  rt.run_until_idle();
  EXPECT_EQ(calls, 1);
  on_a_thread([&] { t.set(1ms, [&] { ++calls; }); });
  rt.run_for(0ns);
  on_a_thread([&] { const timer taken{std::move(t)}; });
  rt.run_until_idle();
  EXPECT_EQ(calls, 1);
}

TEST_P(timers, go_with_what_a_drain_destroys) {
  const auto kept = std::make_shared<int>();
  auto owned = std::make_unique<timer>(rt, color{7});
  owned->set(1h, [kept] { FAIL(); });
  rt.post(color{8}, [t = std::move(owned)] { FAIL(); });
  EXPECT_FALSE(rt.drain(0ns).complete);
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(timers_death, that_outlive_their_runtime_end_the_program_once_they_were_set) {
  const auto outlive = [](bool set) {
    std::optional<timer> t;
    options with;
    with.workers = 1;
    runtime of_it{with};
    t.emplace(of_it, color{7});
    if (set) t->set(1h, [] {});
  };
  outlive(false);
  EXPECT_DEATH(outlive(true), "tartan: a runtime was destroyed before 1 timers.* that belong to it; it was made at .*timer_test");
}

TEST_F(timers_death, of_a_strand_of_another_runtime_end_the_program) {
  options with;
  with.workers = 1;
  runtime other{with};
  const strand s{other};
  const char* const message =
      "tartan: a timer was set in strand [0-9]+ of another runtime, at .*timer_test.*; it was meant for the runtime that "
      "was made at .*timer_test";
  runtime own{with};
  EXPECT_DEATH((timer{own, s}), message);
  EXPECT_DEATH(post_after(own, s, 1s, [] {}), message);
}

TEST_F(timers_death, without_a_runtime_are_made_in_events_only) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(timer{}, "tartan::timer");
}

}  // namespace
}  // namespace tartan
