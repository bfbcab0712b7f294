#pragma once
/// What a waiting coroutine, whoever completes its operation and whoever cancels it agree on. See docs/design/cancellation.md.

#include <cstdint>

#include "core/memory.h"

namespace tartan::detail {

/// What the caller of a transition owes.
enum class wait_duty : std::uint8_t {
  none,
  resume,     ///< complete, end_cancel: the coroutine is the caller's to resume
  cancel,     ///< cancel: post the chain's event, to withdraw the operation in its color
  suspended,  ///< wait: return to the event loop, touch nothing
  completed,  ///< wait: go on at once, the operation has ended meanwhile
  withdraw,   ///< wait: withdraw the operation here and now, then wait(told) if that failed
};

/// One word of one chain of coroutines.
template <class Memory>
class wait_word {
 public:
  /// By the coroutine, after the operation was begun; the last thing it does before it is suspended.
  [[nodiscard]] wait_duty wait(bool told) noexcept {
    std::uint32_t word = word_.load(std::memory_order_acquire);  // pairs with complete, cancel
    for (;;) {
      if ((word & done) != 0) {
        // acquire: the outcome of the operation, pairs with complete
        if (swap(word, word & ~done)) return wait_duty::completed;
      } else if ((word & requested) != 0 && !told) {
        return wait_duty::withdraw;
      } else if (swap(word, word | waiting)) {  // release: operation, handle and color; pairs with complete, cancel
        return wait_duty::suspended;
      }
    }
  }

  /// The operation has ended. From any thread, once for each wait that was not withdrawn.
  [[nodiscard]] wait_duty complete() noexcept {
    std::uint32_t word = word_.load(std::memory_order_acquire);  // pairs with wait
    for (;;) {
      if ((word & phase) == waiting) {
        if (swap(word, word & ~phase)) return wait_duty::resume;  // acquire: handle and color; pairs with wait
      } else if (swap(word, word | done)) {  // release: the outcome; pairs with wait, end_cancel
        return wait_duty::none;
      }
    }
  }

  /// From any thread, any number of times; only the first one has an effect.
  /// `may_claim` false: if it had to claim the chain's event, it changes nothing, and still gives `cancel`.
  [[nodiscard]] wait_duty cancel(bool may_claim = true) noexcept {
    std::uint32_t word = word_.load(std::memory_order_acquire);  // pairs with wait
    for (;;) {
      if ((word & requested) != 0) return wait_duty::none;
      const bool claims = (word & phase) == waiting;  // one-event: from now on the chain's event is ours
      if (claims && !may_claim) return wait_duty::cancel;
      const std::uint32_t next = (claims ? (word & ~phase) | canceling : word) | requested;
      if (swap(word, next)) return claims ? wait_duty::cancel : wait_duty::none;
    }
  }

  /// In the chain's color, by its event, after the operation was asked to withdraw.
  [[nodiscard]] wait_duty end_cancel(bool withdrawn) noexcept {
    std::uint32_t word = word_.load(std::memory_order_acquire);  // pairs with complete
    for (;;) {
      const bool over = withdrawn || (word & done) != 0;
      const std::uint32_t next = (word & ~(phase | done)) | (over ? 0 : waiting);
      if (swap(word, next)) return over ? wait_duty::resume : wait_duty::none;  // acquire, release: as in complete, wait
    }
  }

  /// Whether the coroutine is suspended in an operation, perhaps one that is just being withdrawn. It may be completed meanwhile.
  [[nodiscard]] bool is_waiting() const noexcept {
    return (word_.load(std::memory_order_acquire) & phase) != 0;  // pairs with wait
  }

  [[nodiscard]] bool cancel_requested() const noexcept {
    return (word_.load(std::memory_order_acquire) & requested) != 0;  // pairs with cancel
  }

 private:
  static constexpr std::uint32_t waiting = 1;    ///< suspended in an operation that can be withdrawn
  static constexpr std::uint32_t canceling = 2;  ///< the chain's event is on its way to withdraw the operation
  static constexpr std::uint32_t phase = 3;      ///< neither: the coroutine runs, or its event is on its way to resume it
  static constexpr std::uint32_t done = 4;       ///< completed before the wait, or while canceling
  static constexpr std::uint32_t requested = 8;  ///< asked to cancel; stays

  bool swap(std::uint32_t& word, std::uint32_t next) noexcept {
    // pairs with itself in the other transitions, as said there
    return word_.compare_exchange_weak(word, next, std::memory_order_acq_rel, std::memory_order_acquire);
  }

  typename Memory::template atomic<std::uint32_t> word_{0, "wait word"};
};

}  // namespace tartan::detail
