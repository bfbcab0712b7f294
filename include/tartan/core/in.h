#pragma once
/// Running a function in another color, and coming back.

#include <coroutine>
#include <tartan/core/awaited_callable.h>
#include <tartan/core/color.h>
#include <tartan/core/on.h>
#include <tartan/core/outcome.h>
#include <tartan/core/task.h>
#include <type_traits>
#include <utility>

namespace tartan {

namespace detail {

template <class F>
class in_operation final : public operation {
 public:
  using value_type = std::invoke_result_t<F>;

  template <class G>
  in_operation(color there, G&& f) : there_{there}, f_{std::forward<G>(f)} {}
  in_operation(in_operation&& before_it_waits) noexcept(std::is_nothrow_move_constructible_v<F>)
      : there_{before_it_waits.there_}, f_{std::move(before_it_waits.f_)} {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    chain& caller = self.promise().in();
    if (there_ == caller.where() && take_inline()) {
      visit();
      return false;
    }
    caller.visit(self, there_, *this);
    return true;
  }
  value_type await_resume() { return result_.take(); }

  void visit() noexcept override {
    fill_outcome(result_, [this]() -> value_type { return std::move(f_)(); });
  }

 private:
  color there_;
  F f_;
  outcome<value_type> result_;
};

template <class F>
concept makes_value = std::is_invocable_v<std::decay_t<F>> && !makes_task<std::decay_t<F>>;

template <class F>
auto in_task(color c, F f) -> std::invoke_result_t<F> {
  co_await on(c);
  co_return co_await std::move(f)();
}

}  // namespace detail

/// `co_await in(c, f)`: calls f in another color and gives its result, or throws its exception, here.
///
/// Color: f is called in `c`; it and its result are destroyed in this one. color::unordered: anywhere, in parallel with all.
/// Lifetime: what f refers to needs to live only until the co_await ends, so capture by reference. Cannot be cut short.
/// Errors: gcc before 13 refuses a temporary that captures by value what has a destructor, for it would destroy that twice.
/// Order: f runs as if posted to `c`; if that is the coroutine's own color, at once.
/// Cost: two posts, no allocation.
template <class F>
  requires detail::makes_value<F>
[[nodiscard]] auto in(color c, F&& f) {
  detail::check_awaited_callable<F>();
  return detail::in_operation<std::decay_t<F>>{c, std::forward<F>(f)};
}

/// The same for an f that gives a task: calls it and runs the coroutine there.
template <class F>
  requires detail::makes_task<std::decay_t<F>>
[[nodiscard]] auto in(color c, F&& f) -> std::invoke_result_t<std::decay_t<F>> {
  detail::check_awaited_callable<F>();
  return detail::in_task(c, std::decay_t<F>(std::forward<F>(f)));
}

}  // namespace tartan
