#pragma once
/// How setting timers and expiring them agree without meeting. See docs/design/timers.md.

#include <cstdint>
#include <thread>

#include "core/memory.h"

namespace tartan::detail {

/// The lock of one wheel, and the time at which that wheel has to be looked at next.
template <class Memory>
class wheel_gate {
 public:
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  /// Meets the standard's BasicLockable. Cost: one read-modify-write, on a line of the owner's unless somebody expires or
  /// cancels from elsewhere.
  void lock() noexcept {
    // seq_cst: nothing-overtaken, first half of the setter. acquire: pairs with unlock
    while (held_.exchange(1, std::memory_order_seq_cst) != 0) wait();
  }
  void unlock() noexcept { held_.store(0, std::memory_order_release); }  // pairs with lock and quiet

  /// Nobody is inside, and nothing that was set before the caller's open() is due at the cut.
  [[nodiscard]] bool quiet(std::uint64_t cut_ns) const noexcept {
    // seq_cst: nothing-overtaken, second half of the pass. acquire: pairs with unlock, so that `next` is what the last holder left
    return held_.load(std::memory_order_seq_cst) == 0 && next_.load(std::memory_order_seq_cst) > cut_ns;
  }

  /// Inside: makes the wheel's time no later than this. Gives whether it was later.
  [[nodiscard]] bool lower(std::uint64_t fire_ns) noexcept {
    if (next_.load(std::memory_order_relaxed) <= fire_ns) return false;
    // seq_cst: nothing-forgotten, first half of the setter. A read-modify-write, since a store could wait in a store buffer
    (void)next_.exchange(fire_ns, std::memory_order_seq_cst);
    return true;
  }

  /// Inside, by the pass only: the wheel's time after it was looked through.
  void settle(std::uint64_t next_ns) noexcept { next_.store(next_ns, std::memory_order_release); }  // pairs with next

  // seq_cst: nothing-forgotten, second half of the pass. acquire: pairs with settle
  [[nodiscard]] std::uint64_t next() const noexcept { return next_.load(std::memory_order_seq_cst); }

 private:
  // The holder may have been preempted: then spinning is in its way.
  void wait() noexcept {
    for (int looks = 0; held_.load(std::memory_order_relaxed) != 0; ++looks) {
      Memory::pause();
      if (looks >= 100) std::this_thread::yield();
    }
  }

  typename Memory::template atomic<std::uint32_t> held_{0, "held"};
  typename Memory::template atomic<std::uint64_t> next_{never, "next"};
};

/// What all wheels have in common: how far time has been worked off, and when the next timer may be due.
template <class Memory>
class horizon {
 public:
  static constexpr std::uint64_t never = wheel_gate<Memory>::never;

  /// When a pass may find something. Cost: one load.
  [[nodiscard]] std::uint64_t earliest() const noexcept {
    return earliest_.load(std::memory_order_acquire);  // pairs with lower and settle
  }

  /// For a setter inside its gate: no deadline may lie before this.
  [[nodiscard]] std::uint64_t passed() const noexcept {
    return passed_.load(std::memory_order_seq_cst);  // nothing-overtaken, second half of the setter
  }

  /// For a setter inside its gate, if that gate's time was lowered: makes the earliest time no later than this.
  void lower(std::uint64_t fire_ns) noexcept {
    std::uint64_t seen = earliest_.load(std::memory_order_seq_cst);  // nothing-forgotten, second half of the setter
    while (seen > fire_ns &&
           !earliest_.compare_exchange_weak(seen, fire_ns, std::memory_order_seq_cst, std::memory_order_seq_cst)) {
    }
  }

  // The rest is for the pass, one at a time.

  /// Work off up to `cut_ns`. Gives false if a pass has been there.
  [[nodiscard]] bool open(std::uint64_t cut_ns) noexcept {
    if (passed_.load(std::memory_order_relaxed) >= cut_ns) return false;
    passed_.store(cut_ns, std::memory_order_seq_cst);  // nothing-overtaken, first half of the pass
    return true;
  }

  /// Makes the earliest time that of the gates. Gives the time if a setter was missed at first, so that somebody may have read
  /// one that is too late; else never.
  template <class Gates>
  [[nodiscard]] std::uint64_t settle(const Gates& gates) noexcept {
    earliest_.store(least(gates), std::memory_order_seq_cst);  // nothing-forgotten, first half of the pass
    const std::uint64_t again = least(gates);
    if (again >= earliest_.load(std::memory_order_relaxed)) return never;
    lower(again);
    return again;
  }

 private:
  template <class Gates>
  [[nodiscard]] static std::uint64_t least(const Gates& gates) noexcept {
    std::uint64_t found = never;
    for (const auto& each : gates) {
      const std::uint64_t next = each.gate.next();
      if (next < found) found = next;
    }
    return found;
  }

  typename Memory::template atomic<std::uint64_t> earliest_{never, "earliest"};
  typename Memory::template atomic<std::uint64_t> passed_{0, "passed"};
};

}  // namespace tartan::detail
