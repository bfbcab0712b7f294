#pragma once
/// Letting others go first.

#include <coroutine>
#include <tartan/core/task.h>

namespace tartan {

namespace detail {

class yield_operation {
 public:
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  void await_suspend(std::coroutine_handle<Promise> self) const noexcept {
    self.promise().in().to_back(self);
  }
  void await_resume() const noexcept {}
};

}  // namespace detail

/// `co_await yield()`: to the back of the coroutine's color, behind everything that was posted to it. Cannot be canceled.
[[nodiscard]] inline detail::yield_operation yield() noexcept { return {}; }

}  // namespace tartan
