#pragma once
/// Where everybody but the owner posts to a color queue: one word. See docs/design/color-queue.md.

#include <cstdint>

#include "core/memory.h"

namespace tartan::detail {

/// What a push into an inbox did.
enum class pushed : std::uint8_t {
  refused,    ///< another generation: the color queue that was meant is gone
  delivered,  ///< the color queue is linked already, or the push only delivered
  owes_link,  ///< the caller must put the color queue into its owner's incoming chain now
};

/// A last-in-first-out list of events that is taken whole, flags LINKED and CLOSING and a generation, in one word.
///
/// Grabbing all has no ABA problem; pushing compares the whole word, and an event in the list cannot be freed meanwhile.
template <class Memory, class Node>
class inbox {
 public:
  static constexpr unsigned generation_bits = 18;
  static constexpr std::uint64_t last_generation = (std::uint64_t{1} << generation_bits) - 1;

  /// Puts a chain of events, newest first, on top. Threads: any, while the color queue cannot be retired.
  [[nodiscard]] pushed push(Node& newest, Node& oldest) noexcept {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      oldest.next = top(word);
      if (try_push(word, newest)) return owes(word);
    }
  }

  /// The same for a color queue that may be gone: `generation` says which one was meant.
  [[nodiscard]] pushed push_if(std::uint64_t generation, Node& newest, Node& oldest) noexcept {
    // acquire: a refused post goes elsewhere, and happens after what the last generation did; pairs with retire
    std::uint64_t word = word_.load(std::memory_order_acquire);
    for (;;) {
      if (generation_of(word) != generation) return pushed::refused;
      oldest.next = top(word);
      if (try_push(word, newest)) return owes(word);
    }
  }

  /// The strand's handle is gone: asks for the owner's attention without an event. Threads: as push; the last of them.
  [[nodiscard]] pushed close() noexcept {
    // last-touch: CLOSING comes with LINKED, in one step, so that nobody retires what this thread may have to link
    // release: what was done before is for who retires; acquire side: the right to write linked_next, pairs with unlink
    return owes(word_.fetch_or(linked | closing, std::memory_order_acq_rel));
  }

  /// Sets LINKED without an event. Threads: who holds the owner's lock, while the color queue is queued.
  [[nodiscard]] pushed claim_link() noexcept {
    // acquire: the right to write linked_next, pairs with unlink
    constexpr std::uint64_t bit = linked;
    return owes(word_.fetch_or(bit, std::memory_order_acq_rel));
  }

  /// One look at the word.
  struct view {
    std::uint64_t word;
    [[nodiscard]] bool has_events() const noexcept { return top(word) != nullptr; }
    [[nodiscard]] bool is_linked() const noexcept { return (word & linked) != 0; }
    [[nodiscard]] bool is_closing() const noexcept { return (word & closing) != 0; }
    /// Neither an event nor a link that somebody still has to deal with.
    [[nodiscard]] bool untouched() const noexcept { return (word & ~(generation_mask | closing)) == 0; }
  };
  /// Acquire: pairs with push, so that a local append comes after all that happened before an event that is not seen here;
  /// and with unlink, so that who sees no link may free.
  [[nodiscard]] view look() const noexcept { return {word_.load(std::memory_order_acquire)}; }

  /// The event that was posted last, or null. Threads: the runner, or who holds the owner's lock; others may change it meanwhile.
  [[nodiscard]] Node* newest() const noexcept { return top(look().word); }

  /// Whether no event is here.
  [[nodiscard]] bool empty() const noexcept { return !look().has_events(); }

  /// Takes all events, newest first; LINKED stays as it is. Threads: the runner, or who holds the owner's lock.
  [[nodiscard]] Node* drain() noexcept {
    // acq_rel: acquire pairs with push; release hands the word on to the next push
    return top(word_.fetch_and(generation_mask | closing | linked, std::memory_order_acq_rel));
  }

  /// Clears LINKED. Threads: who took the chain that the color queue was in, holding its owner's lock.
  void unlink() noexcept {
    // linked-once: the release side gives linked_next to the next push that owes a link
    word_.fetch_and(~linked, std::memory_order_acq_rel);
  }

  /// Ends this generation, if nothing is here and nobody owes a link. After true, the color queue is not to be touched.
  [[nodiscard]] bool retire() noexcept {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    if (!view{word}.untouched()) return false;
    const std::uint64_t next = (word & generation_mask) + generation_one;
    // acquire: pairs with unlink and push; release: pairs with the refusal in push_if
    return word_.compare_exchange_strong(word, next, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t generation() const noexcept {
    return generation_of(word_.load(std::memory_order_relaxed));
  }

 private:
  static constexpr std::uint64_t linked = 1;
  static constexpr std::uint64_t closing = 2;
  static constexpr std::uint64_t flags = linked | closing;
  static constexpr unsigned generation_shift = 64 - generation_bits;
  static constexpr std::uint64_t generation_one = std::uint64_t{1} << generation_shift;
  static constexpr std::uint64_t generation_mask = ~(generation_one - 1);

  static Node* top(std::uint64_t word) noexcept {
    return reinterpret_cast<Node*>(static_cast<std::uintptr_t>(((word & ~(generation_mask | flags)) >> 2) << 4));
  }
  static std::uint64_t generation_of(std::uint64_t word) noexcept { return word >> generation_shift; }
  static pushed owes(std::uint64_t before) noexcept {
    return (before & linked) != 0 ? pushed::delivered : pushed::owes_link;
  }

  bool try_push(std::uint64_t& word, Node& newest) noexcept {
    const std::uint64_t pointer = (reinterpret_cast<std::uintptr_t>(&newest) >> 4) << 2;
    const std::uint64_t desired = (word & (generation_mask | closing)) | pointer | linked;
    // release: the event's contents, pairs with drain; acquire: the right to write linked_next, pairs with unlink
    return word_.compare_exchange_weak(word, desired, std::memory_order_acq_rel, std::memory_order_acquire);
  }

  typename Memory::template atomic<std::uint64_t> word_{0, "inbox"};
};

}  // namespace tartan::detail
