#pragma once
/// What the workers' loop needs to know of timers; the module `time` implements it and plugs it in on first use.

#include <cstddef>
#include <cstdint>

namespace tartan::detail {

/// All pending timers of a runtime.
///
/// Threads: any worker.
class clockwork {
 public:
  clockwork() = default;
  clockwork(const clockwork&) = delete;
  clockwork& operator=(const clockwork&) = delete;
  virtual ~clockwork() = default;

  /// The earliest time at which expire() may find something; `never_ns` if no timer is pending. One load.
  [[nodiscard]] virtual std::uint64_t next_ns() const noexcept = 0;

  /// Posts what is due before `now_ns`, oldest deadline first. One thread at a time does it; others return at once.
  virtual bool expire(std::uint64_t now_ns) noexcept = 0;

  /// Timers set and neither fired nor called off.
  [[nodiscard]] virtual std::size_t pending() const noexcept = 0;

  /// After stop: posts every pending timer now, to complete as canceled; later ones complete so at once.
  virtual void stop() noexcept = 0;

  /// No worker runs: forgets every pending timer without firing it. Gives how many had an event that was destroyed.
  virtual std::size_t drop_all() noexcept = 0;
};

}  // namespace tartan::detail
