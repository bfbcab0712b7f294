#pragma once
/// How a coroutine hears that its runtime shuts down. See runtime::shutdown and docs/guide/shutdown.md.

#include <coroutine>
#include <source_location>
#include <tartan/core/branches.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <type_traits>
#include <utility>

namespace tartan {

namespace detail {

[[nodiscard]] bool is_closing(const runtime_state& rt) noexcept;

class shutdown_operation final : public operation {
 public:
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    chain& waiter = self.promise().in();
    if (waiter.cancel_requested()) return waiter.at_once(self);
    begun_ = is_closing(waiter.runtime());
    return begun_ ? waiter.at_once(self) : waiter.wait(self, *this);
  }
  result<> await_resume() const noexcept {
    if (begun_) return {};
    return errc::canceled;
  }

  bool cancel() noexcept override { return true; }
  void shutdown_begins(chain& waiter) noexcept override {
    begun_ = true;
    waiter.complete();
  }
  [[nodiscard]] const char* name() const noexcept override { return "a shutdown"; }

 private:
  bool begun_ = false;
};

/// One branch, which is asked to end when the shutdown begins.
class shutdown_branch : public branches {
 public:
  void shutdown_begins(chain& waiter) noexcept final;
  [[nodiscard]] const char* name() const noexcept final { return "until_shutdown"; }

 protected:
  shutdown_branch() noexcept = default;
  ~shutdown_branch() = default;

  /// Before the branch starts.
  void open(chain& parent) noexcept;
  [[nodiscard]] bool begun() const noexcept { return begun_; }

 private:
  void branch_ended(std::size_t /*index*/) noexcept final {}

  branch branch_;
  bool begun_ = false;
};

template <class T>
class until_shutdown_awaiter final : public shutdown_branch {
 public:
  using value_type = result_of_t<T>;

  explicit until_shutdown_awaiter(task<T>&& limited) noexcept : task_{std::move(limited)} {}

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
      if (begun()) return errc::canceled;
      return {};
    } else if constexpr (std::is_same_v<T, value_type>) {
      return task_.result().take();
    } else {
      value_type given{task_.result().take()};
      if (begun()) return errc::canceled;
      return given;
    }
  }

 private:
  task<T> task_;
};

template <class T>
class [[nodiscard]] until_shutdown_operation {
 public:
  explicit until_shutdown_operation(task<T>&& limited) noexcept : task_{std::move(limited)} {}
  auto operator co_await() && noexcept { return until_shutdown_awaiter<T>{std::move(task_)}; }

 private:
  task<T> task_;
};

}  // namespace detail

/// `co_await shutdown_begun()`: waits until runtime::shutdown() is called. It keeps no run going.
///
/// Errors: errc::canceled if the coroutine is asked to end before, as by stop().
[[nodiscard]] inline detail::shutdown_operation shutdown_begun() noexcept { return {}; }

/// `auto line = co_await until_shutdown(read_line(peer))`: awaits a task, or anything else that can be awaited, and asks it to end when
/// the runtime's shutdown begins: for what an idle connection waits for. Gives one result, as with_timeout does.
///
/// Goes on only when what it awaits has ended. What cannot be cut short takes its time.
/// Color: the awaiter's.
/// Errors: errc::canceled if the shutdown began before the end. A result<T> is given as it is: what was done is not lost. An exception is
/// thrown as it is.
/// Order: during a shutdown it asks what it awaits to end when that waits for the first time.
/// Cost: 256 bytes in the frame, and a frame if it is given no task.
template <class A>
  requires detail::awaitable<std::decay_t<A>>
auto until_shutdown(A&& awaited) {
  return detail::until_shutdown_operation<detail::task_value_t<A>>{detail::as_task(std::forward<A>(awaited))};
}

/// Whether runtime::shutdown() or stop() was called for the runtime of the running event.
///
/// Errors: outside of any event the program ends with a message; there, ask runtime::shutting_down().
[[nodiscard]] inline bool shutting_down(std::source_location site = std::source_location::current()) noexcept {
  return detail::is_closing(detail::required_runtime("tartan::shutting_down", site));
}

}  // namespace tartan
