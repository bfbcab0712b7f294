#pragma once
/// Whether, and when, a coroutine is asked to end.

#include <coroutine>
#include <tartan/core/task.h>

namespace tartan {

namespace detail {
class get_stop_token_operation;
}

/// Says whether the coroutine that it comes from was asked to end: by its handle, a time limit, a group, or runtime::stop().
///
/// Threads: any; made to be carried into blocking(f) and into long loops.
/// Lifetime: that coroutine's, and what it awaits.
class stop_token {
 public:
  /// Never changes back.
  [[nodiscard]] bool stop_requested() const noexcept { return chain_->cancel_requested(); }

 private:
  friend class detail::get_stop_token_operation;
  explicit stop_token(const detail::chain& of) noexcept : chain_{&of} {}

  const detail::chain* chain_;
};

namespace detail {

class get_stop_token_operation {
 public:
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    chain_ = &self.promise().in();
    return false;
  }
  [[nodiscard]] stop_token await_resume() const noexcept { return stop_token{*chain_}; }

 private:
  const chain* chain_ = nullptr;
};

class stop_requested_operation final : public operation {
 public:
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    chain& waiter = self.promise().in();
    return waiter.cancel_requested() ? waiter.at_once(self) : waiter.wait(self, *this);
  }
  void await_resume() const noexcept {}
  bool cancel() noexcept override { return true; }
  [[nodiscard]] const char* name() const noexcept override { return "a request to end"; }
};

}  // namespace detail

/// `co_await get_stop_token()`: the token of the calling coroutine. Does not suspend.
[[nodiscard]] inline detail::get_stop_token_operation get_stop_token() noexcept { return {}; }

/// `co_await stop_requested()`: waits until the coroutine is asked to end.
[[nodiscard]] inline detail::stop_requested_operation stop_requested() noexcept { return {}; }

}  // namespace tartan
