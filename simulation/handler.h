#pragma once
// An event of a workload on a simulated core.

#include <cstdint>

#include "simulation/machine.h"

namespace simulation {

/// While there is one, the core runs a handler: what it computes is charged at once, so that besides it only misses cost time.
class handler_scope {
 public:
  explicit handler_scope(picoseconds computes) noexcept;
  handler_scope(const handler_scope&) = delete;
  handler_scope& operator=(const handler_scope&) = delete;
  ~handler_scope();

  /// How many lines it has read so far that were there before it: of all its lines, those of which the first access was a load.
  [[nodiscard]] unsigned lines_read() const noexcept;

 private:
  std::uint64_t color_;
};

/// A handler of that kind has read so many lines. Its kind is the cost that it is told to have.
void note_lines(std::uint64_t kind, unsigned lines) noexcept;
/// What a steal makes of the time of such a handler, if each of these lines comes from another core: time / cost, to the nearest number; 1 if there
/// was none yet.
[[nodiscard]] unsigned penalty_by_lines(std::uint64_t kind) noexcept;

/// Within it, code of the runtime: a handler posts.
class runtime_scope {
 public:
  runtime_scope() noexcept;
  runtime_scope(const runtime_scope&) = delete;
  runtime_scope& operator=(const runtime_scope&) = delete;
  ~runtime_scope();

 private:
  picoseconds before_;
};

[[nodiscard]] std::uint64_t events_checked() noexcept;

}  // namespace simulation
