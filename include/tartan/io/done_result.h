#pragma once
/// A result that is there at once, and may be awaited like one that takes time. Library code.

#include <coroutine>
#include <tartan/core/result.h>
#include <tartan/core/task.h>

namespace tartan::detail {

/// What an operation gives that never waits, where another kind of stream has to.
class [[nodiscard]] done_result : public result<> {
 public:
  using result<>::result;
  done_result(result<> from) noexcept : result<>{from} {}

  [[nodiscard]] bool await_ready() const noexcept { return true; }
  template <colored_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> /*self*/) const noexcept {
    return false;
  }
  result<> await_resume() const noexcept { return *this; }
};

}  // namespace tartan::detail
