#pragma once
/// Where readiness of descriptors comes from; the module `io` implements it and gives it to the poller on first use.

#include <cstdint>

namespace tartan::detail {

/// One set of descriptors in which all idle workers sleep together: whatever becomes ready wakes one of them.
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

  /// Ends the wait of one worker, whichever; if none waits, of the next that does. Several calls may end only one wait.
  /// Async-signal-safe.
  virtual void call() noexcept = 0;

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
  /// Whether that has taken a call(), so that nobody's wait ends by it; forgets it.
  [[nodiscard]] virtual bool took_call(unsigned worker) noexcept = 0;

  /// Readable while something is ready that nobody has taken. Threads: any.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
};

}  // namespace tartan::detail
