#pragma once
/// All spawned coroutines of a runtime that have not ended.

#include <cstddef>
#include <memory>

#include "core/root_list.h"

namespace tartan::detail {

class runtime_state;

/// Sharded, because every spawn and every end comes by. Threads: any, unless it says otherwise.
class root_registry {
 public:
  explicit root_registry(runtime_state& rt);

  /// The newcomer is canceled at once if all were.
  void add(root& r) noexcept;
  void remove(root& r) noexcept;

  /// Asks every coroutine to cancel, also those that are spawned later.
  void cancel_all() noexcept;

  /// Destroys every coroutine without resuming it. Gives how many.
  ///
  /// Threads: no worker runs, and nothing is posted any more.
  std::size_t drop_all() noexcept;

  [[nodiscard]] std::size_t size() noexcept;

  /// Calls f with every coroutine, under a lock that spawning takes. Threads: any, while no worker runs.
  template <class F>
  void for_each(F f) {
    for (unsigned n = 0; n < shards_; ++n) shard_[n].roots.for_each(f);
  }

  /// Whether drop_all() has begun: what it destroys need not have ended in order.
  [[nodiscard]] bool dropping() const noexcept { return dropping_; }

 private:
  struct alignas(64) shard {
    shard() noexcept;
    root_list roots;
  };
  static constexpr unsigned most_shards = 64;

  runtime_state& rt_;
  unsigned shards_;
  std::unique_ptr<shard[]> shard_;
  bool dropping_ = false;  ///< written while no worker runs
};

}  // namespace tartan::detail
