#pragma once
// The program's thread-local variables: each core has its own.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simulation {

/// All cores are on one thread, whose variables are exchanged when another core goes on: the program finds them at the same addresses. Those
/// of libraries stay.
class thread_locals {
 public:
  thread_locals();

  /// As a new thread finds them.
  void reset() noexcept;

  /// From and to the thread. Cost: some hundred bytes copied.
  void save() noexcept;
  void restore() const noexcept;

 private:
  std::vector<std::byte> values_;
};

}  // namespace simulation
