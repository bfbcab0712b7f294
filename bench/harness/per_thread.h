#pragma once
// Lines that each thread has one of, so that counting shares no word.

#include <deque>
#include <mutex>

namespace bench {

/// A line for each thread that asks. A program has one object of each `Owner`'s.
template <class Line, class Owner>
class per_thread {
 public:
  per_thread() { current_ = this; }
  per_thread(const per_thread&) = delete;
  per_thread& operator=(const per_thread&) = delete;
  ~per_thread() { current_ = nullptr; }

  static Line& mine() {
    static thread_local Line* own = nullptr;
    if (own == nullptr) {
      const std::lock_guard hold{current_->lock_};
      own = &current_->lines_.emplace_back();
    }
    return *own;
  }

  /// Calls `f` with the line of each thread.
  template <class F>
  void for_each(F f) const {
    const std::lock_guard hold{lock_};
    for (const Line& each : lines_) f(each);
  }

 private:
  static inline per_thread* current_ = nullptr;
  mutable std::mutex lock_;
  std::deque<Line> lines_;
};

}  // namespace bench
