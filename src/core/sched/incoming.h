#pragma once
/// A worker's chain of color queues that were posted to from outside. See docs/design/color-queue.md.

#include "core/memory.h"

namespace tartan::detail {

/// A last-in-first-out chain through `linked_next`, taken whole and handed out one by one, so that a lock is not held for long.
template <class Memory, class Queue>
class incoming {
 public:
  /// Threads: who owes the link of every color queue from `newest` to `oldest`.
  void push(Queue& newest, Queue& oldest) noexcept {
    Queue* top = top_.load(std::memory_order_relaxed);
    do {
      oldest.linked_next = top;
      // release: linked_next; pairs with take
    } while (!top_.compare_exchange_weak(top, &newest, std::memory_order_release, std::memory_order_relaxed));
  }

  /// One color queue of the chain, or null; between colors there is no order. Threads: who holds this worker's biased lock.
  [[nodiscard]] Queue* take() noexcept {
    Queue* next = rest_.load(std::memory_order_relaxed);
    if (next == nullptr) {
      if (top_.load(std::memory_order_relaxed) == nullptr) return nullptr;
      next = top_.exchange(nullptr, std::memory_order_acq_rel);  // acquire: pairs with push
      if (next == nullptr) return nullptr;
    }
    rest_.store(next->linked_next, std::memory_order_relaxed);
    return next;
  }

  /// A hint; exact for who looks after a barrier, as the idle set's page tells.
  [[nodiscard]] bool empty() const noexcept {
    return top_.load(std::memory_order_relaxed) == nullptr && rest_.load(std::memory_order_relaxed) == nullptr;
  }

 private:
  typename Memory::template atomic<Queue*> top_{nullptr, "incoming"};
  typename Memory::template atomic<Queue*> rest_{nullptr, "incoming rest"};  ///< written under the biased lock
};

}  // namespace tartan::detail
