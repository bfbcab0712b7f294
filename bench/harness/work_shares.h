#pragma once
// How evenly threads share the work: Jain's index.

#include <cstdint>
#include <deque>
#include <mutex>

#include "bench/harness/report.h"

namespace bench {

/// Each thread adds in a line of its own. A program has one such object.
class work_shares {
 public:
  work_shares() { current_ = this; }
  work_shares(const work_shares&) = delete;
  work_shares& operator=(const work_shares&) = delete;
  ~work_shares() { current_ = nullptr; }

  static void add(std::uint64_t work) { mine().work += work; }

  /// 1 if each of so many workers did the same, 1 / workers if one did it all. After all threads have ended what they counted.
  void tell(unsigned workers, report& to) const {
    const std::lock_guard hold{lock_};
    double sum = 0;
    double squares = 0;
    for (const line& each : lines_) {
      const auto work = static_cast<double>(each.work);
      sum += work;
      squares += work * work;
    }
    if (squares > 0) to.add("evenness", sum * sum / squares / workers);
  }

 private:
  struct alignas(64) line {
    std::uint64_t work = 0;
  };

  static line& mine() {
    static thread_local line* own = nullptr;
    if (own == nullptr) {
      const std::lock_guard hold{current_->lock_};
      own = &current_->lines_.emplace_back();
    }
    return *own;
  }

  static inline work_shares* current_ = nullptr;
  mutable std::mutex lock_;
  std::deque<line> lines_;
};

}  // namespace bench
