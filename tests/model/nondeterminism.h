// What the memory of a model test asks of the explorer.
#pragma once

#include <string>

namespace tartan::model {

/// Where choices are made and where faults are told.
class nondeterminism {
 public:
  /// One of `count` alternatives, each of which some execution takes; 0 is taken first.
  virtual unsigned choose(unsigned count) = 0;
  /// Ends this execution and the exploration with it.
  /// Lifetime: the caller's stack is abandoned, not unwound; what it owns on the heap leaks, so the text comes by value.
  [[noreturn]] virtual void fail(std::string what) = 0;

 protected:
  ~nondeterminism() = default;
};

}  // namespace tartan::model
