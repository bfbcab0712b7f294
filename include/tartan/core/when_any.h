#pragma once
/// Several coroutines at once, and the first result.

#include <array>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <tartan/core/branches.h>
#include <tartan/core/task.h>
#include <tartan/core/when_all.h>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tartan {

/// Which one ended first, and what it gave.
template <class T>
struct first_ended {
  std::size_t index = 0;
  T value;
};
template <>
struct first_ended<void> {
  std::size_t index = 0;
};

namespace detail {

[[noreturn]] void nothing_to_await() noexcept;

/// The first end cancels the others.
class any_branches : public branches {
 public:
  [[nodiscard]] const char* name() const noexcept final { return "when_any"; }

 protected:
  void branch_ended(std::size_t index) noexcept final {
    if (first_ != no_branch) return;
    first_ = index;
    cancel_all();
  }
  [[nodiscard]] bool decided() const noexcept { return first_ != no_branch; }
  [[nodiscard]] std::size_t first() const noexcept { return first_; }

 private:
  std::size_t first_ = no_branch;
};

template <class T>
first_ended<T> take_first(std::size_t index, task<T>& ended) {
  if constexpr (std::is_void_v<T>) {
    ended.result().take();
    return {index};
  } else {
    return {index, ended.result().take()};
  }
}

template <class... Ts>
class any_awaiter final : public any_branches {
 public:
  using one_of = std::variant<value_or_nothing<Ts>...>;

  explicit any_awaiter(std::tuple<task<Ts>...>&& tasks) noexcept : tasks_{std::move(tasks)} {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    open(self.promise().in(), branch_.data(), sizeof...(Ts));
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((decided() ? void() : start(I, std::get<I>(tasks_))), ...);
    }(std::index_sequence_for<Ts...>{});
    return started(self);
  }
  first_ended<one_of> await_resume() { return take<0>(); }

 private:
  template <std::size_t I>
  first_ended<one_of> take() {
    if constexpr (I + 1 < sizeof...(Ts)) {
      if (first() != I) return take<I + 1>();
    }
    return {I, one_of{std::in_place_index<I>, take_value(std::get<I>(tasks_))}};
  }

  std::tuple<task<Ts>...> tasks_;
  std::array<branch, sizeof...(Ts)> branch_;
};

template <class T>
class any_of_awaiter final : public any_branches {
 public:
  explicit any_of_awaiter(std::vector<task<T>>&& tasks)
      : tasks_{std::move(tasks)}, branch_{std::make_unique<branch[]>(tasks_.size())} {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (tasks_.empty()) nothing_to_await();
    open(self.promise().in(), branch_.get(), tasks_.size());
    for (std::size_t n = 0; n < tasks_.size() && !decided(); ++n) start(n, tasks_[n]);
    return started(self);
  }
  first_ended<T> await_resume() { return take_first(first(), tasks_[first()]); }

 private:
  std::vector<task<T>> tasks_;
  std::unique_ptr<branch[]> branch_;
};

template <class... Ts>
class [[nodiscard]] any_operation {
 public:
  explicit any_operation(task<Ts>&&... tasks) noexcept : tasks_{std::move(tasks)...} {}
  auto operator co_await() && noexcept { return any_awaiter<Ts...>{std::move(tasks_)}; }

 private:
  std::tuple<task<Ts>...> tasks_;
};

template <class T>
class [[nodiscard]] any_of_operation {
 public:
  explicit any_of_operation(std::vector<task<T>>&& tasks) noexcept : tasks_{std::move(tasks)} {}
  auto operator co_await() && { return any_of_awaiter<T>{std::move(tasks_)}; }

 private:
  std::vector<task<T>> tasks_;
};

}  // namespace detail

/// `auto [index, value] = co_await when_any(f(x), g(y))`: runs tasks, or other things that can be awaited, until one has ended, asks
/// the others to cancel, and goes on when those have ended too. The value is a std::variant with one alternative for each.
///
/// Color: the awaiter's, for all of them.
/// Errors: an exception of the first; what the others give or throw is dropped.
/// Order: started in the order of the arguments; if one ends without waiting, those behind it are not started.
template <class... As>
  requires(sizeof...(As) > 0 && (detail::awaitable<std::decay_t<As>> && ...))
auto when_any(As&&... together) {
  return detail::any_operation<detail::task_value_t<As>...>{detail::as_task(std::forward<As>(together))...};
}

/// The same for any number of tasks of one type; the value is of that type.
///
/// Errors: none at all to wait for ends the program.
template <class T>
auto when_any(std::vector<task<T>> together) noexcept {
  return detail::any_of_operation<T>{std::move(together)};
}

}  // namespace tartan
