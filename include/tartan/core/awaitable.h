#pragma once
/// What `co_await` makes of an operand: its awaiter, and what that gives. Library code.

#include <coroutine>
#include <type_traits>
#include <utility>

namespace tartan::detail {

template <class A>
concept has_own_co_await = requires(A&& awaitable) { static_cast<A&&>(awaitable).operator co_await(); };
template <class A>
concept has_free_co_await = requires(A&& awaitable) { operator co_await(static_cast<A&&>(awaitable)); };

/// The awaiter of an operand, as the language finds it.
template <class A>
decltype(auto) awaiter_of(A&& awaitable) {
  if constexpr (has_own_co_await<A>) {
    return std::forward<A>(awaitable).operator co_await();
  } else if constexpr (has_free_co_await<A>) {
    return operator co_await(std::forward<A>(awaitable));
  } else {
    return std::forward<A>(awaitable);
  }
}

/// A value or a reference.
template <class A>
using awaiter_t = decltype(awaiter_of(std::declval<A>()));

/// What co_await gives for an operand of this type; for one that is no reference, an rvalue.
template <class A>
using awaited_t = decltype(std::declval<std::remove_reference_t<awaiter_t<A>>&>().await_resume());

template <class A>
concept awaitable = requires { typename awaited_t<A>; };

/// An operand of another library: its awaiter suspends any coroutine. Those of this library suspend a `colored_promise`
/// alone.
template <class A>
concept foreign_awaitable = requires(std::remove_reference_t<awaiter_t<A>>& awaiter, std::coroutine_handle<> any) {
  awaiter.await_suspend(any);
};

/// Awaits an awaiter where it lies. What await_transform gives is copied by gcc 12, even if it is a reference: so it is
/// this.
template <class Awaiter>
class awaiter_in_place {
 public:
  explicit awaiter_in_place(Awaiter& awaiter) noexcept : awaiter_{&awaiter} {}
  [[nodiscard]] bool await_ready() const noexcept(noexcept(std::declval<Awaiter&>().await_ready())) {
    return awaiter_->await_ready();
  }
  template <class Promise>
  auto await_suspend(std::coroutine_handle<Promise> self) const
      noexcept(noexcept(std::declval<Awaiter&>().await_suspend(self))) {
    return awaiter_->await_suspend(self);
  }
  decltype(auto) await_resume() const noexcept(noexcept(std::declval<Awaiter&>().await_resume())) {
    return awaiter_->await_resume();
  }

 private:
  Awaiter* awaiter_;
};

}  // namespace tartan::detail
