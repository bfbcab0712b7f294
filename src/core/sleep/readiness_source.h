#pragma once
/// Where readiness of descriptors comes from; the module `io` implements it and gives it to the poller on first use.

#include <cstdint>

namespace tartan::detail {

/// One set of descriptors, at which one worker sleeps at a time: whatever becomes ready wakes it.
///
/// Threads: every worker calls it at once, for itself.
class readiness_source {
 public:
  readiness_source() = default;
  readiness_source(const readiness_source&) = delete;
  readiness_source& operator=(const readiness_source&) = delete;
  virtual ~readiness_source() = default;

  /// What ended a wait.
  enum class ended_by : std::uint8_t { time, readiness, call };

  /// Blocks until something is ready, call() was called, or that much time has passed. What is ready is kept for this worker's
  /// deliver() or set_aside(). May give `time` early for no reason.
  [[nodiscard]] virtual ended_by wait(unsigned worker, std::uint64_t at_most_ns) noexcept = 0;

  /// Ends the wait of the worker that waits; if none does, of the next one. Several calls may end only one wait. A look does not take it.
  /// Async-signal-safe.
  virtual void call() noexcept = 0;
  /// Whether a harvest has seen one that has ended no wait yet; and forgets it, by the worker that alone may wait.
  [[nodiscard]] virtual bool saw_call(unsigned /*worker*/) const noexcept { return false; }
  virtual void forget_call() noexcept {}

  /// What one worker alone takes at once, and has to serve before it looks again; several may take more.
  static constexpr int most_alone = 32;

  /// Posts what wait() has kept.
  virtual void deliver(unsigned worker) noexcept = 0;
  /// Or keeps it for the next harvest, whichever worker's. Gives whether there was any.
  virtual bool set_aside(unsigned worker) noexcept = 0;
  /// Whether anything is kept so. Threads: any.
  [[nodiscard]] virtual bool has_aside() const noexcept = 0;

  /// Looks, without waiting, and posts what is ready. Gives whether anything was.
  virtual bool harvest(unsigned worker) noexcept = 0;
  /// Whether that has taken as much as it takes at once: there may be more.
  [[nodiscard]] virtual bool may_have_left(unsigned /*worker*/) const noexcept { return false; }

  /// Readable while something is ready that nobody has taken. Threads: any.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
};

}  // namespace tartan::detail
