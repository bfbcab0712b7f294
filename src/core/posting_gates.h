#pragma once
/// Tells when no foreign thread is in the middle of a post. See docs/design/posting-gates.md.
///
/// A post is a push and perhaps a link; between the two its event is in no list that a worker could find. Under a lock a post
/// would cost a read-modify-write more, and others would spin while its holder wakes a worker, which takes 2 to 13 us. Here each
/// thread has a word of its own, which it makes odd and even again by plain stores, and waits for nobody; who ends the runtime
/// pays, with a heavy barrier and a look at each word.
///
/// Posting is only one of the doors by which a foreign thread comes in; spawning, completing a wait, setting a timer pass the same gate.

#include <cstdint>
#include <thread>

#include "core/memory.h"

namespace tartan::detail {

/// One foreign thread's gate at one runtime.
template <class Memory>
class posting_gate {
 public:
  // Threads: the one that it belongs to.

  /// Nests: who spawns also posts.
  void enter() noexcept {
    const std::uint32_t depth = depth_;
    depth_ = depth + 1;
    if (depth != 0) return;
    // release: the posts before, for an await_left that sees the thread inside, and then inside again
    steps_.store(steps_.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // pairs as leave
    Memory::light_barrier();  // seen-or-refused: pairs with the heavy barrier of pass
  }
  /// The outermost is the last touch of anything that belongs to the runtime.
  void leave() noexcept {
    const std::uint32_t depth = depth_ - 1;
    depth_ = depth;
    if (depth != 0) return;
    steps_.store(steps_.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // pairs with await_left
  }

  /// The thread ends. True: the runtime has ended before, and the caller destroys the gate.
  [[nodiscard]] bool vacate() noexcept {
    // one-destroyer. release: what the thread has left here, pairs with claim; acquire: the runtime's last look, pairs with orphan
    return tenure_.exchange(vacant, std::memory_order_acq_rel) == orphaned;
  }
  /// Whether the runtime is still there. Acquire: pairs with orphan, so that after false its thread may destroy the gate.
  [[nodiscard]] bool is_owned() const noexcept { return tenure_.load(std::memory_order_acquire) == owned; }

  // Threads: any.

  /// Becomes the calling thread's, if it was a thread's that has ended.
  [[nodiscard]] bool claim() noexcept {
    std::uint32_t expected = vacant;
    return tenure_.load(std::memory_order_relaxed) == vacant &&
           // acquire: what the last thread has left here; pairs with vacate
           tenure_.compare_exchange_strong(expected, owned, std::memory_order_acquire, std::memory_order_relaxed);
  }

  /// Waits until its thread, if it is inside, has left once. That it has come back does not matter.
  void await_left() const noexcept {
    const std::uint64_t seen = steps_.load(std::memory_order_acquire);  // pairs with leave
    if ((seen & 1) == 0) return;
    // pairs with leave, or with the next enter, which a look may see first
    for (int looks = 0; steps_.load(std::memory_order_acquire) == seen; ++looks) {
      if (looks < 100) {
        Memory::pause();
      } else {
        std::this_thread::yield();  // it was preempted inside
      }
    }
  }

  /// The runtime ends. True: its thread has ended before, and the caller destroys the gate.
  [[nodiscard]] bool orphan() noexcept {
    // one-destroyer. acquire: pairs with vacate; release: pairs with vacate and is_owned
    return tenure_.exchange(orphaned, std::memory_order_acq_rel) == vacant;
  }

 private:
  enum : std::uint32_t { owned, vacant, orphaned };

  /// Its thread's; odd while it is inside. Release by enter and leave; pairs with await_left.
  typename Memory::template atomic<std::uint64_t> steps_{0, "steps"};
  /// Its thread's: how often it has entered and not left.
  typename Memory::template plain<std::uint32_t> depth_{0, "depth"};
  typename Memory::template atomic<std::uint32_t> tenure_{owned, "tenure"};
};

/// All gates of one runtime. `Gate` is a posting_gate with a pointer `next`.
template <class Memory, class Gate>
class posting_gates {
 public:
  /// A gate that a thread has left behind, now the caller's; null if there is none. Threads: any.
  [[nodiscard]] Gate* claim() noexcept {
    for (Gate* g = first_.load(std::memory_order_acquire); g != nullptr; g = g->next) {  // pairs with add
      if (g->claim()) return g;
    }
    return nullptr;
  }

  /// Threads: any, before it enters the gate for the first time.
  void add(Gate& g) noexcept {
    Gate* top = first_.load(std::memory_order_relaxed);
    do {
      g.next = top;
      // release: the gate; pairs with claim and await_left
    } while (!first_.compare_exchange_weak(top, &g, std::memory_order_release, std::memory_order_relaxed));
  }

  /// The gate of threads that have none of their own. Nests. Threads: any.
  void enter_common() noexcept {
    in_common_.fetch_add(1, std::memory_order_relaxed);
    Memory::light_barrier();  // seen-or-refused: as enter
  }
  void leave_common() noexcept { in_common_.fetch_sub(1, std::memory_order_release); }  // pairs with await_left

  /// Returns when every post has arrived that did not see what the caller has stored before, be it a flag that refuses posts.
  /// Threads: one that is in none of the gates.
  void pass() const noexcept {
    Memory::heavy_barrier();  // seen-or-refused: pairs with the light barrier of enter
    await_left();
  }
  /// The same for a caller that has just passed a heavy barrier, and for posts that have returned before it.
  void await_left() const noexcept {
    for (Gate* g = first_.load(std::memory_order_acquire); g != nullptr; g = g->next) g->await_left();  // pairs with add
    // A stream of them could hold this up, but those who come here have no memory left, or end. pairs with leave_common
    for (int looks = 0; in_common_.load(std::memory_order_acquire) != 0; ++looks) {
      if (looks < 100) {
        Memory::pause();
      } else {
        std::this_thread::yield();
      }
    }
  }

  /// The runtime ends: calls destroy(gate) with those that nobody has; the others are their threads'. Threads: after the last post.
  template <class F>
  void end(F destroy) noexcept {
    for (Gate* g = first_.load(std::memory_order_acquire); g != nullptr;) {  // pairs with add
      Gate* const next = g->next;
      if (g->orphan()) destroy(*g);
      g = next;
    }
  }

 private:
  typename Memory::template atomic<Gate*> first_{nullptr, "first gate"};
  typename Memory::template atomic<std::uint32_t> in_common_{0, "in common"};
};

}  // namespace tartan::detail
