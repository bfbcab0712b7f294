// How far an exploration goes, and what came of it.
#pragma once

#include <cstdint>
#include <string>

namespace tartan::model {

/// The bounds of one exploration; the defaults explore everything.
struct options {
  std::string name{};  // printed, and what TARTAN_MODEL_REPLAY selects by
  bool print = true;   // the line of figures
  std::uint64_t max_executions = 2'000'000;
  unsigned max_steps = 2'000;       // of one execution; a loop that never ends is a fault
  int preemption_bound = -1;        // switches away from a thread that could go on; -1: any number
  unsigned spurious_failures = 0;   // of compare_exchange_weak, per execution
  bool symmetric_barriers = false;  // as where the kernel refuses membarrier: light and heavy are both full fences
  bool reorder_stores = true;       // a store may enter the modification order before stores that ran earlier
  bool merge_states = true;  // go on only once from each state; needs all shared data of the test to be known here
};

/// What an exploration found.
struct result {
  bool passed = false;
  bool complete = false;              // every execution within the bounds was covered
  bool preemption_bound_hit = false;  // and the preemption bound left some out
  std::uint64_t executions = 0;
  std::uint64_t states = 0;
  std::string failure{};  // one line; empty if passed
  std::string report{};   // the failure, every step that led to it, and how to replay it

  /// Passed, and nothing within the bounds was left out.
  [[nodiscard]] bool proved() const { return passed && complete; }
};

}  // namespace tartan::model
