// The memory model said a second time, as axioms: which outcomes a small straight-line program may have. Slow and for at most
// a dozen instructions; it is the oracle for the explorer's own way of making outcomes.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <vector>

namespace tartan::model {

/// One instruction of a straight-line program; every store and exchange writes a value of its own.
struct instruction {
  enum class kind : std::uint8_t { load, store, exchange, full_barrier, heavy_barrier };
  kind what;
  unsigned location;
  std::memory_order order;
  int value;  // written; unique and not 0, the initial value
};

/// A list of instructions for each thread.
using straight_program = std::vector<std::vector<instruction>>;

/// What each load and exchange read, thread by thread, and then the last value of each location.
using outcome_values = std::vector<int>;

/// Every outcome that C++20 allows ([intro.races], [atomics.order]) among those in which no load takes effect after a later
/// instruction of its own thread: program order, reads-from and the order of the sequentially consistent operations have no
/// cycle together. The standard does not know heavy barriers, so the program may not have one.
std::set<outcome_values> allowed_outcomes(const straight_program& program, unsigned locations);

}  // namespace tartan::model
