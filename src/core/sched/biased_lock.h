#pragma once
/// A lock that costs its one owner no read-modify-write; thieves pay for it. See docs/design/biased-lock.md.
///
/// A plain spin lock costs the owner 6 to 12 ns for each hop between colors, all its life, so that a thief may come every now
/// and then. Here the owner writes a flag and looks at the thief's. Either it sees it and answers; or a heavy barrier on the thief's side
/// makes sure that one of both sees the other. That is a system call, which stops the owner as well.

#include <cstdint>
#include <thread>

#include "core/memory.h"
#include "core/tuning.h"

namespace tartan::detail {

/// How a thief fared at the lock.
enum class thief_entry : std::uint8_t {
  refused,       ///< another thief is there, or the owner stays inside for long
  answered,      ///< it is inside: the owner has noticed it, and was not stopped
  past_barrier,  ///< it is inside
};

/// `Patience` is how often a thief looks whether the owner has left, `AnswerPatience` how often it looks whether the owner
/// answers. `FirstTicket` is odd; tests begin near the end.
template <class Memory, int Patience = lock_patience_looks, int AnswerPatience = lock_answer_patience_looks,
          std::uint32_t FirstTicket = 1>
class biased_lock {
 public:
  /// Threads: the owner only; never while it holds any biased lock as a thief.
  void enter() noexcept {
    if (!try_enter()) [[unlikely]] enter_behind_thief();
  }

  /// The same, without waiting. Gives false if a thief is there.
  [[nodiscard]] bool try_enter() noexcept {
    inside_.store(in, std::memory_order_relaxed);
    Memory::light_barrier();  // apart: pairs with the thief's heavy barrier
    const std::uint32_t thief = thief_.load(std::memory_order_acquire);  // pairs with leave_as_thief
    if (!is_held(thief)) [[likely]] return true;
    inside_.store(thief, std::memory_order_release);  // answered: pairs with the thief's acquire load
    return false;
  }

  /// Threads: the owner only.
  void leave() noexcept {
    inside_.store(out, std::memory_order_release);  // pairs with the thief's acquire load in try_enter_as_thief
  }

  /// By the owner, who stays away for longer than usual: lets a thief in that asks. Threads: the owner only, outside.
  void answer() noexcept {
    const std::uint32_t asking = thief_.load(std::memory_order_relaxed);    // what a thief did is seen past the next try_enter
    if (is_held(asking)) inside_.store(asking, std::memory_order_release);  // answered: pairs with the thief's acquire load
  }

  /// `may_answer`: the owner is about and enters often, a hint. Then it is left to notice the thief, for a while. Threads: any but the owner.
  [[nodiscard]] thief_entry try_enter_as_thief(bool may_answer) noexcept {
    std::uint32_t before = thief_.load(std::memory_order_relaxed);
    const std::uint32_t ticket = before + 1;
    if (is_held(before) || waiting_.load(std::memory_order_relaxed) ||
        // acquire: pairs with the last thief's release in leave_as_thief
        !thief_.compare_exchange_strong(before, ticket, std::memory_order_acquire, std::memory_order_relaxed)) {
      return thief_entry::refused;
    }
    for (int looks = 0; may_answer && looks < AnswerPatience; ++looks) {
      if (inside_.load(std::memory_order_acquire) == ticket) return thief_entry::answered;  // pairs with try_enter
      Memory::relax();
    }
    Memory::heavy_barrier();  // apart: pairs with the owner's light barrier in try_enter
    for (int looks = 0; looks < Patience; ++looks) {
      if (inside_.load(std::memory_order_acquire) != in) return thief_entry::past_barrier;  // pairs with leave
      Memory::relax();
    }
    leave_as_thief();  // thief-gives-up
    return thief_entry::refused;
  }

  void leave_as_thief() noexcept {
    const std::uint32_t ticket = thief_.load(std::memory_order_relaxed);
    thief_.store(ticket + 1, std::memory_order_release);  // pairs with the owner's acquire load in try_enter
  }

 private:
  friend struct biased_lock_probe;

  // Of thief_: even while none is there; each makes it odd, a ticket that none of the 2^31 - 1 before had.
  [[nodiscard]] static constexpr bool is_held(std::uint32_t thief) noexcept { return (thief & 1) != 0; }
  // Of inside_, even; else it is the ticket of a thief that the owner has seen.
  static constexpr std::uint32_t out = 0;
  static constexpr std::uint32_t in = 2;
  static_assert(!is_held(out) && !is_held(in) && is_held(FirstTicket));

  [[gnu::cold, gnu::noinline]] void enter_behind_thief() noexcept {
    waiting_.store(true, std::memory_order_relaxed);  // thieves let it pass: else 15 of them could keep it out in turns
    do wait_for_thief();
    while (!try_enter());
    waiting_.store(false, std::memory_order_relaxed);
  }

  void wait_for_thief() noexcept {
    for (int looks = 0; is_held(thief_.load(std::memory_order_relaxed)); ++looks) {
      if (looks < 100) {
        Memory::pause();
      } else {
        std::this_thread::yield();  // the thief was preempted inside
      }
    }
  }

  typename Memory::template atomic<std::uint32_t> inside_{out, "inside"};
  typename Memory::template atomic<std::uint32_t> thief_{FirstTicket - 1, "thief"};
  typename Memory::template atomic<bool> waiting_{false, "waiting"};
};

/// What tests see, of a lock that no thief enters or leaves meanwhile.
struct biased_lock_probe {
  template <class Lock>
  [[nodiscard]] static bool is_in_the_way(const Lock& of) noexcept {
    return has_thief(of) && of.waiting_.load(std::memory_order_relaxed);
  }
  template <class Lock>
  [[nodiscard]] static bool has_thief(const Lock& of) noexcept {
    return Lock::is_held(of.thief_.load(std::memory_order_relaxed));
  }
  template <class Lock>
  [[nodiscard]] static bool has_answered(const Lock& of) noexcept {
    return has_thief(of) && of.inside_.load(std::memory_order_relaxed) == of.thief_.load(std::memory_order_relaxed);
  }
};

}  // namespace tartan::detail
