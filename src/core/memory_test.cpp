#include "memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

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

// Two threads store to their own word and then look at the other's: with the barriers in between, one of them sees the other.
// Only a light barrier on one side: a processor with store buffers fails this within a few thousand rounds if heavy does nothing.
TEST_P(both_kinds, a_light_and_a_heavy_barrier_never_miss_each_other) {
  constexpr int rounds = 20'000;
  alignas(64) memory::atomic<int> owner_word;
  alignas(64) memory::atomic<int> thief_word;
  alignas(64) memory::atomic<int> thief_round;
  alignas(64) memory::atomic<int> owner_round;
  alignas(64) memory::atomic<int> owner_saw;
  memory::atomic<int> delay;
  int both_missed = 0;
  std::thread owner([&] {
    for (int round = 1; round <= rounds; ++round) {
      while (thief_round.load(std::memory_order_acquire) < round) {  // pairs with the thief's round
        memory::relax();
      }
      owner_word.store(round, std::memory_order_relaxed);
      memory::light_barrier();
      owner_saw.store(thief_word.load(std::memory_order_relaxed), std::memory_order_relaxed);
      owner_round.store(round, std::memory_order_release);  // pairs with the thief's wait
    }
  });
  for (int round = 1; round <= rounds; ++round) {
    thief_round.store(round, std::memory_order_release);  // pairs with the owner's wait
    for (int turn = 0; turn < round % 128; ++turn) {  // the owner hears of the round late: meet it at every distance
      delay.store(turn, std::memory_order_relaxed);
    }
    thief_word.store(round, std::memory_order_relaxed);
    memory::heavy_barrier();
    const int thief_saw = owner_word.load(std::memory_order_relaxed);
    while (owner_round.load(std::memory_order_acquire) < round) {  // pairs with the owner's round
      std::this_thread::yield();
    }
    both_missed += owner_saw.load(std::memory_order_relaxed) < round && thief_saw < round ? 1 : 0;
  }
  owner.join();
  EXPECT_EQ(both_missed, 0);
}

INSTANTIATE_TEST_SUITE_P(memory_wrapper, both_kinds,
                         ::testing::Values(barrier_kind::symmetric, barrier_kind::asymmetric));

}  // namespace
}  // namespace tartan::detail
