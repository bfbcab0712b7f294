#include "core/memory.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace tartan::detail {
namespace {

using memory = real_memory;

class both_kinds : public ::testing::TestWithParam<barrier_kind> {
 protected:
  void SetUp() override { force_barriers(GetParam()); }
  void TearDown() override { force_barriers(before_); }

 private:
  barrier_kind before_ = choose_barriers();
};

TEST(memory_wrapper, is_as_small_as_what_it_wraps) {
  EXPECT_EQ(sizeof(memory::atomic<std::uint64_t>), sizeof(std::uint64_t));
  EXPECT_EQ(sizeof(memory::plain<void*>), sizeof(void*));
}

TEST(memory_wrapper, passes_every_operation_through) {
  memory::atomic<unsigned> word{5, "word"};
  EXPECT_EQ(word.load(std::memory_order_relaxed), 5u);
  word.store(6, std::memory_order_release);
  EXPECT_EQ(word.exchange(7, std::memory_order_acq_rel), 6u);
  EXPECT_EQ(word.fetch_add(3, std::memory_order_relaxed), 7u);
  EXPECT_EQ(word.fetch_sub(2, std::memory_order_relaxed), 10u);
  EXPECT_EQ(word.fetch_or(1, std::memory_order_relaxed), 8u);
  EXPECT_EQ(word.fetch_and(3, std::memory_order_relaxed), 9u);
  EXPECT_EQ(word.fetch_xor(3, std::memory_order_relaxed), 1u);
  unsigned expected = 9;
  EXPECT_FALSE(word.compare_exchange_strong(expected, 1, std::memory_order_acq_rel, std::memory_order_acquire));
  EXPECT_EQ(expected, 2u);
  EXPECT_TRUE(word.compare_exchange_strong(expected, 1, std::memory_order_acq_rel, std::memory_order_acquire));
  while (!word.compare_exchange_weak(expected = 1, 4, std::memory_order_relaxed, std::memory_order_relaxed)) {
    memory::pause();
  }
  EXPECT_EQ(word.load(std::memory_order_acquire), 4u);
  memory::plain<int> data{1};
  data.set(data.get() + 1);
  data = data + 1;
  EXPECT_EQ(data.get(), 3);
}

TEST(memory_wrapper, chooses_the_kind_of_barriers_once) {
  const barrier_kind first = choose_barriers();
  force_barriers(barrier_kind::symmetric);
  EXPECT_EQ(choose_barriers(), barrier_kind::symmetric) << "a later call must only report";
  EXPECT_EQ(force_barriers(first), first);
}

// Each of two threads stores to its own word and then looks at the other's: with the barriers in between, one of them sees the
// other. Only a light barrier on one side: a processor with store buffers fails this within a few rounds if heavy does nothing.
//
// Neither waits for the other, for on a loaded machine each wait may last for a time slice: the owner goes round as long as the
// thief needs, and notes when it first saw each of the thief's rounds. If the two hardly ever run at once, the thief ends early.
TEST_P(both_kinds, a_light_and_a_heavy_barrier_never_miss_each_other) {
  constexpr std::size_t meetings = 20'000;
  constexpr std::size_t most_misses = 100;
  constexpr int patience = 2'000;
  constexpr std::uint64_t over = ~std::uint64_t{0};
  alignas(64) memory::atomic<std::uint64_t> owner_word;
  alignas(64) memory::atomic<std::uint64_t> thief_word;
  memory::atomic<std::size_t> delay;
  std::vector<std::uint64_t> seen_by_owner{0};  // its first round that saw this round of the thief's
  std::vector<std::uint64_t> seen_by_thief{0};  // the owner's round that this round of the thief's saw
  std::thread owner([&] {
    for (std::uint64_t round = 1;; ++round) {
      owner_word.store(round, std::memory_order_relaxed);
      memory::light_barrier();
      const std::uint64_t now = thief_word.load(std::memory_order_relaxed);
      if (now == over) break;
      while (seen_by_owner.size() <= now) seen_by_owner.push_back(round);
    }
  });
  std::size_t met = 0;
  std::size_t missed = 0;
  while (met < meetings && missed < most_misses) {
    const std::size_t round = seen_by_thief.size();
    for (std::size_t turn = 0; turn < round % 128; ++turn) delay.store(turn, std::memory_order_relaxed);  // at every distance
    thief_word.store(round, std::memory_order_relaxed);
    memory::heavy_barrier();
    const std::uint64_t seen = owner_word.load(std::memory_order_relaxed);
    seen_by_thief.push_back(seen);
    int waited = 0;
    while (waited < patience && owner_word.load(std::memory_order_relaxed) == seen) memory::relax(), ++waited;
    if (waited < patience) {
      ++met;
    } else {
      ++missed;  // the owner does not run
      std::this_thread::yield();
    }
  }
  thief_word.store(over, std::memory_order_relaxed);
  owner.join();
  std::size_t both_missed = 0;
  for (std::size_t round = 1; round < seen_by_owner.size(); ++round) {
    // The owner's next round, which the thief did not see, has to see the thief's.
    both_missed += seen_by_owner[round] > seen_by_thief[round] + 1 ? 1 : 0;
  }
  EXPECT_EQ(both_missed, 0u) << "of " << met << " rounds in which both ran";
}

INSTANTIATE_TEST_SUITE_P(memory_wrapper, both_kinds,
                         ::testing::Values(barrier_kind::symmetric, barrier_kind::asymmetric));

}  // namespace
}  // namespace tartan::detail
