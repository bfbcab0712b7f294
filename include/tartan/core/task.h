#pragma once
/// A coroutine that starts when it is awaited. See docs/guide/coroutines.md.

#include <concepts>
#include <coroutine>
#include <exception>
#include <tartan/core/awaitable.h>
#include <tartan/core/chain.h>
#include <tartan/core/color.h>
#include <tartan/core/event.h>
#include <tartan/core/foreign_wait.h>
#include <tartan/core/frame.h>
#include <tartan/core/outcome.h>
#include <type_traits>
#include <utility>

namespace tartan {

template <class T = void>
class task;

namespace detail {

[[noreturn]] void empty_task() noexcept;

/// What every coroutine of the library has in its frame: 24 bytes and its result.
class promise_base : public pooled {
 public:
  [[nodiscard]] chain& in() const noexcept { return *chain_; }

  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }

  /// Goes on with the awaiter, in the awaiter's color.
  struct last_step {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      const promise_base& ended = self.promise();
      return ended.chain_->leave(ended.awaiter_, ended.awaiter_color_);
    }
    void await_resume() const noexcept {}
  };
  [[nodiscard]] last_step final_suspend() const noexcept { return {}; }

  /// The library's own operations know the chain and are awaited as they are. Any other resumes the coroutine in its
  /// color, by a bridge.
  template <class A>
    requires(has_own_co_await<A> && !foreign_awaitable<A>)
  [[nodiscard]] A&& await_transform(A&& own) const noexcept {
    return static_cast<A&&>(own);
  }
  template <class A>
    requires(awaitable<A> && !has_own_co_await<A> && !foreign_awaitable<A>)
  [[nodiscard]] auto await_transform(A&& own) const noexcept {
    return awaiter_in_place<std::remove_reference_t<A>>{own};
  }
  template <foreign_awaitable A>
  [[nodiscard]] foreign_operation<A> await_transform(A&& awaitable) const {
    return foreign_operation<A>{static_cast<A&&>(awaitable)};
  }

  /// At the bottom of a chain: nobody awaits it.
  void begin(chain& bottom_of) noexcept { chain_ = &bottom_of; }

  /// Awaited by a coroutine of the same chain.
  void begin(std::coroutine_handle<> awaiter, const promise_base& of_awaiter) noexcept {
    chain_ = of_awaiter.chain_;
    awaiter_ = awaiter;
    awaiter_color_ = chain_->where();
  }

 private:
  chain* chain_ = nullptr;
  std::coroutine_handle<> awaiter_{};
  color awaiter_color_{};
};

template <class Promise>
concept colored_promise = std::derived_from<Promise, promise_base>;

template <class T>
class task_promise final : public promise_base {
 public:
  [[nodiscard]] task<T> get_return_object() noexcept;
  void unhandled_exception() noexcept { result_.fail(std::current_exception()); }
  template <class U = T>
    requires std::is_constructible_v<T, U>
  void return_value(U&& value) {
    result_.emplace(std::forward<U>(value));
  }
  [[nodiscard]] outcome<T>& result() noexcept { return result_; }

 private:
  outcome<T> result_;
};

template <>
class task_promise<void> final : public promise_base {
 public:
  [[nodiscard]] task<void> get_return_object() noexcept;
  void unhandled_exception() noexcept { result_.fail(std::current_exception()); }
  void return_void() noexcept { result_.emplace(); }
  [[nodiscard]] outcome<void>& result() noexcept { return result_; }

 private:
  outcome<void> result_;
};

}  // namespace detail

/// A coroutine, to be awaited once: it starts then, in the awaiter's color, and the awaiter goes on when it has ended, in its
/// own color. One that is never awaited never runs.
///
/// It awaits tasks, the operations of this library, and awaitables of others. Those may resume it on any thread: it
/// goes on in its color.
/// Until then it counts as an operation that is under way; it cannot be canceled there.
/// Color: a coroutine's color is free while it waits: other events of it run at each co_await.
/// Lifetime: moved like any object until it is awaited, from then on kept by the awaiting expression. Arguments by reference must
/// outlive it. One made inside an event must not outlive its runtime.
/// Errors: an exception that leaves the coroutine is thrown by co_await. Awaiting it twice ends the program.
/// Cost: one frame; starting and ending it in one color posts nothing.
template <class T>
class [[nodiscard]] task {
 public:
  using promise_type = detail::task_promise<T>;
  using value_type = T;

  task() noexcept = default;
  task(task&& other) noexcept : coroutine_{std::exchange(other.coroutine_, {})} {}
  task& operator=(task&& other) noexcept {
    if (this != &other) {
      reset();
      coroutine_ = std::exchange(other.coroutine_, {});
    }
    return *this;
  }
  ~task() { reset(); }

  /// Whether there is a coroutine to await.
  [[nodiscard]] explicit operator bool() const noexcept { return coroutine_ != nullptr; }

  /// Runs the coroutine, as `co_await f(x)` or `co_await std::move(t)`.
  [[nodiscard]] auto operator co_await() && noexcept { return awaiter{std::exchange(coroutine_, {})}; }

  /// Library code: the coroutine at the bottom of a chain.
  [[nodiscard]] std::coroutine_handle<> begin(detail::chain& bottom_of) noexcept {
    if (!coroutine_) detail::empty_task();
    coroutine_.promise().begin(bottom_of);
    return coroutine_;
  }
  [[nodiscard]] detail::outcome<T>& result() noexcept { return coroutine_.promise().result(); }
  void reset() noexcept {
    if (coroutine_) std::exchange(coroutine_, {}).destroy();
  }

 private:
  friend promise_type;
  using handle = std::coroutine_handle<promise_type>;

  class awaiter {
   public:
    explicit awaiter(handle coroutine) noexcept : coroutine_{coroutine} {}
    awaiter(const awaiter&) = delete;
    awaiter& operator=(const awaiter&) = delete;
    ~awaiter() {
      if (coroutine_) coroutine_.destroy();
    }
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <detail::colored_promise Promise>
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
      if (!coroutine_) detail::empty_task();
      coroutine_.promise().begin(self, self.promise());
      return self.promise().in().transfer(coroutine_);
    }
    T await_resume() { return coroutine_.promise().result().take(); }

   private:
    handle coroutine_;
  };

  explicit task(handle coroutine) noexcept : coroutine_{coroutine} {}

  handle coroutine_{};
};

namespace detail {

template <class T>
task<T> task_promise<T>::get_return_object() noexcept {
  check_frame(*this);
  return task<T>{std::coroutine_handle<task_promise>::from_promise(*this)};
}

inline task<void> task_promise<void>::get_return_object() noexcept {
  check_frame(*this);
  return task<void>{std::coroutine_handle<task_promise>::from_promise(*this)};
}

}  // namespace detail

}  // namespace tartan
