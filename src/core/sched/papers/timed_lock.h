#pragma once
/// A spin lock that can tell what time threads have spent with it.

#include <cstdint>

#include "core/clock.h"
#include "core/spin_lock.h"
#include "core/worker.h"

namespace tartan::detail {

/// Meets the standard's BasicLockable. Cost: a branch, unless it counts; then three clock reads, some 100 ns, which are in what it tells.
class timed_lock {
 public:
  /// Threads: before anybody uses it.
  void count_time() noexcept { counts_ = true; }

  void lock() noexcept {
    if (!counts_) [[likely]] return inner_.lock();
    const std::uint64_t asked_ns = real_now_ns();
    inner_.lock();
    since_ns_ = real_now_ns();
    waited_ns_.add(since_ns_ - asked_ns);
  }
  void unlock() noexcept {
    if (counts_) [[unlikely]] held_ns_.add(real_now_ns() - since_ns_);
    inner_.unlock();
  }

  /// By all threads together, until they had it, and while they had it.
  [[nodiscard]] std::uint64_t waited_ns() const noexcept { return waited_ns_.get(); }
  [[nodiscard]] std::uint64_t held_ns() const noexcept { return held_ns_.get(); }

 private:
  spin_lock inner_;
  bool counts_ = false;
  std::uint64_t since_ns_ = 0;  ///< guarded by the lock itself, as the counters are
  counter waited_ns_;
  counter held_ns_;
};

}  // namespace tartan::detail
