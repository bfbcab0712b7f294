#pragma once
/// What sleeping has to know of work: the scheduler implements it.

#include <cstddef>
#include <cstdint>

#include "core/worker.h"

namespace tartan::detail {

/// What a worker sees when it looks at all sources before it sleeps.
enum class work_seen : std::uint8_t {
  none,
  declined,  ///< something small on a busy worker, that may still be left behind: sleep with a time limit
  found,
};

/// The work of one runtime, as far as it ends a sleep.
///
/// Threads: w's own, if a worker is named; else any.
class work_view {
 public:
  work_view() = default;
  work_view(const work_view&) = delete;
  work_view& operator=(const work_view&) = delete;
  virtual ~work_view() = default;

  /// The look before sleeping, after a barrier. Posts nothing (alone-awake).
  [[nodiscard]] virtual work_seen sources(const worker& w) noexcept = 0;
  /// A watcher's look, asleep, when its time is up. Posts nothing; found: it gets up, and searches.
  [[nodiscard]] virtual work_seen watch_others(const worker& w) noexcept = 0;
  /// How long a watcher sleeps before that; each further time twice as long.
  [[nodiscard]] virtual std::uint64_t first_watch_ns() const noexcept = 0;
  /// The last searcher has found work: is there more, for another worker?
  virtual void cover(worker& w) noexcept = 0;
  /// Takes what waits at workers that sleep, and that this one has left there.
  virtual void take_over(worker& w) noexcept = 0;
  /// Whether polling::shared is ever asked for.
  [[nodiscard]] virtual bool shares_polling() const noexcept = 0;
  /// Runnable colors held by a worker, roughly; and whether another one may take any.
  [[nodiscard]] virtual std::size_t waiting(unsigned worker_index) const noexcept = 0;
  [[nodiscard]] virtual bool has_loot(unsigned worker_index) const noexcept = 0;
};

}  // namespace tartan::detail
