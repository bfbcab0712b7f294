#pragma once
/// A worker's chain of color queues that were posted to from outside. See docs/design/color-queue.md.

#include <cstddef>
#include <cstdint>

#include "core/memory.h"

namespace tartan::detail {

/// A last-in-first-out chain through `linked_next`, taken whole and handed out one by one, so that a lock is not held for long.
///
/// Its words count what hangs on them: a worker that is stuck takes nothing, and a report of it has to say how many wait (contract 15). A
/// counter of its own would cost each push a read-modify-write; here the push's own brings the count along.
template <class Memory, class Queue>
class incoming {
 public:
  /// Threads: who owes the link of every color queue from `newest` to `oldest`, `count` of them.
  void push(Queue& newest, Queue& oldest, std::size_t count) noexcept {
    std::uint64_t word = top_.load(std::memory_order_relaxed);
    std::uint64_t desired = 0;
    do {
      oldest.linked_next = first_of(word);
      desired = (word & ~address_mask) + count * one + address_of(&newest);
      // release: linked_next; pairs with take
    } while (!top_.compare_exchange_weak(word, desired, std::memory_order_release, std::memory_order_relaxed));
  }

  /// One color queue of the chain, or null; between colors there is no order. Threads: who holds this worker's biased lock.
  [[nodiscard]] Queue* take() noexcept {
    std::uint64_t word = rest_.load(std::memory_order_relaxed);
    if (word == 0) {
      if (top_.load(std::memory_order_relaxed) == 0) return nullptr;
      word = top_.exchange(0, std::memory_order_acq_rel);  // acquire: pairs with push
      if (word == 0) return nullptr;
    }
    Queue* const taken = first_of(word);
    rest_.store((word & ~address_mask) - one + address_of(taken->linked_next), std::memory_order_relaxed);
    return taken;
  }

  /// A hint; exact for who looks after a barrier, as the idle set's page tells.
  [[nodiscard]] bool empty() const noexcept {
    return top_.load(std::memory_order_relaxed) == 0 && rest_.load(std::memory_order_relaxed) == 0;
  }

  /// How many there are. Threads: any; a hint. Limits: modulo 2^22 in each word.
  [[nodiscard]] std::size_t size() const noexcept {
    return (top_.load(std::memory_order_relaxed) >> address_bits) + (rest_.load(std::memory_order_relaxed) >> address_bits);
  }

 private:
  // A word: count (22) | address >> 6 (42). Counts may wrap around: what is taken off is what was added, so that no chain is no word.
  static constexpr unsigned address_bits = 42;
  static constexpr unsigned alignment_bits = 6;
  static constexpr std::uint64_t one = std::uint64_t{1} << address_bits;
  static constexpr std::uint64_t address_mask = one - 1;

  static std::uint64_t address_of(const Queue* queue) noexcept {
    static_assert(alignof(Queue) >= std::size_t{1} << alignment_bits);
    return reinterpret_cast<std::uintptr_t>(queue) >> alignment_bits;
  }
  static Queue* first_of(std::uint64_t word) noexcept {
    return reinterpret_cast<Queue*>(static_cast<std::uintptr_t>((word & address_mask) << alignment_bits));
  }

  typename Memory::template atomic<std::uint64_t> top_{0, "incoming"};
  typename Memory::template atomic<std::uint64_t> rest_{0, "incoming rest"};  ///< written under the biased lock
};

}  // namespace tartan::detail
