#pragma once
/// A lock for a few dozen instructions at most, on slow paths only.

#include <thread>

#include "core/memory.h"

namespace tartan::detail {

/// Meets the standard's Lockable. Spins some 100 looks, then yields: the holder may have been preempted.
class spin_lock {
 public:
  void lock() noexcept {
    for (int looks = 0; !try_lock(); ++looks) {
      if (looks < 100) {
        real_memory::relax();
      } else {
        std::this_thread::yield();
      }
    }
  }
  [[nodiscard]] bool try_lock() noexcept {
    // acquire: pairs with unlock
    return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }  // pairs with try_lock

 private:
  real_memory::atomic<bool> held_{false};
};

}  // namespace tartan::detail
