#pragma once
/// Who wants to know how a spawned coroutine ended. See docs/design/cancellation.md.

#include <cstdint>

#include "core/memory.h"

namespace tartan::detail {

/// How a coroutine's end met its handle.
enum class end_met : std::uint8_t {
  handle,    ///< the handle is there and may still ask
  nobody,    ///< detached: an exception has to be reported now
  a_joiner,  ///< to be completed
};

/// One word per spawned coroutine; Waiter is who waits for it.
template <class Memory, class Waiter>
class join_word {
 public:
  struct met {
    end_met what;
    Waiter* joiner;
  };

  /// By the coroutine's last step, after its outcome was kept.
  [[nodiscard]] met end() noexcept {
    std::uintptr_t word = word_.load(std::memory_order_acquire);  // pairs with join
    for (;;) {
      const std::uintptr_t next = word == detached ? detached : word == unasked ? ended : taken;
      if (!swap(word, next)) continue;  // release: the outcome; pairs with join, drop
      if (word == detached) return {end_met::nobody, nullptr};
      if (word == unasked) return {end_met::handle, nullptr};
      return {end_met::a_joiner, reinterpret_cast<Waiter*>(word)};
    }
  }

  enum class join_result : std::uint8_t { waits, has_ended, twice };

  [[nodiscard]] join_result join(Waiter& joiner) noexcept {
    std::uintptr_t word = word_.load(std::memory_order_acquire);  // pairs with end
    for (;;) {
      if (word != unasked && word != ended) return join_result::twice;
      const std::uintptr_t next = word == ended ? taken : reinterpret_cast<std::uintptr_t>(&joiner);
      // acquire: the outcome, pairs with end; release: the joiner, pairs with end
      if (swap(word, next)) return word == ended ? join_result::has_ended : join_result::waits;
    }
  }

  /// By the handle's end. True: the outcome was never asked for, and is the caller's.
  [[nodiscard]] bool drop() noexcept {
    std::uintptr_t word = word_.load(std::memory_order_acquire);  // pairs with end
    for (;;) {
      if (word != unasked && word != ended) return false;
      if (swap(word, detached)) return word == ended;  // acquire: the outcome; pairs with end
    }
  }

 private:
  static constexpr std::uintptr_t unasked = 0;   ///< runs; its handle is there
  static constexpr std::uintptr_t ended = 1;     ///< has ended; its handle is there
  static constexpr std::uintptr_t detached = 2;  ///< its handle is gone
  static constexpr std::uintptr_t taken = 3;     ///< has ended; joined. Others: runs; the joiner's address

  bool swap(std::uintptr_t& word, std::uintptr_t next) noexcept {
    // pairs with itself in the other transitions, as said there
    return word_.compare_exchange_weak(word, next, std::memory_order_acq_rel, std::memory_order_acquire);
  }

  typename Memory::template atomic<std::uintptr_t> word_{unasked, "join word"};
};

}  // namespace tartan::detail
