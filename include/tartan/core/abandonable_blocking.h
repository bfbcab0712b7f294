#pragma once
/// Work that blocks and that nobody has to wait for to its end.

#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <source_location>
#include <tartan/core/await_blocking.h>
#include <tartan/core/awaited_callable.h>
#include <tartan/core/blocking.h>
#include <tartan/core/outcome.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <type_traits>
#include <utility>

namespace tartan {

namespace detail {

/// A job on the heap that a coroutine waits for, until one of both leaves: the job by its end, the coroutine by abandoning it. The one
/// that leaves second destroys the job.
class abandonable_job : public blocking_job {
 public:
  abandonable_job(const abandonable_job&) = delete;
  abandonable_job& operator=(const abandonable_job&) = delete;
  virtual ~abandonable_job() = default;

  /// By the coroutine, before the job is handed in.
  void begin(chain& waiter) noexcept;
  /// By the coroutine, once. True: the job destroys itself. False: it has ended and is the caller's to destroy.
  [[nodiscard]] bool abandon() noexcept;

 protected:
  explicit abandonable_job(std::source_location at) noexcept;

 private:
  static void run_off_workers(blocking_job& job) noexcept;
  static void drop_job(blocking_job& job) noexcept;
  virtual void call() noexcept = 0;

  chain* waiter_ = nullptr;
  std::byte word_[1];  ///< a leave_word
};

template <class F>
class abandonable_call final : public abandonable_job {
 public:
  using value = std::invoke_result_t<F>;

  template <class G>
  abandonable_call(std::source_location at, G&& f) : abandonable_job{at}, f_{std::forward<G>(f)} {}

  [[nodiscard]] outcome<value>& result() noexcept { return result_; }

 private:
  void call() noexcept override {
    fill_outcome(result_, [this]() -> value { return std::move(f_)(); });
  }

  F f_;
  outcome<value> result_;
};

template <class F>
class [[nodiscard]] abandonable_operation final : public operation {
 public:
  using value_type = blocking_result_t<F>;

  explicit abandonable_operation(std::unique_ptr<abandonable_call<F>> job) noexcept : job_{std::move(job)} {}
  abandonable_operation(abandonable_operation&& before_it_waits) noexcept : job_{std::move(before_it_waits.job_)} {}
  abandonable_operation& operator=(abandonable_operation&&) = delete;
  ~abandonable_operation() {
    if (handed_in_) leave();
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    chain& waiter = self.promise().in();
    if (waiter.cancel_requested()) return waiter.at_once(self);
    job_->begin(waiter);
    refused_ = start_blocking_in_line(waiter.runtime(), *job_);
    handed_in_ = !refused_;
    return handed_in_ ? waiter.wait(self, *this) : waiter.at_once(self);
  }
  value_type await_resume() {
    if (refused_) std::rethrow_exception(std::move(refused_));
    if (!handed_in_) return errc::canceled;
    if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
      job_->result().take();
      return {};
    } else {
      return job_->result().take();
    }
  }

  bool cancel() noexcept override { return leave(); }
  [[nodiscard]] const char* name() const noexcept override { return "a blocking job"; }

 private:
  /// Gives the job up. False: it has ended, and stays.
  bool leave() noexcept {
    if (!job_->abandon()) return false;
    static_cast<void>(job_.release());
    handed_in_ = false;
    return true;
  }

  std::unique_ptr<abandonable_call<F>> job_;
  std::exception_ptr refused_;
  bool handed_in_ = false;  ///< and not abandoned
};

template <class F>
inline constexpr bool is_reference = false;
template <class F>
inline constexpr bool is_reference<std::reference_wrapper<F>> = true;

}  // namespace detail

/// `auto r = co_await with_timeout(1s, abandonable_blocking(f))`: as `blocking(f)`, but asked to end it ends at once, and the job goes on
/// without it. Gives a result: f's value, or errc::canceled.
///
/// f must own all that it uses: nothing that it refers to has to outlive the co_await, and the compiler cannot see a reference that a
/// lambda has captured. Capture by value or by move, never by `&` or `this`.
/// Color: f and its result are destroyed in the coroutine's color; of an abandoned job, on its blocking thread, in no color.
/// Lifetime: an abandoned job that has not begun is not begun. One that runs keeps its thread until it ends, and counts as a blocking job:
/// runs and drains wait for it within their time.
/// Errors: errc::canceled if the coroutine is asked to end first; after a time limit, errc::timed_out by with_timeout. What f throws is
/// thrown here, or dropped if nobody waits. Else as blocking(f). std::bad_alloc.
/// Limits: as blocking(f): abandoned jobs that hang use up options.blocking_threads.
/// Cost: as blocking(f), and one allocation.
template <class F>
  requires std::is_invocable_v<std::decay_t<F>>
[[nodiscard]] auto abandonable_blocking(F&& f, std::source_location site = std::source_location::current()) {
  detail::check_awaited_owner<F>();
  detail::refuse_task<std::decay_t<F>>();
  static_assert(!detail::is_reference<std::decay_t<F>>, "an abandoned job goes on behind the co_await: it must own its function, so no std::ref");
  using call = detail::abandonable_call<std::decay_t<F>>;
  return detail::abandonable_operation<std::decay_t<F>>{std::make_unique<call>(site, std::forward<F>(f))};
}

}  // namespace tartan
