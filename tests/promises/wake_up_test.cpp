// No wake-up is lost: a post to a runtime that sleeps, or is about to, is run without any other post to help it.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <tartan/core/event_batch.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <vector>

#include "tests/workers.h"

namespace tartan {
namespace {

using test::rounds;

class wake_up : public test::on_workers {};

/// One event at a time: the next one is posted when the last one has run, and the workers are anywhere between busy and asleep.
template <class Post>
void post_one_by_one(runtime& rt, unsigned count, Post post_event) {
  std::thread outside{[&] {
    std::atomic<unsigned> ran{0};
    for (unsigned n = 0; n < count; ++n) {
      post_event(n, [&ran] {
        ran.fetch_add(1, std::memory_order_release);
        ran.notify_one();
      });
      if (n % 3 == 0) {
        test::spin_until([&] { return ran.load(std::memory_order_acquire) == n + 1; });
      } else {
        ran.wait(n, std::memory_order_acquire);
      }
    }
    rt.stop();
  }};
  EXPECT_EQ(rt.run(), 0);
  outside.join();
}

TEST_P(wake_up, a_post_by_value_to_a_sleeping_runtime_is_run) {
  runtime rt{settings()};
  post_one_by_one(rt, rounds(2000), [&rt](unsigned n, auto f) { rt.post(color{n % 11 + 1}, f); });
}

TEST_P(wake_up, a_post_to_a_strand_of_a_sleeping_worker_is_run) {
  runtime rt{settings()};
  std::vector<strand> strands;
  for (unsigned n = 0; n < 7; ++n) strands.emplace_back(rt);
  post_one_by_one(rt, rounds(2000), [&strands](unsigned n, auto f) { strands[n % 7].post(f); });
}

TEST_P(wake_up, a_post_to_the_default_color_and_to_none_is_run) {
  runtime rt{settings()};
  post_one_by_one(rt, rounds(1000), [&rt](unsigned n, auto f) {
    if (n % 2 == 0) {
      rt.post(f);
    } else {
      rt.post(color::unordered, f);
    }
  });
}

TEST_P(wake_up, a_post_to_the_pinned_default_color_is_run) {
  options with = settings();
  with.pin_default_color = true;
  runtime rt{with};
  post_one_by_one(rt, rounds(1000), [&rt](unsigned n, auto f) {
    if (n % 4 == 3) {
      rt.post(color{n % 5 + 1}, [&rt, f] { rt.post(f); });
    } else {
      rt.post(f);
    }
  });
}

TEST_P(wake_up, a_batch_is_run) {
  runtime rt{settings()};
  post_one_by_one(rt, rounds(1000), [&rt](unsigned n, auto f) {
    event_batch batch{rt};
    batch.add(color{n % 13 + 1}, [] {});
    batch.add(color{n % 17 + 1}, f);
    rt.post(std::move(batch));
  });
}

TEST_P(wake_up, a_post_through_several_workers_is_run) {
  runtime rt{settings()};
  post_one_by_one(rt, rounds(1000), [&rt](unsigned n, auto f) {
    rt.post(color{n % 11 + 1},
            [&rt, n, f] { rt.post(color{n % 7 + 100}, [&rt, n, f] { rt.post(color{n % 5 + 200}, f); }); });
  });
}

TEST_P(wake_up, several_foreign_threads_at_once_lose_nothing) {
  runtime rt{settings()};
  constexpr unsigned posters = 3;
  std::atomic<unsigned> at_work{posters};
  std::vector<std::thread> outside;
  for (unsigned t = 0; t < posters; ++t) {
    outside.emplace_back([&, t] {
      std::atomic<unsigned> ran{0};
      for (unsigned n = 0; n < rounds(500); ++n) {
        rt.post(color{t * 3 + n % 4 + 1}, [&ran] {
          ran.fetch_add(1, std::memory_order_release);
          ran.notify_one();
        });
        ran.wait(n, std::memory_order_acquire);
      }
      if (at_work.fetch_sub(1) == 1) rt.stop();
    });
  }
  EXPECT_EQ(rt.run(), 0);
  for (std::thread& t : outside) t.join();
}

TEST_P(wake_up, a_stop_is_never_missed) {
  for (unsigned round = 0; round < rounds(200); ++round) {
    runtime rt{settings()};
    std::atomic<bool> running{false};
    if (round % 2 == 0) rt.post([&] { running = true; });
    std::thread outside{[&] {
      if (round % 2 == 0) test::spin_until([&] { return running.load(); });
      for (unsigned n = 0; n < 10 * (round % 16); ++n) std::this_thread::yield();
      rt.stop();
    }};
    EXPECT_EQ(rt.run(), 0);
    outside.join();
  }
}

TEST_P(wake_up, idleness_is_noticed_however_the_last_event_ends) {
  runtime rt{settings()};
  unsigned long ran = 0;
  for (unsigned round = 0; round < rounds(1000); ++round) {
    rt.post(color{round % 3 + 1}, [&] { post(color{round % 5 + 10}, [&] { post([&] { ++ran; }); }); });
    rt.run_until_idle();
    ASSERT_EQ(ran, round + 1ul);
  }
}

TEST_P(wake_up, a_foreign_post_to_a_runtime_that_falls_idle_is_run_by_this_run_or_the_next) {
  runtime rt{settings()};
  const unsigned count = rounds(1000);
  std::atomic<unsigned> ran{0};
  std::atomic<bool> all_posted{false};
  std::thread outside{[&] {
    for (unsigned n = 0; n < count; ++n) {
      rt.post(color{n % 5 + 1}, [&] { ran.fetch_add(1); });
      test::spin_until([&] { return ran.load() == n + 1; });
    }
    all_posted = true;
  }};
  while (!all_posted) {
    rt.run_until_idle();
    std::this_thread::yield();
  }
  outside.join();
  EXPECT_EQ(ran.load(), count);
}

INSTANTIATE_TEST_SUITE_P(workers, wake_up, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
