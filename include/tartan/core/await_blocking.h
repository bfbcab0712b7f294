#pragma once
/// Work that blocks, off the workers; the form for coroutines. The callback form is in blocking.h.

#include <coroutine>
#include <exception>
#include <source_location>
#include <tartan/core/awaited_callable.h>
#include <tartan/core/blocking.h>
#include <tartan/core/outcome.h>
#include <tartan/core/task.h>
#include <type_traits>
#include <utility>

namespace tartan {

namespace detail {

/// Hands a job to the pool, behind all that wait there. Gives what the system throws if not even one thread can be started.
[[nodiscard]] std::exception_ptr start_blocking_in_line(runtime_state& rt, blocking_job& job) noexcept;

template <class F>
class blocking_operation final : public blocking_job {
 public:
  using value_type = std::invoke_result_t<F>;

  template <class G>
  blocking_operation(std::source_location at, G&& f) : f_{std::forward<G>(f)} {
    site = at;
    run = &run_off_workers;
  }
  blocking_operation(blocking_operation&& before_it_waits) noexcept(std::is_nothrow_move_constructible_v<F>)
      : blocking_job{before_it_waits}, f_{std::move(before_it_waits.f_)} {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    caller_ = &self.promise().in();
    where = caller_->where();
    caller_->suspend(self, suspension::blocking_job);
    std::exception_ptr refused = start_blocking_in_line(caller_->runtime(), *this);
    if (!refused) return true;
    result_.fail(std::move(refused));
    return caller_->at_once(self);
  }
  value_type await_resume() {
    caller_->resumed();
    return result_.take();
  }

 private:
  static void run_off_workers(blocking_job& job) noexcept {
    auto& self = static_cast<blocking_operation&>(job);
    fill_outcome(self.result_, [&self]() -> value_type { return std::move(self.f_)(); });
    self.caller_->resume();
  }

  F f_;
  chain* caller_ = nullptr;
  outcome<value_type> result_;
};

}  // namespace detail

/// `co_await blocking(f)`: calls f off the workers, where it may block, and gives its result, or throws its exception, here.
///
/// It cannot be cut short: `with_timeout(1s, blocking(f))` goes on when f has returned, even if that takes an hour. Where f owns all that it
/// uses, `with_timeout(1s, abandonable_blocking(f))` of abandonable_blocking.h goes on after the second.
/// Color: f runs in no color, on a blocking thread; it and its result are destroyed in the coroutine's.
/// Lifetime: what f refers to needs to live only until the co_await ends, so capture by reference. f can look at a stop_token.
/// Errors: std::system_error if not even one thread can be started. Runs also after stop(). gcc before 13 refuses a temporary that captures
/// by value what has a destructor, for it would destroy that twice.
/// Limits: options.blocking_threads at a time; when all are busy the coroutine waits, in order, bounded by memory only.
/// Cost: two hops between threads, no allocation.
template <class F>
  requires std::is_invocable_v<std::decay_t<F>>
[[nodiscard]] auto blocking(F&& f, std::source_location site = std::source_location::current()) {
  detail::check_awaited_callable<F>();
  detail::refuse_task<std::decay_t<F>>();
  return detail::blocking_operation<std::decay_t<F>>{site, std::forward<F>(f)};
}

}  // namespace tartan
