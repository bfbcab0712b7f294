#pragma once
/// A time limit for anything that can be awaited.

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <tartan/core/branches.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/time/deadline.h>
#include <tartan/time/timer_node.h>
#include <type_traits>
#include <utility>

namespace tartan {

namespace detail {

/// One branch and one timer; ends when the branch has ended and the timer's event is out of the way.
class timed_branch : public branches {
 public:
  [[nodiscard]] const char* name() const noexcept final { return "with_timeout"; }

 protected:
  timed_branch(std::uint64_t ns, bool from_now) noexcept : ns_{ns}, from_now_{from_now} {}
  ~timed_branch() = default;

  /// Before the branch starts.
  void open(chain& parent) noexcept;
  [[nodiscard]] bool time_is_up() const noexcept { return time_is_up_; }

 private:
  struct events;
  void branch_ended(std::size_t index) noexcept final;

  timer_node node_;
  branch branch_;
  std::uint64_t ns_;
  bool from_now_;
  bool time_is_up_ = false;
  bool ended_ = false;
};

template <class T>
class timeout_awaiter final : public timed_branch {
 public:
  using value_type = result_of_t<T>;

  timeout_awaiter(std::uint64_t ns, bool from_now, task<T>&& limited) noexcept
      : timed_branch{ns, from_now}, task_{std::move(limited)} {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    open(self.promise().in());
    start(0, task_);
    return started(self);
  }
  value_type await_resume() {
    if constexpr (std::is_void_v<T>) {
      task_.result().take();
      if (time_is_up()) return errc::timed_out;
      return {};
    } else if constexpr (std::is_same_v<T, value_type>) {
      T given = task_.result().take();
      if (time_is_up() && !given && given.error() == errc::canceled) return errc::timed_out;
      return given;
    } else {
      value_type given{task_.result().take()};
      if (time_is_up()) return errc::timed_out;
      return given;
    }
  }

 private:
  task<T> task_;
};

template <class T>
class [[nodiscard]] timeout_operation {
 public:
  timeout_operation(std::uint64_t ns, bool from_now, task<T>&& limited) noexcept
      : task_{std::move(limited)}, ns_{ns}, from_now_{from_now} {}
  auto operator co_await() && noexcept { return timeout_awaiter<T>{ns_, from_now_, std::move(task_)}; }

 private:
  task<T> task_;
  std::uint64_t ns_;
  bool from_now_;
};

}  // namespace detail

/// `auto r = co_await with_timeout(2s, f(x))`: awaits a task, or anything else that can be awaited, and asks it to end when the time is
/// up. Gives one result: a task<result<T>> and a task<T> both give result<T>.
///
/// Goes on only when what it awaits has ended: nothing is left running behind it. `blocking(f)` and `in(c, f)` cannot be cut short, so
/// with_timeout around them takes as long as f does. abandonable_blocking(f) leaves an f behind that owns all that it uses.
/// Color: the awaiter's.
/// Errors: errc::timed_out if the time was up before the end. A result<T> that holds a value, or another error than canceled, is given
/// as it is even then: what was done is not lost. An exception is thrown as it is.
/// Order: no time at all asks it to end when it waits for the first time.
/// Cost: 384 bytes in the frame, and a frame if it is given no task.
template <class Rep, class Period, class A>
  requires detail::awaitable<std::decay_t<A>>
auto with_timeout(std::chrono::duration<Rep, Period> limit, A&& awaited) {
  return detail::timeout_operation<detail::task_value_t<A>>{detail::saturated_ns(limit), true, detail::as_task(std::forward<A>(awaited))};
}

/// The same until a point of the runtime's clock (runtime::now).
template <class Duration, class A>
  requires detail::awaitable<std::decay_t<A>>
auto with_deadline(std::chrono::time_point<std::chrono::steady_clock, Duration> at, A&& awaited) {
  return detail::timeout_operation<detail::task_value_t<A>>{detail::saturated_ns(at), false, detail::as_task(std::forward<A>(awaited))};
}

}  // namespace tartan
