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

 private:
  std::uint64_t color_;
};

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
