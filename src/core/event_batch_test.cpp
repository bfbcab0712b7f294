#include <tartan/core/event_batch.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <utility>
#include <vector>

#include "tests/workers.h"

namespace tartan {
namespace {

class a_batch : public test::on_workers {};

std::string ran_in_order(options with, bool batched, bool from_an_event) {
  std::string ran;  // of color 1's events
  runtime rt{with};
  strand s{rt, "batched"};
  std::string on_strand;
  const auto post_all = [&] {
    event_batch batch{rt};
    for (char c = 'a'; c <= 'z'; ++c) {
      const auto in_color = [&ran, c] { ran += c; };
      const auto in_strand = [&on_strand, c] { on_strand += c; };
      if (batched) {
        batch.add(color{1}, in_color);
        batch.add(s, in_strand);
        batch.add(color::unordered, [] {});
      } else {
        rt.post(color{1}, in_color);
        s.post(in_strand);
        rt.post(color::unordered, [] {});
      }
    }
    if (batched) {
      EXPECT_EQ(batch.size(), 78u);
      EXPECT_TRUE(rt.post(std::move(batch)));
    }
  };
  if (from_an_event) {
    rt.post(color{9}, post_all);
  } else {
    post_all();
  }
  rt.run_until_idle();
  return ran + '|' + on_strand;
}

TEST_P(a_batch, equals_its_posts_one_after_the_other) {
  const std::string alphabet = "abcdefghijklmnopqrstuvwxyz|abcdefghijklmnopqrstuvwxyz";
  for (const bool from_an_event : {false, true}) {
    EXPECT_EQ(ran_in_order(settings(), false, from_an_event), alphabet);
    EXPECT_EQ(ran_in_order(settings(), true, from_an_event), alphabet);
  }
}

TEST_P(a_batch, of_runs_and_of_many_colors_keeps_each_ones_order) {
  runtime rt{settings()};
  constexpr unsigned colors = 700;  // more than are linked at once
  std::vector<std::unique_ptr<strand>> strands;
  for (unsigned n = 0; n < colors; ++n) strands.push_back(std::make_unique<strand>(rt));
  std::vector<unsigned> by_strand(colors), by_value(colors);
  unsigned by_default = 0;
  const color gone = strand{rt}.value();  // like any other color
  unsigned by_gone = 0;
  rt.run_until_idle();
  unsigned posted = 0;
  std::thread{[&] {
    event_batch batch{rt};
    const auto add = [&](color c, unsigned& last) {
      const unsigned first = posted;
      for (; posted != first + first % 3 + 1; ++posted) {
        batch.add(c, [&last, n = posted + 1] { last = last < n ? n : ~0u; });
      }
    };
    for (unsigned round = 0; round < 3; ++round) {
      for (unsigned n = 0; n < colors; ++n) {
        add(*strands[n], by_strand[n]);
        add(color{n + 1}, by_value[n]);
        if (n % 50 == 0) add(color{}, by_default);
        if (n % 50 == 1) add(gone, by_gone);
      }
    }
    EXPECT_TRUE(rt.post(std::move(batch)));
  }}.join();
  rt.run_until_idle();
  EXPECT_EQ(rt.counters().events, posted);
  for (const auto* all : {&by_strand, &by_value}) EXPECT_EQ(std::count(all->begin(), all->end(), ~0u), 0);
  EXPECT_NE(by_default, ~0u);
  EXPECT_NE(by_gone, ~0u);
}

TEST_P(a_batch, that_was_never_posted_destroys_its_events) {
  const auto held = std::make_shared<int>(1);
  runtime rt{settings()};
  {
    event_batch batch{rt};
    for (int n = 0; n < 100; ++n) batch.add(color{1}, [held] {});
    EXPECT_EQ(held.use_count(), 101);
  }
  EXPECT_EQ(held.use_count(), 1);
  event_batch cleared{rt};
  cleared.add(color{1}, [held] {});
  cleared.clear();
  EXPECT_TRUE(cleared.empty());
  EXPECT_EQ(held.use_count(), 1);
  rt.run_until_idle();
  EXPECT_EQ(rt.counters().events, 0u);
}

TEST_P(a_batch, is_empty_after_it_was_posted_and_can_be_filled_again) {
  runtime rt{settings()};
  int ran = 0;
  const auto batch = std::make_unique<event_batch>(rt);
  EXPECT_TRUE(rt.post(std::move(*batch)));  // nothing in it: nothing to refuse
  for (int round = 0; round < 3; ++round) {
    batch->add(color{1}, [&ran] { ++ran; });
    EXPECT_TRUE(rt.post(std::move(*batch)));
    EXPECT_TRUE(batch->empty());
  }
  rt.run_until_idle();
  EXPECT_EQ(ran, 3);
}

TEST_P(a_batch, moves_with_its_events) {
  runtime rt{settings()};
  int ran = 0;
  const auto first = std::make_unique<event_batch>(rt);
  first->add(color{1}, [&ran] { ++ran; });
  event_batch second{std::move(*first)};
  EXPECT_TRUE(first->empty());
  EXPECT_EQ(second.size(), 1u);
  EXPECT_TRUE(rt.post(std::move(second)));
  rt.run_until_idle();
  EXPECT_EQ(ran, 1);
}

TEST_P(a_batch, stays_as_it_was_if_a_callables_constructor_throws) {
  struct fails_to_copy {
    fails_to_copy() = default;
    fails_to_copy(const fails_to_copy&) { throw std::runtime_error{"no copy"}; }
    void operator()() const {}
  };
  runtime rt{settings()};
  int ran = 0;
  event_batch batch{rt};
  batch.add(color{1}, [&ran] { ++ran; });
  const fails_to_copy callable;
  EXPECT_THROW(batch.add(color{1}, callable), std::runtime_error);
  EXPECT_EQ(batch.size(), 1u);
  EXPECT_TRUE(rt.post(std::move(batch)));
  rt.run_until_idle();
  EXPECT_EQ(ran, 1);
}

TEST_P(a_batch, may_be_filled_and_posted_by_foreign_threads) {
  runtime rt{settings()};
  constexpr unsigned posters = 3;
  std::vector<unsigned long> sums(7, 0);
  std::vector<std::thread> outside;
  for (unsigned t = 0; t < posters; ++t) {
    outside.emplace_back([&] {
      for (unsigned round = 0; round < test::rounds(50); ++round) {
        event_batch batch{rt};
        for (unsigned n = 0; n < 70; ++n) batch.add(color{n / 10 + 1}, [&sums, n] { ++sums[n / 10]; });
        EXPECT_TRUE(rt.post(std::move(batch)));
      }
    });
  }
  rt.run_for(std::chrono::microseconds{100});
  for (std::thread& t : outside) t.join();
  rt.run_until_idle();
  for (const unsigned long each : sums) EXPECT_EQ(each, 10ul * posters * test::rounds(50));
}

TEST(a_batch_of_another_runtime, ends_the_program) {
  const auto posted_elsewhere = [](unsigned events) {
    options with;
    with.workers = 1;
    runtime one{with};
    runtime other{with};
    event_batch batch{one};
    for (unsigned n = 0; n < events; ++n) batch.add(color{1}, [] {});
    other.post(std::move(batch));
  };
  const char* const message =
      "tartan: an event_batch was posted to another runtime than the one that it was made for, at .*event_batch_test.cpp:[0-9]+";
  EXPECT_DEATH(posted_elsewhere(10), message);
  EXPECT_DEATH(posted_elsewhere(0), message);
}

INSTANTIATE_TEST_SUITE_P(workers, a_batch, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
