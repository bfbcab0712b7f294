#pragma once
/// A promise of more work.

#include <tartan/core/runtime.h>
#include <utility>

namespace tartan {

namespace detail {

/// Counts one guard more.
void open_guard(runtime_state& rt) noexcept;
/// Counts one less. Threads: any. The runtime may be gone when this returns.
void close_guard(runtime_state& rt) noexcept;

}  // namespace detail

/// While one exists, runtime::run_until_idle does not return: `work_guard guard{rt}`, for a thread that will post
/// later.
///
/// A shutdown waits for it too, within its time. run() waits for stop() anyway, and run_for() for its time.
/// After stop() a guard counts for nothing: run_until_idle returns, and a drain does not wait for it, because posts from
/// other threads are refused by then.
/// Color: none. Threads: any; made before the run that it is to keep going, or in one of its events.
/// Lifetime: must not outlive its runtime: that ends the program with a message.
/// Order: what its thread did before the guard's end is visible to the caller of run_until_idle.
/// Cost: one read-modify-write each to make and to end it; the last one wakes a worker.
class [[nodiscard]] work_guard {
 public:
  explicit work_guard(runtime& rt) noexcept : guarded_{&rt.state()} { detail::open_guard(*guarded_); }
  work_guard(work_guard&& other) noexcept : guarded_{std::exchange(other.guarded_, nullptr)} {}
  work_guard& operator=(work_guard&& other) noexcept {
    if (this != &other) {
      reset();
      guarded_ = std::exchange(other.guarded_, nullptr);
    }
    return *this;
  }
  ~work_guard() { reset(); }

  /// Lets go of the runtime now; nothing if it was done before, or the guard was moved from.
  void reset() noexcept {
    if (guarded_ != nullptr) detail::close_guard(*std::exchange(guarded_, nullptr));
  }

  /// Whether it still keeps a runtime from becoming idle.
  [[nodiscard]] explicit operator bool() const noexcept { return guarded_ != nullptr; }

 private:
  detail::runtime_state* guarded_;
};

}  // namespace tartan
