// Lost wake-ups and loops that wait, seen failing and passing.

#include "waiting.h"

#include <gtest/gtest.h>

#include "program.h"

namespace tartan::model {
namespace {

using enum std::memory_order;

// The sleep protocol in small: the poster publishes and then looks for a sleeper; the sleeper says so and then looks again.
struct sleep_protocol {
  model_atomic<int> work{0, "work"};
  model_atomic<int> sleeping{0, "sleeping"};
  token wake{"wake"};
  model_plain<int> done{0, "done"};

  template <class Barrier>
  void post(Barrier barrier) {
    work.store(1, release);  // pairs with take
    barrier();
    if (sleeping.load(relaxed) != 0) {
      wake.signal();
    }
  }

  bool take() { return work.exchange(0, acquire) != 0; }  // pairs with post

  template <class Barrier>
  void run_one(Barrier barrier, bool look_again) {
    while (!take()) {
      sleeping.store(1, relaxed);
      barrier();
      if (!look_again || work.load(relaxed) == 0) {
        wake.wait();
      }
      sleeping.store(0, relaxed);
    }
    done = 1;
  }
};

const auto light = [] { model_memory::light_barrier(); };
const auto heavy = [] { model_memory::heavy_barrier(); };
const auto none = [] {};

template <class PostBarrier, class SleepBarrier>
result sleep_and_wake(options bounds, PostBarrier post_barrier, SleepBarrier sleep_barrier, bool look_again = true) {
  return explore(bounds, [&](program& p) {
    auto* s = p.make<sleep_protocol>();
    p.thread("poster", [=] { s->post(post_barrier); });
    p.thread("sleeper", [=] { s->run_one(sleep_barrier, look_again); });
    p.finally([=] { check(s->done == 1, "the event ran"); });
  });
}

testing::AssertionResult loses_a_wake_up(const result& found) {
  const bool lost = !found.passed && found.failure.find("deadlock") != std::string::npos;
  return lost ? testing::AssertionSuccess() : testing::AssertionFailure() << found.report;
}

TEST(sleeping, loses_no_wake_up_with_a_light_and_a_heavy_barrier) {
  EXPECT_TRUE(sleep_and_wake({.name = "sleep"}, light, heavy).proved());
  EXPECT_TRUE(sleep_and_wake({.name = "sleep_fences", .symmetric_barriers = true}, light, heavy).proved());
}

TEST(sleeping, loses_a_wake_up_without_the_heavy_barrier) {
  EXPECT_TRUE(loses_a_wake_up(sleep_and_wake({.name = "sleep_no_heavy"}, light, none)));
}

TEST(sleeping, loses_a_wake_up_without_the_light_barrier_where_both_are_fences) {
  EXPECT_TRUE(loses_a_wake_up(sleep_and_wake({.name = "sleep_no_light", .symmetric_barriers = true}, none, heavy)));
}

TEST(sleeping, loses_a_wake_up_without_the_second_look) {
  EXPECT_TRUE(loses_a_wake_up(sleep_and_wake({.name = "sleep_no_look"}, light, heavy, false)));
}

// Scheduler trap: a worker declined work that it may take later, slept, and nobody posts again.
TEST(sleeping, after_declining_needs_a_timeout) {
  const auto decline = [](const char* name, timeout patience) {
    return explore({.name = name}, [&](program& p) {
      auto* wake = p.make<token>("wake");
      auto* stuck = p.make<token>("stuck");
      auto* declined = p.make<ghost<int>>(0, "declined");
      p.thread("thief", [=] {
        *declined = 1;
        const bool woken = wake->wait_for(patience);
        check(!woken, "nobody posts here");
        stuck->signal();  // the stolen work sets the victim free
      });
      p.thread("victim", [=] { stuck->wait(); });
      p.finally([=] { check(*declined == 1, "the thief slept"); });
    });
  };
  EXPECT_TRUE(decline("declined_with_timeout", timeout::when_quiet).proved());
  EXPECT_TRUE(loses_a_wake_up(decline("declined_without_timeout", timeout::never)));
}

TEST(tokens, keep_one_signal_and_carry_what_was_done_before) {
  const result found = explore({.name = "token"}, [](program& p) {
    auto* t = p.make<token>("t");
    auto* data = p.make<model_plain<int>>(0, "data");
    p.thread("signaler", [=] {
      *data = 1;
      t->signal();
    });
    p.thread("waiter", [=] {
      t->wait();
      check(*data == 1, "what was done before the signal is visible");
    });
  });
  EXPECT_TRUE(found.proved()) << found.report;
  EXPECT_TRUE(loses_a_wake_up(explore({.name = "token_twice"}, [](program& p) {
    auto* t = p.make<token>("t");
    p.thread("signaler", [=] { t->signal(), t->signal(); });
    p.thread("waiter", [=] { t->wait(), t->wait(); });
  })));
}

TEST(timeouts, at_any_time_race_with_the_signal) {
  const auto race = [](bool expect_woken) {
    return explore({.name = expect_woken ? "timeout_first" : "signal_first"}, [=](program& p) {
      auto* t = p.make<token>("t");
      p.thread("signaler", [=] { t->signal(); });
      p.thread("waiter", [=] { check(t->wait_for(timeout::any_time) == expect_woken, "always the same"); });
    });
  };
  EXPECT_FALSE(race(true).passed);
  EXPECT_FALSE(race(false).passed);
}

TEST(pause, makes_a_waiting_loop_one_step_and_ends_with_the_store) {
  const auto spin = [](const char* name, int stored) {
    return explore({.name = name}, [=](program& p) {
      auto* word = p.make<model_atomic<int>>(0, "word");
      p.thread("spinner", [=] {
        while (word->load(relaxed) != 1) {
          model_memory::pause();
        }
      });
      p.thread("storer", [=] { word->store(stored, relaxed); });
    });
  };
  EXPECT_TRUE(spin("spin", 1).proved());
  EXPECT_TRUE(loses_a_wake_up(spin("spin_for_ever", 2)));
}

// Between a stale load and the pause, another thread's barrier may tell the spinner's CPU of the store.
TEST(pause, ends_also_if_a_barrier_brought_the_store_before_it_began) {
  const result found = explore({.name = "spin_and_barrier"}, [](program& p) {
    auto* word = p.make<model_atomic<int>>(1, "word");
    p.thread("spinner", [=] {
      while (word->load(relaxed) != 0) {
        model_memory::pause();
      }
    });
    p.thread("storer", [=] {
      word->store(0, relaxed);
      model_memory::heavy_barrier();
    });
  });
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(pause, missing_from_a_waiting_loop_is_a_fault) {
  const result found = explore({.name = "spin_without_pause"}, [](program& p) {
    auto* word = p.make<model_atomic<int>>(0, "word");
    p.thread("spinner", [=] {
      while (word->load(relaxed) != 1) {
        model_memory::relax();
      }
    });
    p.thread("storer", [=] { word->store(2, relaxed); });
  });
  EXPECT_NE(found.failure.find("steps"), std::string::npos) << found.report;
}

TEST(deadlock, names_who_waits_for_what) {
  const result found = explore({.name = "two_locks"}, [](program& p) {
    auto* first = p.make<model_atomic<int>>(0, "first");
    auto* second = p.make<model_atomic<int>>(0, "second");
    const auto take_both = [](model_atomic<int>* one, model_atomic<int>* other) {
      for (auto* lock : {one, other}) {
        while (lock->exchange(1, acquire) != 0) {
          model_memory::pause();
        }
      }
      other->store(0, release), one->store(0, release);
    };
    p.thread("left", [=] { take_both(first, second); });
    p.thread("right", [=] { take_both(second, first); });
  });
  EXPECT_EQ(found.failure.find("deadlock"), 0u);
  EXPECT_NE(found.failure.find("left waits for a change of"), std::string::npos) << found.failure;
  EXPECT_NE(found.failure.find("right waits for a change of"), std::string::npos) << found.failure;
}

}  // namespace
}  // namespace tartan::model
