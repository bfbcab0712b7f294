#pragma once
/// A lock that costs its one owner no read-modify-write; thieves pay for it. See docs/design/biased-lock.md.
///
/// A plain spin lock costs the owner 6 to 12 ns for each hop between colors, all its life, so that a thief may come every now
/// and then. Here the owner writes a flag, looks at the thief's flag, and a heavy barrier on the thief's side makes sure that one
/// of both sees the other.

#include <cstdint>
#include <thread>

#include "core/memory.h"

namespace tartan::detail {

/// `Patience` is how often a thief looks whether the owner has left.
template <class Memory, int Patience = 64>
class biased_lock {
 public:
  /// Threads: the owner only; never while it holds any biased lock as a thief.
  void enter() noexcept {
    if (!try_enter()) [[unlikely]] enter_behind_thief();
  }

  /// The same, without waiting. Gives false if a thief is there.
  [[nodiscard]] bool try_enter() noexcept {
    inside_.store(1, std::memory_order_relaxed);
    Memory::light_barrier();  // apart: pairs with the thief's heavy barrier
    if (thief_.load(std::memory_order_acquire) == 0) [[likely]] {  // pairs with leave_as_thief
      return true;
    }
    inside_.store(0, std::memory_order_release);
    return false;
  }

  /// Threads: the owner only.
  void leave() noexcept {
    inside_.store(0, std::memory_order_release);  // pairs with the thief's acquire load in try_enter_as_thief
  }

  /// Gives false if another thief is there or the owner stays inside for long. Threads: any but the owner.
  [[nodiscard]] bool try_enter_as_thief() noexcept {
    std::uint32_t free = 0;
    if (thief_.load(std::memory_order_relaxed) != 0 || waiting_.load(std::memory_order_relaxed) ||
        // acquire: pairs with the last thief's release in leave_as_thief
        !thief_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      return false;
    }
    Memory::heavy_barrier();  // apart: pairs with the owner's light barrier in try_enter
    for (int looks = 0; looks < Patience; ++looks) {
      if (inside_.load(std::memory_order_acquire) == 0) return true;  // pairs with leave
      Memory::relax();
    }
    leave_as_thief();  // thief-gives-up
    return false;
  }

  void leave_as_thief() noexcept {
    thief_.store(0, std::memory_order_release);  // pairs with the owner's acquire load in try_enter
  }

 private:
  [[gnu::cold, gnu::noinline]] void enter_behind_thief() noexcept {
    waiting_.store(true, std::memory_order_relaxed);  // thieves let it pass: else 15 of them could keep it out in turns
    do wait_for_thief();
    while (!try_enter());
    waiting_.store(false, std::memory_order_relaxed);
  }

  void wait_for_thief() noexcept {
    for (int looks = 0; thief_.load(std::memory_order_relaxed) != 0; ++looks) {
      if (looks < 100) {
        Memory::pause();
      } else {
        std::this_thread::yield();  // the thief was preempted inside
      }
    }
  }

  typename Memory::template atomic<std::uint32_t> inside_{0, "inside"};
  typename Memory::template atomic<std::uint32_t> thief_{0, "thief"};
  typename Memory::template atomic<bool> waiting_{false, "waiting"};
};

}  // namespace tartan::detail
