#pragma once
/// Awaiting what is not this library's: the coroutine comes back to its color, whichever thread resumes it.
/// Library code.

#include <concepts>
#include <coroutine>
#include <exception>
#include <tartan/core/awaitable.h>
#include <tartan/core/chain.h>
#include <tartan/core/frame.h>
#include <type_traits>
#include <utility>

namespace tartan::detail {

/// One wait of a coroutine for an awaitable of another library.
///
/// Color: the chain's, until the wait begins. From then on it belongs to the thread that resumes.
/// Lifetime: stays where it is until resume() was entered, also while the runtime is drained (contract 16).
class foreign_wait {
 public:
  foreign_wait(const foreign_wait&) = delete;
  foreign_wait& operator=(const foreign_wait&) = delete;

  /// The awaitable has resumed the bridge. Posts the coroutine to its color, unless the awaitable did not suspend at
  /// all.
  ///
  /// Threads: any. The frame may be gone when this returns.
  void resume() noexcept;

  /// Did not suspend: await_suspend gave false or threw. Threads: the one that began it, within its begin().
  void decline() noexcept { declined_ = true; }
  void fail(std::exception_ptr thrown) noexcept {
    thrown_ = std::move(thrown);
    decline();
  }

  [[nodiscard]] bool is_pending() const noexcept { return pending_; }
  /// The awaitable has destroyed the bridge: nobody could ever resume the coroutine.
  [[noreturn]] void bridge_destroyed() const noexcept;

 protected:
  foreign_wait() noexcept = default;
  ~foreign_wait() = default;

  /// Gives what await_suspend gives. `bridge` suspends in the awaitable.
  [[nodiscard]] bool begin(std::coroutine_handle<> self, chain& waiter, std::coroutine_handle<> bridge) noexcept;

  /// The coroutine goes on. Throws what the beginning of the wait threw.
  void end() {
    if (waiter_ != nullptr) waiter_->resumed();
    if (thrown_) [[unlikely]] std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  friend class foreign_waits;

  chain* waiter_ = nullptr;
  foreign_wait* previous_ = nullptr;  ///< of the runtime's, under its lock, as is next_
  foreign_wait* next_ = nullptr;
  bool declined_ = false;
  bool pending_ = false;
  std::exception_ptr thrown_;
};

/// The coroutine whose handle the awaitable gets. Nothing of the user's runs in it: when it is resumed, it posts the
/// user's coroutine and ends. A coroutine, rather than a handle made by hand, so that the compiler deals with all that
/// await_suspend may give.
class bridge {
 public:
  class promise_type : public pooled {
   public:
    promise_type() noexcept = default;
    promise_type(const promise_type&) = delete;
    promise_type& operator=(const promise_type&) = delete;
    ~promise_type() {
      if (of_ != nullptr && of_->is_pending()) [[unlikely]] of_->bridge_destroyed();
    }

    [[nodiscard]] bridge get_return_object() noexcept {
      return bridge{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }

    /// Suspended for good: from here on another thread may destroy it.
    struct last_step {
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> self) const noexcept { self.promise().of_->resume(); }
      void await_resume() const noexcept {}
    };
    [[nodiscard]] last_step final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { of_->fail(std::current_exception()); }

    void leads_to(foreign_wait& of) noexcept { of_ = &of; }

   private:
    foreign_wait* of_ = nullptr;
  };

  bridge() noexcept = default;
  bridge(bridge&& other) noexcept : coroutine_{std::exchange(other.coroutine_, {})} {}
  bridge& operator=(bridge&& other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  ~bridge() {
    if (coroutine_) coroutine_.destroy();
  }

  [[nodiscard]] std::coroutine_handle<> leading_to(foreign_wait& of) const noexcept {
    coroutine_.promise().leads_to(of);
    return coroutine_;
  }

 private:
  explicit bridge(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_{coroutine} {}

  std::coroutine_handle<promise_type> coroutine_{};
};

/// All that the bridge awaits: suspends in the awaitable, and leaves its result for the user's coroutine.
template <class Awaiter>
class foreign_step {
 public:
  foreign_step(foreign_wait& of, Awaiter& awaiter) noexcept : of_{&of}, awaiter_{&awaiter} {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  /// Gives nothing, a bool, or a handle, as the awaiter does.
  auto await_suspend(std::coroutine_handle<> resumes) {
    if constexpr (std::is_same_v<decltype(awaiter_->await_suspend(resumes)), bool>) {
      foreign_wait& of = *of_;  // this step has ended if another thread resumes before await_suspend returns
      const bool suspends = awaiter_->await_suspend(resumes);
      if (!suspends) of.decline();
      return suspends;
    } else {
      return awaiter_->await_suspend(resumes);
    }
  }
  void await_resume() const noexcept {}

 private:
  foreign_wait* of_;
  Awaiter* awaiter_;
};

template <class Awaiter>
bridge bridge_into(foreign_wait& of, Awaiter& awaiter) {
  co_await foreign_step<Awaiter>{of, awaiter};
}

/// A coroutine of this library: `colored_promise`, which task.h defines above this.
template <class Promise>
concept has_chain = requires(Promise& promise) {
  { promise.in() } -> std::same_as<chain&>;
};

/// What a coroutine of this library awaits in the place of an awaitable of another one.
///
/// Color: the awaitable's await_ready, await_suspend and await_resume are called in the coroutine's.
/// Lifetime: the awaitable's, which the co_await expression keeps.
template <class A>
class [[nodiscard]] foreign_operation final : public foreign_wait {
 public:
  explicit foreign_operation(A&& awaitable) : awaiter_{awaiter_of(std::forward<A>(awaitable))} {}

  [[nodiscard]] bool await_ready() {
    ready_ = static_cast<bool>(awaiter_.await_ready());
    return ready_ && take_inline();  // contract 12: at most 64 times in one event
  }
  template <has_chain Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) {
    chain& waiter = self.promise().in();
    if (ready_) {
      waiter.to_back(self);
      return true;
    }
    bridge_ = bridge_into(*this, awaiter_);
    return this->begin(self, waiter, bridge_.leading_to(*this));
  }
  decltype(auto) await_resume() {
    this->end();
    return awaiter_.await_resume();
  }

 private:
  awaiter_t<A> awaiter_;
  bridge bridge_;
  bool ready_ = false;
};

}  // namespace tartan::detail
