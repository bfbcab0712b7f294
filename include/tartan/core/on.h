#pragma once
/// Moving a coroutine to another color.

#include <coroutine>
#include <tartan/core/color.h>
#include <tartan/core/task.h>

namespace tartan {

namespace detail {

class on_operation {
 public:
  explicit on_operation(color to) noexcept : to_{to} {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) const noexcept {
    chain& mover = self.promise().in();
    if (to_ == mover.where() && take_inline()) return false;
    mover.move(self, to_);
    return true;
  }
  void await_resume() const noexcept {}

 private:
  color to_;
};

}  // namespace detail

/// `co_await on(c)`: this coroutine goes on in another color, until it ends or moves again; who awaits it is resumed in its own.
///
/// color::unordered stands for a color that nobody else has: in parallel with everything.
/// Lifetime: mind locals that belong to a color: they are destroyed where the coroutine ends.
/// Order: as a post to the color. Cannot be canceled.
/// Cost: one post; nothing if it is there already.
[[nodiscard]] inline detail::on_operation on(color to) noexcept { return detail::on_operation{to}; }

}  // namespace tartan
