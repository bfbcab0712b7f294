#pragma once
/// Tells when no foreign thread is in the middle of a post.

#include <cstdint>
#include <mutex>

#include "core/spin_lock.h"
#include "core/thread_mark.h"

namespace tartan::detail {

/// A foreign thread posts within a gate. Workers need none: they are known to be asleep when it matters.
///
/// A post is a push and perhaps a link; between the two its event is in no list that a worker could find. Whoever concludes that
/// nothing is left, or destroys what is left, passes through all gates first.
class posting_gates {
 public:
  /// The gate of the calling thread: one of a few, by hash. Cost: one read-modify-write.
  [[nodiscard]] spin_lock& mine() noexcept { return gates_[thread_mark() % count].lock; }

  /// Returns when every post that had entered its gate before is done. Threads: outside of gates.
  void pass() noexcept {
    for (gate& each : gates_) const std::lock_guard through{each.lock};
  }

 private:
  static constexpr unsigned count = 16;
  struct alignas(64) gate {
    spin_lock lock;
  };
  gate gates_[count];
};

}  // namespace tartan::detail
