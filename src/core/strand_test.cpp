#include <tartan/core/strand.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <thread>
#include <utility>
#include <vector>

#include "core/sched/inbox.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using test::rounds;

class a_strand : public test::on_workers {};

TEST_P(a_strand, has_a_color_that_nobody_else_has) {
  runtime rt{settings()};
  std::vector<strand> strands;
  std::vector<std::uint64_t> colors;
  for (unsigned n = 0; n < 3000; ++n) {
    strands.emplace_back(rt);
    colors.push_back(strands.back().value().value());
  }
  std::sort(colors.begin(), colors.end());
  EXPECT_EQ(std::adjacent_find(colors.begin(), colors.end()), colors.end());
}

TEST_P(a_strand, runs_what_was_posted_by_handle_and_by_value_in_one_order) {
  runtime rt{settings()};
  strand s{rt, "both ways"};
  std::string ran;
  rt.post(color{1}, [&] {
    for (char c = 'a'; c < 'u'; ++c) {
      const auto note = [&ran, c] { ran += c; };
      if (c % 2 == 0) {
        s.post(note);
      } else {
        post(s.value(), note);
      }
    }
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, "abcdefghijklmnopqrst");
}

// Its owner there may have the number of the worker that posts.
TEST_P(a_strand, of_another_runtime_runs_there_whatever_is_posted_to_it_from_an_event) {
  runtime other{settings()};
  strand there{other};
  std::atomic<int> ran{0};
  runtime rt{settings()};
  strand here{rt};
  here.post([&] {
    for (int n = 0; n < 2; ++n) there.post([&] { ++ran; });
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, 0);
  other.run_until_idle();
  EXPECT_EQ(ran, 2);
}

TEST_P(a_strand, carries_its_name_and_takes_it_along) {
  runtime rt{settings()};
  color was{};
  {
    strand s{rt, "page cache"};
    was = s.value();
    EXPECT_EQ(rt.name_of(s), "page cache");
    strand moved{std::move(s)};
    EXPECT_EQ(moved.value(), was);
    EXPECT_EQ(rt.name_of(moved), "page cache");
    EXPECT_EQ(rt.name_of(strand{rt}), "");
  }
  rt.run_until_idle();
  EXPECT_EQ(rt.name_of(was), "");
}

TEST_P(a_strand, lets_what_was_posted_to_it_run_when_it_is_destroyed) {
  runtime rt{settings()};
  unsigned ran = 0;
  {
    strand s{rt, "short-lived"};
    for (unsigned n = 0; n < 100; ++n) s.post([&] { ++ran; });
  }
  EXPECT_EQ(ran, 0u);
  rt.run_until_idle();
  EXPECT_EQ(ran, 100u);
}

TEST_P(a_strand, may_be_destroyed_in_its_own_event_with_others_behind_it) {
  runtime rt{settings()};
  std::string ran;
  for (unsigned round = 0; round < rounds(20); ++round) {
    ran.clear();
    auto s = std::make_unique<strand>(rt, "its own end");
    strand& handle = *s;
    handle.post([&ran, own = std::move(s)]() mutable {
      const color mine = own->value();
      own->post([&ran] { ran += 'c'; });
      own.reset();
      ran += 'a';
      post(mine, [&ran] { ran += 'd'; });
      mine.assert_here();
    });
    rt.post(handle.value(), [&ran] { ran += 'b'; });
    rt.run_until_idle();
    ASSERT_EQ(ran, "abcd");
  }
}

TEST_P(a_strand, is_moved_into_place_and_ends_what_was_there) {
  runtime rt{settings()};
  unsigned ran = 0;
  strand first{rt, "first"};
  strand second{rt, "second"};
  first.post([&] { ++ran; });
  const color kept = second.value();
  first = std::move(second);
  EXPECT_EQ(first.value(), kept);
  strand& self = first;
  first = std::move(self);
  EXPECT_EQ(first.value(), kept);
  rt.run_until_idle();
  EXPECT_EQ(ran, 1u);
}

/// The color of a strand that is gone is a color like any other: exclusive and in order, also against what is left of the strand.
TEST_P(a_strand, leaves_a_color_that_still_works) {
  runtime rt{settings()};
  for (unsigned round = 0; round < rounds(50); ++round) {
    std::vector<unsigned> ran;
    bool inside = false;
    bool met = false;
    const auto note = [&](unsigned n) {
      met = met || inside;
      inside = true;
      ran.push_back(n);
      std::this_thread::yield();
      inside = false;
    };
    std::optional<strand> s{std::in_place, rt, "gone soon"};
    const color was = s->value();
    rt.post(color{1}, [&] {
      for (unsigned n = 0; n < 10; ++n) s->post([&note, n] { note(n); });
      s.reset();
      for (unsigned n = 10; n < 20; ++n) post(was, [&note, n] { note(n); });
      post(color{2}, [&] {
        for (unsigned n = 20; n < 30; ++n) {
          post(was, [&note, was, n] {
            was.assert_here();
            note(n);
          });
        }
      });
    });
    rt.run_until_idle();
    ASSERT_FALSE(met);
    ASSERT_EQ(ran.size(), 30u);
    for (unsigned n = 0; n < 30; ++n) ASSERT_EQ(ran[n], n);
  }
}

TEST_P(a_strand, may_be_opened_posted_to_and_destroyed_by_foreign_threads) {
  runtime rt{settings()};
  constexpr unsigned threads = 3;
  std::atomic<unsigned> ran{0};
  std::atomic<unsigned> at_work{threads};
  std::vector<std::thread> outside;
  for (unsigned t = 0; t < threads; ++t) {
    outside.emplace_back([&] {
      for (unsigned n = 0; n < rounds(500); ++n) {
        strand s{rt};
        for (unsigned k = 0; k < n % 4; ++k) s.post([&] { ran.fetch_add(1); });
        rt.post(s.value(), [&] { ran.fetch_add(1); });
      }
      if (at_work.fetch_sub(1) == 1) rt.stop();
    });
  }
  EXPECT_EQ(rt.run(), 0);
  for (std::thread& t : outside) t.join();
  unsigned expected = 0;
  for (unsigned n = 0; n < rounds(500); ++n) expected += n % 4 + 1;
  EXPECT_EQ(ran.load(), threads * expected);
}

/// Its handle goes while its event runs on a worker, at all distances from the end of that event's turn.
TEST_P(a_strand, may_be_destroyed_by_a_foreign_thread_while_it_ends_by_itself) {
  runtime rt{settings()};
  std::atomic<unsigned> ran{0};
  std::atomic<bool> done{false};
  // What makes the workers take and free color queues all the time.
  struct churn {
    std::atomic<bool>& done;
    void step(unsigned n) {
      strand passing;
      passing.post([] {});
      if (!done) post(color{n % 50 + 1}, [this, n] { step(n + 1); });
    }
  };
  churn busy{done};
  for (unsigned k = 0; k < 4; ++k) rt.post(color{k + 1}, [&busy, k] { busy.step(k); });
  std::thread outside{[&] {
    for (unsigned n = 0; n < rounds(500); ++n) {
      std::optional<strand> s{std::in_place, rt};
      std::atomic<bool> begun{false};
      s->post([&, n] {
        begun = true;
        for (unsigned k = 0; k < n % 64; ++k) std::atomic_signal_fence(std::memory_order_seq_cst);
        ran.fetch_add(1);
      });
      test::spin_until([&] { return begun.load(); });
      for (unsigned k = 0; k < n % 50; ++k) std::atomic_signal_fence(std::memory_order_seq_cst);
      s.reset();
    }
    done = true;
    rt.stop();
  }};
  EXPECT_EQ(rt.run(), 0);
  outside.join();
  EXPECT_EQ(ran.load(), rounds(500));
}

/// More strands than a line of memory has generations, one after the other in the same line as far as it goes.
TEST(many_strands, have_colors_of_their_own_although_they_share_their_memory_and_it_wears_out) {
  options with;
  with.workers = 1;
  runtime rt{with};
  constexpr std::uint64_t generations = detail::inbox<detail::real_memory, detail::event>::last_generation;
  std::vector<std::uint64_t> colors;
  unsigned ran = 0;
  rt.post(color{1}, [&] {
    color first{};
    for (std::uint64_t n = 0; n < generations + 100; ++n) {
      const strand s;
      if (n == 0) first = s.value();
      colors.push_back(s.value().value());
    }
    EXPECT_TRUE(post(first, [&] { ++ran; }));
    strand after;
    after.post([&] { ++ran; });
    post(after.value(), [&] { ++ran; });
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, 3u);
  std::sort(colors.begin(), colors.end());
  EXPECT_EQ(std::adjacent_find(colors.begin(), colors.end()), colors.end());
}

INSTANTIATE_TEST_SUITE_P(workers, a_strand, testing::ValuesIn(test::worker_counts()), test::worker_name);

void outlive(bool after_a_run) {
  std::optional<strand> s;
  options with;
  with.workers = 1;
  std::unique_ptr<runtime> rt{new runtime{with}};
  s.emplace(*rt, "page cache");
  if (after_a_run) {
    rt->stop();
    rt->run();
  }
  rt.reset();
}

TEST(strand_DeathTest, that_outlives_its_runtime_ends_the_program_with_its_name) {
  const char* const message =
      "tartan: a strand outlives its runtime: strand \"page cache\"; the runtime was made at .*strand_test";
  EXPECT_DEATH(outlive(false), message);
  EXPECT_DEATH(outlive(true), message);
}

TEST(strand_DeathTest, that_was_moved_from_ends_the_program_with_the_place_of_its_use) {
  options with;
  with.workers = 1;
  runtime rt{with};
  std::optional<strand> first{std::in_place, rt, "first"};
  const strand second{std::move(*first)};
  EXPECT_DEATH(first->post([] {}), "a strand that was moved from is used at .*strand_test.cpp:[0-9]+");
  EXPECT_DEATH(static_cast<void>(first->value()), "moved from.*strand_test.cpp:[0-9]+");
}

}  // namespace
}  // namespace tartan
