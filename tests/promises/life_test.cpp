// Contract 14: the life of a runtime. What a run waits for, stops and signals: stop_test.cpp.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <tartan/core/blocking.h>
#include <tartan/core/event_batch.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <tartan/time/post_after.h>
#include <thread>
#include <utility>
#include <vector>

#include "tests/virtual_time.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using test::rounds;

class life : public test::on_workers {};

/// A callable that tells where it ran or was destroyed without having run.
class witness {
 public:
  struct record {
    std::atomic<unsigned> ran{0};
    std::atomic<unsigned> dropped{0};
    std::atomic<unsigned> dropped_elsewhere{0};
    std::thread::id home = std::this_thread::get_id();
  };
  explicit witness(record& into) : into_{&into} {}
  witness(witness&& other) noexcept : into_{std::exchange(other.into_, nullptr)} {}
  ~witness() {
    if (into_ == nullptr) return;
    into_->dropped.fetch_add(1);
    if (std::this_thread::get_id() != into_->home) into_->dropped_elsewhere.fetch_add(1);
  }
  void operator()() { std::exchange(into_, nullptr)->ran.fetch_add(1); }

 private:
  record* into_;
};

TEST_P(life, no_thread_starts_before_run) {
  const std::size_t before = test::threads();
  runtime rt{settings()};
  strand s{rt, "early"};
  bool ran = false;
  rt.post([&] { ran = true; });
  s.post([] {});
  EXPECT_EQ(test::threads(), before);
  EXPECT_FALSE(ran);
  rt.run_until_idle();
  EXPECT_TRUE(ran);
}

TEST_P(life, the_caller_of_run_becomes_worker_0) {
  options with = settings();
  std::atomic<bool> right{false};
  with.on_worker_start = [&, caller = std::this_thread::get_id()](unsigned n) {
    if (n == 0) right = std::this_thread::get_id() == caller;
  };
  runtime rt{with};
  rt.run_until_idle();
  EXPECT_TRUE(right);
}

TEST_P(life, a_post_before_run_is_run) {
  runtime rt{settings()};
  unsigned ran = 0;
  std::thread{[&] { rt.post([&] { ++ran; }); }}.join();
  rt.post([&] { ++ran; });
  rt.post([&] { rt.stop(); });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(ran, 2u);
}

TEST_P(life, run_returns_after_stop_from_an_event_and_what_was_posted_before_has_run) {
  for (unsigned round = 0; round < rounds(20); ++round) {
    runtime rt{settings()};
    std::atomic<unsigned> ran{0};
    for (unsigned n = 0; n < 50; ++n) {
      rt.post(color{n % 9 + 1}, [&, n] {
        if (n == 10) rt.stop();
        post(color{n % 7 + 20}, [&] { ran.fetch_add(1); });
      });
    }
    EXPECT_EQ(rt.run(), 0);
    EXPECT_EQ(ran.load(), 50u);
    EXPECT_TRUE(rt.stopped());
  }
}

// A color whose turn is never over by itself: while it is served there are always more than a batch.
TEST_P(life, run_for_ends_beside_a_backlog_that_never_does) {
  runtime rt{settings()};
  std::atomic<bool> enough{false};
  std::function<void()> chain = [&] {
    if (!enough) post(color{1}, [&chain] { chain(); });
  };
  for (unsigned n = 0; n < 400; ++n) rt.post(color{1}, [&chain] { chain(); });
  rt.run_for(1ms);
  rt.run_for(0ns);
  enough = true;
  rt.run_until_idle();
}

TEST_P(life, run_returns_after_stop_from_a_foreign_thread) {
  for (unsigned round = 0; round < rounds(20); ++round) {
    runtime rt{settings()};
    std::thread outside{[&] { rt.stop(); }};
    EXPECT_EQ(rt.run(), 0);
    outside.join();
  }
}

TEST_P(life, run_after_stop_runs_what_was_posted_before_it_and_returns) {
  runtime rt{settings()};
  std::atomic<unsigned> ran{0};
  for (unsigned n = 0; n < 20; ++n) rt.post(color{n}, [&] { ran.fetch_add(1); });
  rt.stop();
  rt.stop();
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(ran.load(), 20u);
  EXPECT_EQ(rt.run(), 0);  // it is over: nothing to do, at once
  rt.run_until_idle();
  EXPECT_EQ(rt.run_for(1h), 0u);
}

TEST_P(life, run_gives_1_if_something_was_destroyed) {
  options with = settings();
  with.drain_within = 0ns;
  std::atomic<unsigned> started{0};
  with.on_worker_start = [&](unsigned) { started.fetch_add(1); };
  runtime rt{with};
  witness::record seen;
  rt.post(color{1}, witness{seen});
  rt.stop();
  EXPECT_EQ(rt.run(), 1);
  EXPECT_EQ(started.load(), 0u);  // a worker that starts may run something before it sees the stop
  EXPECT_EQ(seen.ran.load(), 0u);
  EXPECT_EQ(seen.dropped.load(), 1u);
}

TEST_P(life, run_until_idle_returns_when_nothing_is_left_and_may_be_called_again) {
  runtime rt{settings()};
  std::atomic<unsigned> ran{0};
  rt.run_until_idle();
  for (unsigned round = 1; round <= rounds(20); ++round) {
    rt.post(color{1},
            [&] { blocking(color{2}, [] {}, [&](result<void>) { post(color{3}, [&] { ran.fetch_add(1); }); }); });
    rt.run_until_idle();
    ASSERT_EQ(ran.load(), round);
  }
  EXPECT_FALSE(rt.stopped());
}

TEST_P(life, run_until_idle_waits_for_what_an_event_posts_after_all_other_workers_have_gone_to_sleep) {
  for (unsigned round = 0; round < rounds(10); ++round) {
    runtime rt{settings()};
    unsigned ran = 0;
    std::function<void()> chain = [&] {  // longer than a turn
      if (++ran < 500) post(color{1}, [&chain] { chain(); });
    };
    rt.post(color{1}, [&] {
      test::spin_until([&] { return rt.counters().sleeps >= GetParam() - 1; });  // each has asked whether all is over
      chain();
    });
    rt.run_until_idle();
    ASSERT_EQ(ran, 500u);
  }
}

TEST_P(life, run_until_idle_returns_after_stop_and_leaves_the_rest_to_drain) {
  runtime rt{settings()};
  witness::record seen;
  std::function<void()> forever = [&] { post(color{1}, [&forever] { forever(); }); };
  rt.post(color{1}, [&] {
    rt.stop();
    forever();
  });
  rt.run_until_idle();
  const drained end = rt.drain(0ns);
  EXPECT_FALSE(end.complete);
  EXPECT_EQ(end.destroyed, 1u);
}

TEST_P(life, after_stop_a_foreign_post_gives_false_and_destroys_the_callable_there) {
  runtime rt{settings()};
  strand s{rt, "some strand"};
  rt.stop();
  std::thread{[&] {
    witness::record seen;
    EXPECT_FALSE(rt.post(witness{seen}));
    EXPECT_FALSE(rt.post(color{1}, witness{seen}));
    EXPECT_FALSE(rt.post(color::unordered, witness{seen}));
    EXPECT_FALSE(rt.post(s.value(), witness{seen}));
    EXPECT_FALSE(s.post(witness{seen}));
    EXPECT_EQ(seen.dropped.load(), 5u);
    event_batch batch{rt};
    batch.add(color{1}, witness{seen});
    batch.add(color{2}, witness{seen});
    EXPECT_FALSE(rt.post(std::move(batch)));
    EXPECT_EQ(seen.dropped.load(), 7u);
    EXPECT_EQ(seen.dropped_elsewhere.load(), 0u);
    EXPECT_EQ(seen.ran.load(), 0u);
  }}.join();
}

TEST_P(life, after_stop_events_and_completions_still_post) {
  runtime rt{settings()};
  std::atomic<unsigned> ran{0};
  rt.post(color{1}, [&] {
    blocking(color{2}, [] {}, [&](result<void>) { ran.fetch_add(1); });
    rt.stop();
    EXPECT_TRUE(post(color{3}, [&] {
      EXPECT_TRUE(post([&] { ran.fetch_add(1); }));
      event_batch batch{rt};
      batch.add(color{4}, [&] { ran.fetch_add(1); });
      EXPECT_TRUE(rt.post(std::move(batch)));
    }));
  });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(ran.load(), 3u);
}

TEST_P(life, drain_of_a_runtime_that_never_ran_runs_everything) {
  runtime rt{settings()};
  witness::record seen;
  for (unsigned n = 0; n < 100; ++n) rt.post(color{n % 10}, witness{seen});
  const drained end = rt.drain(1h);
  EXPECT_TRUE(end.complete);
  EXPECT_EQ(end.destroyed, 0u);
  EXPECT_EQ(seen.ran.load(), 100u);
  EXPECT_TRUE(rt.drain(1h).complete);
  EXPECT_TRUE(rt.drain(0ns).complete);
}

TEST_P(life, drain_without_any_time_destroys_everything_on_the_callers_thread_and_counts_it) {
  runtime rt{settings()};
  strand s{rt, "with events"};
  witness::record seen;
  std::optional<strand> closed{std::in_place, rt, "closed with events"};
  for (unsigned n = 0; n < 100; ++n) {
    rt.post(color{n % 10}, witness{seen});
    rt.post(color::unordered, witness{seen});
    s.post(witness{seen});
    closed->post(witness{seen});
  }
  closed.reset();
  const drained end = rt.drain(0ns);
  EXPECT_FALSE(end.complete);
  EXPECT_EQ(end.destroyed, 400u);
  EXPECT_EQ(seen.dropped.load(), 400u);
  EXPECT_EQ(seen.dropped_elsewhere.load(), 0u);
  EXPECT_EQ(seen.ran.load(), 0u);
}

TEST_P(life, drain_in_the_middle_of_work_runs_or_destroys_each_event_once) {
  for (unsigned round = 0; round < rounds(30); ++round) {
    runtime rt{settings()};
    witness::record seen;
    std::atomic<unsigned> posted{0};
    for (unsigned n = 0; n < 200; ++n) {
      posted.fetch_add(1);
      rt.post(color{n % 20 + 1}, [&, first = witness{seen}, n]() mutable {
        first();
        if (n % 3 != 0) return;
        posted.fetch_add(1);
        EXPECT_TRUE(post(color{n % 7 + 100}, witness{seen}));
        std::this_thread::yield();
      });
    }
    rt.run_for(std::chrono::microseconds{10 * (round % 10)});
    const drained end = rt.drain(round % 2 == 0 ? 0ns : 20us);
    EXPECT_EQ(end.destroyed, seen.dropped.load());
    EXPECT_EQ(end.complete, end.destroyed == 0);
    EXPECT_EQ(seen.ran.load() + seen.dropped.load(), posted.load());
    EXPECT_EQ(seen.dropped_elsewhere.load(), 0u);
  }
}

/// The clock stands still but for what the events add to it.
TEST(drain_in_virtual_time, ends_at_its_deadline_if_events_post_for_ever) {
  test::virtual_poller time;
  options with;
  with.workers = 1;
  with.poller = &time;
  runtime rt{with};
  unsigned ran = 0;
  std::function<void()> forever = [&] {
    ++ran;
    time.advance(1ms);
    post([&forever] { forever(); });
  };
  rt.post([&forever] { forever(); });
  const drained end = rt.drain(1s);
  EXPECT_FALSE(end.complete);
  EXPECT_EQ(end.destroyed, 1u);
  EXPECT_GE(ran, 1000u);
  EXPECT_LE(ran, 1000u + 64);  // the clock is looked at after a bounded number of events
}

TEST(run_for_in_virtual_time, waits_for_what_comes_within_its_time_and_no_longer) {
  test::virtual_poller time;
  options with;
  with.workers = 1;
  with.poller = &time;
  runtime rt{with};
  unsigned ran = 0;
  EXPECT_TRUE(post_after(rt, color{1}, 5ms, [&] { ++ran; }));
  EXPECT_TRUE(post_after(rt, color{1}, 50ms, [&] { ++ran; }));
  const auto begin = rt.now();
  EXPECT_EQ(rt.run_for(0ns), 0u);
  EXPECT_EQ(rt.now(), begin);
  EXPECT_EQ(rt.run_for(10ms), 1u);
  EXPECT_EQ(rt.now(), begin + 10ms);
  EXPECT_EQ(ran, 1u);
  rt.post([&] { ++ran; });
  EXPECT_EQ(rt.run_for(10ms), 1u);
  EXPECT_EQ(rt.run_for(32ms), 1u);
  EXPECT_EQ(ran, 3u);
}

TEST_P(life, drain_destroys_callables_that_post_and_open_and_close_strands_while_they_are_destroyed) {
  struct last_words {
    runtime* rt;
    strand* other;
    std::shared_ptr<strand> own;
    last_words(runtime& r, strand& o) : rt{&r}, other{&o}, own{std::make_shared<strand>(r, "held by an event")} {}
    last_words(last_words&& from) noexcept
        : rt{std::exchange(from.rt, nullptr)}, other{from.other}, own{std::move(from.own)} {}
    ~last_words() {
      if (rt == nullptr) return;
      EXPECT_FALSE(rt->post(color{1}, [] {}));
      EXPECT_FALSE(other->post([] {}));
      if (own != nullptr) {
        EXPECT_FALSE(own->post([] {}));
      }
      const strand late{*rt, "opened while the runtime ends"};
    }
    void operator()() const {}
  };
  runtime rt{settings()};
  strand other{rt, "other"};
  for (unsigned n = 0; n < 20; ++n) {
    last_words words{rt, other};
    strand& own = *words.own;
    rt.post(color{n % 3}, last_words{rt, other});
    own.post(std::move(words));  // a strand held by its own event
  }
  EXPECT_EQ(rt.drain(0ns).destroyed, 40u);
}

TEST_P(life, the_destructor_drains_without_any_time) {
  witness::record seen;
  {
    runtime rt{settings()};
    for (unsigned n = 0; n < 10; ++n) rt.post(color{n}, witness{seen});
  }
  EXPECT_EQ(seen.dropped.load(), 10u);
  EXPECT_EQ(seen.dropped_elsewhere.load(), 0u);
}

TEST_P(life, a_strand_may_be_destroyed_after_the_runtime_is_over) {
  runtime rt{settings()};
  strand s{rt, "long-lived"};
  std::optional<strand> moved{std::in_place, rt};
  rt.stop();
  EXPECT_EQ(rt.run(), 0);
  moved.reset();
  const strand late{rt, "made when all was over"};
  EXPECT_FALSE(s.post([] {}));
}

TEST_P(life, foreign_threads_that_post_until_they_are_refused_lose_nothing) {
  for (unsigned round = 0; round < rounds(21); ++round) {
    witness::record seen;
    std::atomic<unsigned> accepted{0};
    std::atomic<unsigned> refused{0};
    {
      runtime rt{settings()};
      std::atomic<unsigned> going{0};
      std::vector<std::thread> outside;
      for (unsigned t = 0; t < 2; ++t) {
        outside.emplace_back([&, t] {
          going.fetch_add(1);
          for (unsigned n = 0; rt.post(color{n % 5 + t}, witness{seen}); ++n) accepted.fetch_add(1);
          refused.fetch_add(1);
        });
      }
      test::spin_until([&] { return going.load() == 2; });
      std::size_t destroyed = 0;
      if (round % 3 == 0) {
        destroyed = rt.drain(0ns).destroyed;
      } else if (round % 3 == 1) {
        destroyed = rt.drain(50us).destroyed;
      } else {
        rt.post([&] { rt.stop(); });
        rt.run();
      }
      for (std::thread& t : outside) t.join();
      EXPECT_EQ(seen.dropped.load(), destroyed + refused.load());
    }
    EXPECT_EQ(seen.ran.load() + seen.dropped.load(), accepted.load() + 2);
  }
}

TEST_P(life, foreign_threads_may_open_and_close_strands_while_the_runtime_ends) {
  for (unsigned round = 0; round < rounds(21); ++round) {
    runtime rt{settings()};
    std::atomic<bool> going{false};
    std::thread outside{[&] {
      for (bool more = true; more;) {
        strand s{rt, "passing"};
        more = s.post([] {});
        rt.post(s.value(), [] {});
        going = true;
      }
    }};
    test::spin_until([&] { return going.load(); });
    rt.drain(round % 2 == 0 ? 0ns : 50us);
    outside.join();
  }
}

INSTANTIATE_TEST_SUITE_P(workers, life, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
