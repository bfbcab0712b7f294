// What users may count on, as far as it can be counted: allocations and bytes. The figures are the benchmarks' matter.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <tartan/time/timer.h>
#include <vector>

#include "core/line_pool.h"
#include "core/sched/default_policy.h"
#include "tests/promises/allocations.h"
#include "tests/workers.h"

namespace tartan {
namespace {

class costs : public test::on_workers {};

static_assert(sizeof(detail::event) == 64, "an event is one cache line");
static_assert(sizeof(detail::color_queue) == 64, "an idle strand: 64 bytes");
static_assert(detail::event::capacity_bytes == 40);

struct of_40_bytes {
  std::array<char, 40> data{};
  void operator()() const {}
};
struct of_41_bytes {
  std::array<char, 41> data{};
  void operator()() const {}
};
static_assert(detail::fits_event<of_40_bytes> && !detail::fits_event<of_41_bytes>);

/// Allocations of `f`, inside an event.
template <class F>
std::uint64_t allocations_in_event(runtime& rt, F f) {
  std::uint64_t count = 0;
  for (int round = 0; round < 2; ++round) {  // the first one fills the worker's lists of lines
    rt.post(color{1}, [&] {
      const std::uint64_t before = test::allocations();
      f();
      count = test::allocations() - before;
    });
    rt.run_until_idle();
  }
  return count;
}

TEST(cost, a_post_to_the_running_color_allocates_nothing_for_a_callable_of_40_bytes) {
  options with;
  with.workers = 1;
  runtime rt{with};
  EXPECT_EQ(allocations_in_event(rt,
                                 [] {
                                   for (int n = 0; n < 100; ++n) post(color{1}, of_40_bytes{});
                                 }),
            0u);
  EXPECT_EQ(allocations_in_event(rt, [] { post(color{1}, of_41_bytes{}); }), 1u);
}

TEST(cost, a_post_to_another_color_allocates_nothing_for_a_callable_of_40_bytes) {
  options with;
  with.workers = 1;
  runtime rt{with};
  strand owned{rt};
  EXPECT_EQ(allocations_in_event(rt,
                                 [&owned] {
                                   for (unsigned n = 0; n < 50; ++n) {
                                     post(color{n % 10 + 2}, of_40_bytes{});
                                     owned.post(of_40_bytes{});
                                     post(of_40_bytes{});
                                   }
                                 }),
            0u);
}

TEST(cost, a_post_from_outside_allocates_nothing_for_a_callable_of_40_bytes) {
  options with;
  with.workers = 1;
  runtime rt{with};
  strand owned{rt};
  std::uint64_t count = 0;
  for (int round = 0; round < 2; ++round) {
    const std::uint64_t before = test::allocations();
    for (unsigned n = 0; n < 50; ++n) {
      rt.post(color{n % 10 + 2}, of_40_bytes{});
      owned.post(of_40_bytes{});
    }
    count = test::allocations() - before;
    rt.run_until_idle();
  }
  EXPECT_EQ(count, 0u);
}

TEST(cost, a_strand_without_a_name_allocates_nothing_of_its_own) {
  options with;
  with.workers = 1;
  runtime rt{with};
  EXPECT_EQ(allocations_in_event(rt,
                                 [] {
                                   for (int n = 0; n < 40; ++n) {
                                     strand s;
                                     s.post([] {});
                                   }
                                 }),
            0u);
}

TEST(cost, lines_that_are_always_freed_by_another_thread_allocate_nothing_more) {
  detail::line_pool pool{nullptr};
  detail::line_cache maker;
  detail::line_cache freer;
  const auto flow = [&] {
    for (unsigned n = 0; n < 100'000; ++n) pool.release(freer, pool.allocate(maker));
  };
  flow();
  const std::uint64_t before = test::allocations();
  flow();
  EXPECT_EQ(test::allocations(), before);
}

TEST(cost, a_timer_allocates_nothing_for_a_callable_of_40_bytes) {
  options with;
  with.workers = 1;
  runtime rt{with};
  const auto set_and_cancel = [] {
    for (int n = 0; n < 100; ++n) {
      timer t{color{1}};
      t.set(std::chrono::hours{1}, of_40_bytes{});
      t.cancel();
    }
  };
  EXPECT_EQ(allocations_in_event(rt, set_and_cancel), 0u);
}

TEST_P(costs, a_runtime_that_runs_for_long_allocates_nothing_more) {
  runtime rt{settings()};
  struct chain {
    unsigned left;
    void step(unsigned k) {
      if (--left != 0) post(color{k + left % 3 * 100 + 1}, [this, k] { step(k); });
    }
  };
  const auto run_chains = [&rt](unsigned length) {
    std::vector<chain> chains(16, chain{length});
    for (unsigned k = 0; k < chains.size(); ++k) {
      rt.post(color{k + 1}, [&chains, k] { chains[k].step(k); });
    }
    rt.run_until_idle();
  };
  run_chains(2000);
  const std::uint64_t before = test::allocations();
  run_chains(20'000);
  // Groups of 64 lines may still be carved, and lists of runnable colors grow, while work spreads over the workers.
  EXPECT_LE(test::allocations() - before, 64u);  // of 320 000 events
}

INSTANTIATE_TEST_SUITE_P(workers, costs, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
