// Contract 7: a bounded batch of one color, a look at incoming posts and at I/O, and no runnable color waits for a busy worker while another one is idle.
//
// Nothing here looks at a clock: an event that ends only when an event behind it has run would never end if nobody came for it.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <tartan/core/event_batch.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <utility>
#include <vector>

#include "tests/still_clock.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using test::rounds;
using test::spin_until;

class fairness : public test::on_workers {};
class fairness_behind_a_long_event : public test::on_workers {};

TEST_P(fairness, a_color_that_always_has_events_does_not_keep_out_another_one) {
  runtime rt{settings()};
  std::atomic<bool> other_ran{false};
  unsigned served = 0;
  std::function<void()> hog = [&] {
    if (++served == 100) post(color{2}, [&] { other_ran = true; });
    if (!other_ran) post(color{1}, [&hog] { hog(); });
  };
  rt.post(color{1}, [&hog] { hog(); });
  rt.run_until_idle();
  EXPECT_TRUE(other_ran);
}

// How many events of color 1 run before color 2 has its turn, if so many of them were posted before it. Each calls `in_event(number)`.
unsigned served_before_the_other(options with, unsigned backlog, const std::function<void(unsigned)>& in_event = {}) {
  with.workers = 1;
  runtime rt{with};
  unsigned served = 0;
  unsigned before_the_other = 0;
  rt.post(color{3}, [&] {  // from an event: then color 1 is the first in line
    for (unsigned n = 0; n < backlog; ++n) {
      post(color{1}, [&] {
        ++served;
        if (in_event) in_event(served);
      });
    }
    post(color{2}, [&] { before_the_other = served; });
  });
  rt.run_until_idle();
  EXPECT_EQ(served, backlog);
  return before_the_other;
}

TEST(fairness_on_one_worker, a_color_gets_no_more_than_its_batch_while_another_one_waits) {
  for (const unsigned batch : {1u, 3u, 16u, 32u}) {
    options with;
    with.batch = batch;
    EXPECT_EQ(served_before_the_other(with, 200), batch);
  }
}

// Served like one queue for all colors would be: what came first goes first, in batches.
TEST(fairness_on_one_worker, a_long_backlog_is_served_as_far_as_it_was_there_before) {
  unsigned later = 0;
  const unsigned served = served_before_the_other({}, 40, [&](unsigned) { post(color{1}, [&later] { ++later; }); });
  EXPECT_EQ(served, 40u);
  EXPECT_EQ(later, 40u);
}

TEST(fairness_on_one_worker, a_backlog_of_long_events_is_left_after_half_a_millisecond) {
  const unsigned served = served_before_the_other({}, 250, [](unsigned number) {
    if (number != 30) return;
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds{500};
    spin_until([&] { return std::chrono::steady_clock::now() >= until; });
  });
  EXPECT_EQ(served, 32u);  // it looks at the clock between batches of 16
}

TEST_P(fairness, a_worker_that_is_never_out_of_work_looks_at_incoming_posts) {
  runtime rt{settings()};
  std::atomic<bool> arrived{false};
  std::function<void(unsigned)> busy = [&](unsigned k) {
    if (!arrived) post(color{k}, [&busy, k] { busy(k); });
  };
  for (unsigned k = 1; k <= 3 * GetParam(); ++k) rt.post(color{k}, [&busy, k] { busy(k); });
  std::atomic<bool> running{false};
  rt.post([&] { running = true; });
  std::thread outside{[&] {
    spin_until([&] { return running.load(); });
    rt.post(color{1000}, [&] { arrived = true; });
  }};
  rt.run_until_idle();
  outside.join();
  EXPECT_TRUE(arrived);
}

TEST_P(fairness, a_worker_that_is_never_out_of_work_looks_at_io) {
  test::still_poller clock;
  options with = settings();
  with.poller = &clock;
  runtime rt{with};
  std::function<void()> hog = [&] {
    if (clock.harvests() < 3) post(color{1}, [&hog] { hog(); });
  };
  rt.post(color{1}, [&hog] { hog(); });
  rt.run_until_idle();
  EXPECT_GE(clock.harvests(), 3u);
}

TEST_P(fairness, many_colors_that_are_always_busy_all_get_their_turns) {
  runtime rt{settings()};
  constexpr unsigned colors = 50;
  std::vector<unsigned> served(colors, 0);
  std::atomic<unsigned> fed{0};
  std::function<void(unsigned)> chain = [&](unsigned k) {
    if (++served[k] == 100) fed.fetch_add(1);
    if (fed.load() != colors) post(color{k + 1}, [&chain, k] { chain(k); });
  };
  for (unsigned k = 0; k < colors; ++k) rt.post(color{k + 1}, [&chain, k] { chain(k); });
  rt.run_until_idle();
  for (const unsigned each : served) EXPECT_GE(each, 100u);
}

TEST_P(fairness_behind_a_long_event, what_it_posts_itself_is_taken_by_an_idle_worker) {
  runtime rt{settings()};
  for (unsigned round = 0; round < rounds(100); ++round) {
    std::atomic<bool> ran{false};
    rt.post(color{1}, [&] {
      post(color{2}, [&] { ran = true; });
      spin_until([&] { return ran.load(); });
    });
    rt.run_until_idle();
    ASSERT_TRUE(ran);
  }
}

TEST_P(fairness_behind_a_long_event, a_strand_of_its_own_worker_is_taken_by_an_idle_worker) {
  runtime rt{settings()};
  for (unsigned round = 0; round < rounds(50); ++round) {
    std::atomic<bool> ran{false};
    std::optional<strand> own;
    rt.post(color{1}, [&] {
      own.emplace("own");
      own->post([&] { ran = true; });
      spin_until([&] { return ran.load(); });
    });
    rt.run_until_idle();
    ASSERT_TRUE(ran);
  }
}

TEST_P(fairness_behind_a_long_event, what_a_foreign_thread_posts_to_a_color_of_its_worker_is_taken_by_an_idle_worker) {
  runtime rt{settings()};
  for (unsigned round = 0; round < rounds(50); ++round) {
    std::atomic<bool> ready{false};
    std::atomic<bool> ran{false};
    std::optional<strand> own;
    rt.post(color{1}, [&] {
      own.emplace("own");  // lives on the worker that is about to be stuck
      ready = true;
      spin_until([&] { return ran.load(); });
    });
    std::thread outside{[&] {
      spin_until([&] { return ready.load(); });
      own->post([&] { ran = true; });
    }};
    rt.run_until_idle();
    outside.join();
    ASSERT_TRUE(ran);
  }
}

// A look within a long turn makes a color runnable, and the next event of that turn is a long one; all others sleep until they are called.
TEST_P(fairness_behind_a_long_event, what_became_ready_in_the_middle_of_a_backlog_is_taken_by_an_idle_worker) {
  test::still_poller clock;
  options with = settings();
  with.poller = &clock;
  with.pin_default_color = true;  // the backlog stays with worker 0
  runtime rt{with};
  std::atomic<bool> ran{false};
  unsigned served = 0;
  bool armed = false;
  bool posted = false;
  clock.on_harvest = [&](unsigned worker) {
    if (worker != 0 || !std::exchange(armed, false)) return false;
    posted = rt.post(color{2}, [&] { ran = true; });
    return posted;
  };
  rt.post([&] {
    for (unsigned n = 0; n < 150; ++n) {
      post([&] {
        if (++served == 30) {  // in a turn that begins with more than a batch
          spin_until([&] { return clock.others_asleep_until_called(); });
          armed = true;
        }
        if (posted) spin_until([&] { return ran.load(); });
      });
    }
  });
  rt.run_until_idle();
  EXPECT_TRUE(posted);
  EXPECT_TRUE(ran);
  EXPECT_EQ(served, 150u);
}

/// Trap 13: everybody who could help has looked, declined and gone to sleep before the long event begins, and nobody posts after that.
TEST_P(fairness_behind_a_long_event, nobody_has_to_post_again_for_what_was_left_behind) {
  runtime rt{settings()};
  for (unsigned round = 0; round < rounds(50); ++round) {
    std::atomic<bool> ran{false};
    unsigned short_events = 0;
    // Short turns first, so that thieves watch and decline; then the long event, with another color behind it.
    std::function<void()> warm_up = [&] {
      if (++short_events < 50 + 37 * (round % 8)) {
        post(color{1}, [&warm_up] { warm_up(); });
        return;
      }
      post(color{3}, [&] { spin_until([&] { return ran.load(); }); });
      post(color{4}, [&] { ran = true; });
    };
    rt.post(color{1}, [&warm_up] { warm_up(); });
    rt.run_until_idle();
    ASSERT_TRUE(ran);
  }
}

TEST_P(fairness_behind_a_long_event, the_rest_of_a_batch_is_taken_by_an_idle_worker) {
  runtime rt{settings()};
  for (unsigned round = 0; round < rounds(50); ++round) {
    std::atomic<unsigned> ran{0};
    event_batch batch{rt};
    batch.add(color{1}, [&] { spin_until([&] { return ran.load() == 9; }); });
    for (unsigned k = 2; k <= 10; ++k) batch.add(color{k}, [&] { ran.fetch_add(1); });
    rt.post(color{100}, [&] { rt.post(std::move(batch)); });
    rt.run_until_idle();
    ASSERT_EQ(ran.load(), 9u);
  }
}

TEST_P(fairness_behind_a_long_event, one_free_worker_serves_all_colors_when_all_others_are_stuck) {
  runtime rt{settings()};
  for (unsigned round = 0; round < rounds(20); ++round) {
    std::atomic<unsigned> stuck{0};
    std::atomic<unsigned> ran{0};
    const unsigned hogs = GetParam() - 1;
    for (unsigned k = 0; k < hogs; ++k) {
      rt.post(color{k + 1}, [&, k] {
        stuck.fetch_add(1);
        spin_until([&] { return stuck.load() == hogs; });
        post(color{1000 + k}, [&] { ran.fetch_add(1); });
        post(color::unordered, [&] { ran.fetch_add(1); });
        post([&] { ran.fetch_add(1); });
        spin_until([&] { return ran.load() == 3 * hogs; });
      });
    }
    rt.run_until_idle();
    ASSERT_EQ(ran.load(), 3 * hogs);
  }
}

/// The runtime rests between two runs, and whoever had promised to watch must still do so, or have given the promise back. (The
/// long event is not in the run with a limit: that run would wait for it, while nobody takes what is behind it.)
TEST_P(fairness_behind_a_long_event, holds_in_a_run_after_others) {
  runtime rt{settings()};
  for (unsigned round = 0; round < rounds(50); ++round) {
    unsigned turns = 0;
    std::function<void()> short_turns = [&] {
      if (++turns < 500) post(color{turns % 2 + 1}, [&short_turns] { short_turns(); });
    };
    rt.post(color{1}, [&short_turns] { short_turns(); });
    rt.run_for(std::chrono::microseconds{50 + 20 * (round % 20)});
    std::atomic<bool> ran{false};
    rt.post(color{3}, [&] {
      post(color{4}, [&] { ran = true; });
      spin_until([&] { return ran.load(); });
    });
    rt.run_until_idle();
    ASSERT_TRUE(ran);
    ASSERT_EQ(turns, 500u);
  }
}

INSTANTIATE_TEST_SUITE_P(workers, fairness, testing::ValuesIn(test::worker_counts()), test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, fairness_behind_a_long_event, testing::ValuesIn(test::several_workers()),
                         test::worker_name);

}  // namespace
}  // namespace tartan
