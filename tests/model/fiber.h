// A stack of its own that runs until it hands over to another: the threads of a model test are fibers of one OS thread, so
// that the explorer alone decides who runs next.
#pragma once

#include <cstddef>
#include <memory>

namespace tartan::model {

/// One stack with the point where it goes on.
class fiber {
 public:
  using entry = void (*)(void* argument);

  /// The stack that is already running: the explorer's own.
  fiber();
  /// A stack of `stack_bytes` that runs nothing until start().
  explicit fiber(std::size_t stack_bytes);
  ~fiber();
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// The next switch here calls `run`, which must never return. What ran here before is forgotten, not unwound.
  void start(entry run, void* argument);

  /// Goes on at `to`; returns when somebody switches back to `from`, the fiber that calls.
  static void switch_to(fiber& from, fiber& to);

 private:
  struct state;
  friend struct fiber_start;
  std::unique_ptr<state> state_;
};

}  // namespace tartan::model
