#pragma once
/// Who destroys what a blocking thread and a coroutine share. See docs/design/cancellation.md.

#include <cstdint>

#include "core/memory.h"

namespace tartan::detail {

/// One word of one abandonable job: the job leaves by its end, its coroutine by giving it up. The one that leaves second destroys the job.
template <class Memory>
class leave_word {
 public:
  /// On the blocking thread, once. True: the coroutine waits, and is to be completed; the job is not touched any more. False: it was
  /// abandoned, and is the caller's to destroy.
  [[nodiscard]] bool end() noexcept { return leave(ended); }

  /// In the coroutine's color, once. True: nobody waits any more. False: it has ended; its outcome, and it, are the caller's.
  [[nodiscard]] bool abandon() noexcept { return leave(abandoned); }

  /// On the blocking thread, before the job begins: acquire, pairs with abandon.
  [[nodiscard]] bool is_abandoned() const noexcept { return word_.load(std::memory_order_acquire) == abandoned; }

 private:
  enum value : std::uint8_t { waited_for, ended, abandoned };

  [[nodiscard]] bool leave(value as) noexcept {
    std::uint8_t expected = waited_for;
    // last-one-destroys. release: what was done with the job; acquire: what the other one did. Pairs with itself
    return word_.compare_exchange_strong(expected, as, std::memory_order_acq_rel, std::memory_order_acquire);
  }

  typename Memory::template atomic<std::uint8_t> word_{waited_for, "leave word"};
};

}  // namespace tartan::detail
