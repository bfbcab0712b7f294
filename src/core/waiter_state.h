#pragma once
/// Who ends the wait of a coroutine in a line. See docs/design/posting-gates.md, the doors, and docs/design/cancellation.md.

#include <cstdint>

#include "core/memory.h"

namespace tartan::detail {

/// One word of one waiter: who sets it first ends the wait, the others touch neither the line nor what it lies in.
template <class Memory>
class waiter_state {
 public:
  enum value : std::uint8_t {
    waits,
    going,  ///< let go by who still touches the waiter, for a moment, under the line's lock
    ended,
  };

  /// Ends the wait, or lets the waiter go, which has then to become `ended`. Threads: any, while the waiter is there.
  [[nodiscard]] bool claim(std::uint8_t to) noexcept {
    std::uint8_t expected = waits;
    // acquire: its place in the line, pairs with the chain's wait; the line's lock does the rest
    return word_.compare_exchange_strong(expected, to, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  /// By who let it go: last-touch.
  void end() noexcept { word_.store(ended, std::memory_order_release); }  // pairs with has_ended

  /// By the waiter's destructor. Acquire: after the last touch of who has let it go, pairs with end.
  [[nodiscard]] bool has_ended() const noexcept { return word_.load(std::memory_order_acquire) == ended; }

 private:
  typename Memory::template atomic<std::uint8_t> word_{waits, "waiter state"};
};

}  // namespace tartan::detail
