#pragma once
/// Which run a runtime is in, and who ends it. See docs/design/sleeping.md.
///
/// A run may be ended by a stop on any thread, by any worker that finds nothing left, and by worker 0 itself. A decision takes time; by
/// then the run may be over, and the next one begun, which it was not about: so each decision names the run that it was made in.

#include <cstdint>

namespace tartan::detail {

/// The number of the run, and whether it is over.
template <class Memory>
class run_word {
 public:
  static constexpr std::uint64_t finished = 1;

  /// The run there is now, for end(): its number << 1, and `finished` if it is over.
  [[nodiscard]] std::uint64_t now() const noexcept { return word_.load(std::memory_order_acquire); }
  [[nodiscard]] bool is_over() const noexcept { return (now() & finished) != 0; }

  /// Begins the next run; it is over at once if the runtime is stopping and no drain has begun. Threads: who has entered the runtime.
  template <class Stopping>
  void begin(const Stopping& stopping) noexcept {
    // release: what the run is for, drain included; pairs with now()
    word_.store((word_.load(std::memory_order_relaxed) | finished) + 1, std::memory_order_release);
    Memory::full_barrier();  // stop-or-seen: pairs with the one in stop()
    if (stopping() && !draining_.load(std::memory_order_relaxed)) end();
  }

  /// From now on no stop ends a run. Threads: who has entered the runtime, between two runs.
  void begin_drain() noexcept { draining_.store(true, std::memory_order_relaxed); }

  /// It could not be run; another may be begun. Threads: as begin_drain().
  void give_up_drain() noexcept { draining_.store(false, std::memory_order_relaxed); }

  /// Ends the run that the caller is worker 0 of. In a child of fork, on its only thread, any.
  void end() noexcept { word_.fetch_or(finished, std::memory_order_acq_rel); }

  /// own-run: ends that run, unless it is over; otherwise shows which one there is. Gives whether that run is over and no other begun.
  [[nodiscard]] bool end(std::uint64_t& this_run) noexcept {
    // acq_rel: what was found to be done; pairs with now(); acquire: the run that has begun
    return word_.compare_exchange_strong(this_run, this_run | finished, std::memory_order_acq_rel, std::memory_order_acquire);
  }

  /// Stops: sets what `stopping` above reads, by `begin_stop`. Gives whether worker 0 is to be woken. Async-signal-safe.
  template <class BeginStop>
  [[nodiscard]] bool stop(const BeginStop& begin_stop) noexcept {
    begin_stop();
    Memory::full_barrier();  // stop-or-seen: pairs with the one in begin(): a run that is not seen here sees that it is to stop
    // drain-goes-on: first which run there is, then whether it is a drain's. The other way round, a drain that begins in between is ended.
    std::uint64_t this_run = now();
    if (draining_.load(std::memory_order_relaxed)) return false;
    (void)end(this_run);
    return true;
  }

 private:
  /// Release by who changes it; pairs with now().
  typename Memory::template atomic<std::uint64_t> word_{finished, "run"};
  /// Relaxed: ordered by word_, which is stored after it and read before it.
  typename Memory::template atomic<bool> draining_{false, "draining"};
};

}  // namespace tartan::detail
