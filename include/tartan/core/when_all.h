#pragma once
/// Several coroutines at once, and all their results.

#include <array>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <tartan/core/branches.h>
#include <tartan/core/task.h>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tartan {

namespace detail {

inline constexpr std::size_t no_branch = ~std::size_t{0};

template <class T>
using value_or_nothing = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class T>
value_or_nothing<T> take_value(task<T>& ended) {
  if constexpr (std::is_void_v<T>) {
    ended.result().take();
    return {};
  } else {
    return ended.result().take();
  }
}

/// What the two forms have in common: the first exception cancels the others.
class all_branches : public branches {
 public:
  [[nodiscard]] const char* name() const noexcept final { return "when_all"; }

 protected:
  void ended_as(std::size_t index, bool failed) noexcept {
    if (!failed || failed_ != no_branch) return;
    failed_ = index;
    cancel_all();
  }
  [[nodiscard]] bool any_failed() const noexcept { return failed_ != no_branch; }
  [[nodiscard]] std::size_t failed() const noexcept { return failed_; }

 private:
  std::size_t failed_ = no_branch;
};

template <class... Ts>
class all_awaiter final : public all_branches {
 public:
  explicit all_awaiter(std::tuple<task<Ts>...>&& tasks) noexcept : tasks_{std::move(tasks)} {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    open(self.promise().in(), branch_.data(), sizeof...(Ts));
    each([this](std::size_t index, auto& one) {
      if (!any_failed()) start(index, one);
    });
    return started(self);
  }
  std::tuple<value_or_nothing<Ts>...> await_resume() {
    each([this](std::size_t index, auto& one) {
      if (index == failed()) static_cast<void>(take_value(one));
    });
    return std::apply([](auto&... one) { return std::tuple<value_or_nothing<Ts>...>{take_value(one)...}; }, tasks_);
  }

 private:
  template <class F>
  void each(F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (f(I, std::get<I>(tasks_)), ...); }(std::index_sequence_for<Ts...>{});
  }
  void branch_ended(std::size_t ended) noexcept override {
    each([&](std::size_t index, auto& one) {
      if (index == ended) ended_as(index, one.result().failed());
    });
  }

  std::tuple<task<Ts>...> tasks_;
  std::array<branch, sizeof...(Ts)> branch_;
};

template <class T>
class all_of_awaiter final : public all_branches {
 public:
  explicit all_of_awaiter(std::vector<task<T>>&& tasks)
      : tasks_{std::move(tasks)}, branch_{std::make_unique<branch[]>(tasks_.size())} {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    open(self.promise().in(), branch_.get(), tasks_.size());
    for (std::size_t n = 0; n < tasks_.size() && !any_failed(); ++n) start(n, tasks_[n]);
    return started(self);
  }
  auto await_resume() {
    if (any_failed()) static_cast<void>(take_value(tasks_[failed()]));
    if constexpr (!std::is_void_v<T>) {
      std::vector<T> values;
      values.reserve(tasks_.size());
      for (task<T>& one : tasks_) values.push_back(one.result().take());
      return values;
    }
  }

 private:
  void branch_ended(std::size_t index) noexcept override { ended_as(index, tasks_[index].result().failed()); }

  std::vector<task<T>> tasks_;
  std::unique_ptr<branch[]> branch_;
};

template <class... Ts>
class [[nodiscard]] all_operation {
 public:
  explicit all_operation(task<Ts>&&... tasks) noexcept : tasks_{std::move(tasks)...} {}
  auto operator co_await() && noexcept { return all_awaiter<Ts...>{std::move(tasks_)}; }

 private:
  std::tuple<task<Ts>...> tasks_;
};

template <class T>
class [[nodiscard]] all_of_operation {
 public:
  explicit all_of_operation(std::vector<task<T>>&& tasks) noexcept : tasks_{std::move(tasks)} {}
  auto operator co_await() && { return all_of_awaiter<T>{std::move(tasks_)}; }

 private:
  std::vector<task<T>> tasks_;
};

}  // namespace detail

/// `auto [a, b] = co_await when_all(f(x), g(y))`: runs tasks, or other things that can be awaited, until all have ended; gives a
/// tuple of what they gave, std::monostate for void.
///
/// Color: the awaiter's, for all of them: they take turns. What shall run in parallel moves itself, with on or in.
/// Errors: the first exception; the others are asked to cancel then, and awaited. Error values are values.
/// Order: started in the order of the arguments, each until it waits for the first time.
template <class... As>
  requires(sizeof...(As) > 0 && (detail::awaitable<std::decay_t<As>> && ...))
auto when_all(As&&... together) {
  return detail::all_operation<detail::task_value_t<As>...>{detail::as_task(std::forward<As>(together))...};
}

/// The same for any number of tasks of one type: gives a vector of what they gave, in their order, nothing for void.
template <class T>
auto when_all(std::vector<task<T>> together) noexcept {
  return detail::all_of_operation<T>{std::move(together)};
}

}  // namespace tartan
