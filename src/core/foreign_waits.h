#pragma once
/// Coroutines of a runtime that wait for what is not this library's.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <tartan/core/foreign_wait.h>

namespace tartan::detail {

class runtime_state;

/// All such waits that are under way. A thread that the runtime does not know will resume each of them, so a drain has
/// to wait for them.
///
/// Threads: any, unless it says otherwise.
/// Cost: a mutex for each begin and each end.
class foreign_waits {
 public:
  explicit foreign_waits(runtime_state& rt) noexcept : rt_{rt} {}

  /// Counts as an operation from now on. Threads: a worker, in an event.
  void add(foreign_wait& pending) noexcept;
  /// It did not suspend. Threads: as add.
  void withdraw(foreign_wait& declined) noexcept;
  /// Takes its coroutine to its color. The wait may be gone when this returns.
  void resume(foreign_wait& ended) noexcept;

  /// Waits until there are none. Ends the program with a report at the deadline. Threads: no worker runs.
  void await_all(std::chrono::steady_clock::time_point deadline) noexcept;

 private:
  void remove(foreign_wait& one) noexcept;
  [[noreturn]] void report() noexcept;

  runtime_state& rt_;
  std::mutex lock_;  ///< guards all below
  std::condition_variable none_left_;
  foreign_wait* first_ = nullptr;
};

}  // namespace tartan::detail
