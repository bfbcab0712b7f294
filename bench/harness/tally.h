#pragma once
// How many events the threads of a contender have posted and run, counted without a word that they share.

#include <atomic>
#include <cstddef>

#include "bench/harness/per_thread.h"

namespace bench {

/// Each thread counts in a line of its own. A program has one such object.
class tally {
 public:
  /// Sums over all threads, at one look.
  struct sums {
    std::size_t posted = 0;
    std::size_t ran = 0;
  };

  static void count_posted() { add_one(lines::mine().posted); }
  static void count_ran() { add_one(lines::mine().ran); }

  /// What ran is read first: if both are equal and nobody feeds from outside, nothing was left in between.
  [[nodiscard]] sums look() const {
    sums seen;
    lines_.for_each([&](const line& each) { seen.ran += each.ran.load(std::memory_order_acquire); });
    lines_.for_each([&](const line& each) { seen.posted += each.posted.load(std::memory_order_acquire); });
    return seen;
  }

 private:
  struct alignas(64) line {
    std::atomic<std::size_t> posted{0};
    std::atomic<std::size_t> ran{0};
  };
  using lines = per_thread<line, tally>;

  /// Only its own thread writes; release, so that who sees an event counted as run sees those counted that it posted.
  static void add_one(std::atomic<std::size_t>& count) {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  lines lines_;
};

}  // namespace bench
