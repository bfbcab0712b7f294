#pragma once
/// The word that pollers and a descriptor's color share. See docs/design/io.md.

#include <cstdint>
#include <tartan/io/wait.h>

#include "core/memory.h"

namespace tartan::detail {

/// Generation, readiness and who waits, in one word.
///
/// Edges come once, to whichever worker has harvested them; two workers may harvest two edges of one descriptor in either order.
/// So an edge only sets a bit, and at most one readiness event per descriptor is queued (one-event).
template <class Memory>
class readiness {
 public:
  static constexpr std::uint32_t in = 1;
  static constexpr std::uint32_t out = 2;
  static constexpr std::uint32_t hung_up = 4;   ///< the peer has finished sending, or the connection is gone, or it has sent urgent data
  static constexpr std::uint32_t told = 8;      ///< stop or something else that the descriptor's event has to look at
  static constexpr std::uint32_t news = in | out | hung_up | told;

  [[nodiscard]] static constexpr std::uint32_t bit_of(flow way) noexcept { return way == flow::in ? in : out; }

  /// By who harvested an edge, from any thread. True: the caller has to post the descriptor's event. Nothing happens if the
  /// descriptor was closed since (right-generation).
  [[nodiscard]] bool set(std::uint32_t generation, std::uint32_t bits) noexcept {
    std::uint64_t word = word_.load(std::memory_order_acquire);
    for (;;) {
      if (generation_in(word) != generation) return false;
      const bool post = (word & queued) == 0 && is_awaited(word, bits);
      const std::uint64_t next = word | bits | (post ? queued : 0);
      // Written also if it changes nothing (no-edge-lost): who clears the bits then has seen what came with this edge.
      // release: pairs with take and arm; acquire: pairs with reopen
      if (word_.compare_exchange_weak(word, next, std::memory_order_acq_rel, std::memory_order_acquire)) return post;
    }
  }

  /// By the descriptor's event, when it begins. Gives the news.
  [[nodiscard]] std::uint32_t take() noexcept {
    // relaxed, and no loop: but for the bits that are cleared, it is the caller's alone
    const std::uint64_t rest = word_.load(std::memory_order_relaxed) & ~std::uint64_t{news | queued};
    return static_cast<std::uint32_t>(word_.exchange(rest, std::memory_order_acq_rel)) & news;  // pairs with set
  }

  /// By the descriptor's color, before it leaves an operation to wait: from now on an edge posts the event. Gives the news that
  /// came before, and that nobody was told of (no-edge-lost): then the operation is to be tried again.
  [[nodiscard]] std::uint32_t arm(flow way) noexcept {
    const std::uint64_t before = word_.fetch_or(waits_for(bit_of(way)), std::memory_order_acq_rel);  // pairs with set
    const std::uint32_t untold = static_cast<std::uint32_t>(before) & (bit_of(way) | hung_up);
    if (untold != 0) word_.fetch_and(~std::uint64_t{untold}, std::memory_order_acq_rel);
    return untold;
  }

  /// By the descriptor's color: nobody waits any more.
  void disarm(flow way) noexcept { word_.fetch_and(~waits_for(bit_of(way)), std::memory_order_acq_rel); }

  /// By the descriptor's color, when it is closed: edges harvested before mean nothing from now on. True: its event is queued.
  [[nodiscard]] bool reopen() noexcept {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint64_t next = (static_cast<std::uint64_t>(generation_in(word) + 1) << generation_shift) | (word & queued);
      // acq_rel: pairs with set
      if (word_.compare_exchange_weak(word, next, std::memory_order_acq_rel, std::memory_order_relaxed)) return (word & queued) != 0;
    }
  }

  /// Claims the descriptor's event for the caller. False: it is queued already.
  [[nodiscard]] bool claim_event() noexcept { return (word_.fetch_or(queued, std::memory_order_acq_rel) & queued) == 0; }

  [[nodiscard]] std::uint32_t generation() const noexcept { return generation_in(word_.load(std::memory_order_acquire)); }

 private:
  static constexpr std::uint64_t waits_in = 16;
  static constexpr std::uint64_t waits_out = 32;
  static constexpr std::uint64_t queued = 64;
  static constexpr unsigned generation_shift = 32;

  [[nodiscard]] static constexpr std::uint32_t generation_in(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> generation_shift);
  }
  [[nodiscard]] static constexpr bool is_awaited(std::uint64_t word, std::uint32_t bits) noexcept {
    if ((bits & told) != 0) return true;
    const std::uint64_t whom = (bits & hung_up) != 0 ? waits_in | waits_out : waits_for(bits);
    return (word & whom) != 0;
  }
  /// in -> waits_in, out -> waits_out.
  [[nodiscard]] static constexpr std::uint64_t waits_for(std::uint32_t bits) noexcept { return std::uint64_t{bits & (in | out)} << 4; }

  typename Memory::template atomic<std::uint64_t> word_{0, "readiness"};
};

}  // namespace tartan::detail
