#pragma once
// How many events the threads of a contender have posted and run, counted without a word that they share.

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>

namespace bench {

/// Each thread counts in a line of its own. A program has one such object.
class tally {
 public:
  /// Sums over all threads, at one look.
  struct sums {
    std::size_t posted = 0;
    std::size_t ran = 0;
  };

  tally() { current_ = this; }
  tally(const tally&) = delete;
  tally& operator=(const tally&) = delete;
  ~tally() { current_ = nullptr; }

  static void count_posted() { add_one(mine().posted); }
  static void count_ran() { add_one(mine().ran); }

  /// What ran is read first: if both are equal and nobody feeds from outside, nothing was left in between.
  [[nodiscard]] sums look() const {
    const std::lock_guard hold{lock_};
    sums seen;
    for (const line& each : lines_) seen.ran += each.ran.load(std::memory_order_acquire);
    for (const line& each : lines_) seen.posted += each.posted.load(std::memory_order_acquire);
    return seen;
  }

 private:
  struct alignas(64) line {
    std::atomic<std::size_t> posted{0};
    std::atomic<std::size_t> ran{0};
  };

  /// Only its own thread writes; release, so that who sees an event counted as run sees those counted that it posted.
  static void add_one(std::atomic<std::size_t>& count) {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  static line& mine() {
    static thread_local line* own = nullptr;
    if (own == nullptr) {
      const std::lock_guard hold{current_->lock_};
      own = &current_->lines_.emplace_back();
    }
    return *own;
  }

  static inline tally* current_ = nullptr;
  mutable std::mutex lock_;
  std::deque<line> lines_;
};

}  // namespace bench
