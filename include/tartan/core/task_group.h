#pragma once
/// Coroutines that belong together: spawned one by one, joined and canceled as one.

#include <coroutine>
#include <cstddef>
#include <exception>
#include <source_location>
#include <tartan/core/color.h>
#include <tartan/core/outcome.h>
#include <tartan/core/spawn.h>
#include <tartan/core/task.h>
#include <type_traits>
#include <utility>

namespace tartan {

namespace detail {

class group_state;

[[nodiscard]] group_state* open_group(runtime_state& rt, std::source_location site);
void close_group(group_state& group) noexcept;
[[nodiscard]] runtime_state& runtime_of(group_state& group) noexcept;
[[nodiscard]] std::source_location site_of(group_state& group) noexcept;
void cancel_group(group_state& group) noexcept;
[[nodiscard]] std::size_t size_of(group_state& group) noexcept;
[[nodiscard]] bool join_group(group_state& group, chain& joiner) noexcept;
[[nodiscard]] std::exception_ptr take_first(group_state& group) noexcept;

class group_join_operation final : public operation {
 public:
  explicit group_join_operation(group_state& group) noexcept : group_{&group} {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    chain& joiner = self.promise().in();
    return join_group(*group_, joiner) ? joiner.at_once(self) : joiner.wait(self, *this);
  }
  void await_resume() const {
    if (std::exception_ptr first = take_first(*group_)) std::rethrow_exception(std::move(first));
  }
  bool cancel() noexcept override {
    cancel_group(*group_);
    return false;
  }
  [[nodiscard]] const char* name() const noexcept override { return "the end of a task group"; }
  [[nodiscard]] std::source_location about() const noexcept override { return site_of(*group_); }

 private:
  group_state* group_;
};

}  // namespace detail

/// Spawned coroutines that do not outlive a scope; see also with_task_group, which joins by itself.
///
/// Threads: any, but for the end.
/// Lifetime: to be joined before it is destroyed; else, with coroutines left, the program ends with a message, for they
/// may use what goes
/// out of scope with it. So it does if the runtime ends first.
/// Limits: memory.
class task_group {
 public:
  /// Errors: outside of an event the program ends with a message.
  explicit task_group(std::source_location site = std::source_location::current())
      : state_{detail::open_group(detail::required_runtime("tartan::task_group", site), site)} {}
  explicit task_group(runtime& rt, std::source_location site = std::source_location::current())
      : state_{detail::open_group(rt.state(), site)} {}
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;
  ~task_group() { detail::close_group(*state_); }

  /// As spawn_in. The function gives task<>: results belong into what it was given.
  ///
  /// Gives false if the runtime refused. Once the group was canceled, newcomers are asked to cancel from the start.
  /// Errors: the first exception of a coroutine asks all others to cancel, and is thrown by join.
  template <class F, class... Args>
    requires detail::gives_task_for<F, Args...>
  bool spawn_in(detail::placed_color c, F&& f, Args&&... args) {
    return spawn_at(c.where, c.site, std::forward<F>(f), std::forward<Args>(args)...);
  }

  /// As spawn, in the default color (contract 5).
  ///
  /// Limits: eight arguments; spawn_in takes any number of them.
  template <class F, class A = detail::no_argument, class B = detail::no_argument, class C = detail::no_argument,
            class D = detail::no_argument, class E = detail::no_argument, class G = detail::no_argument,
            class H = detail::no_argument, class I = detail::no_argument>
    requires detail::spawnable_with<F, A, B, C, D, E, G, H, I>
  bool spawn(F&& f, A&& a = {}, B&& b = {}, C&& c = {}, D&& d = {}, E&& e = {}, G&& g = {}, H&& h = {}, I&& i = {},
             std::source_location site = std::source_location::current()) {
    const auto start = [&](auto&&... given) {
      return spawn_at(color{}, site, std::forward<F>(f), std::forward<decltype(given)>(given)...);
    };
    return detail::spawn_arguments<A, B, C, D, E, G, H, I>::pass(
        start, std::forward<A>(a), std::forward<B>(b), std::forward<C>(c), std::forward<D>(d), std::forward<E>(e),
        std::forward<G>(g), std::forward<H>(h), std::forward<I>(i));
  }

  template <class F, class... Args>
    requires(!detail::gives_task_for<F, Args...>)
  detail::needs_a_function_that_gives_a_task_for_the_arguments spawn(F&& f, Args&&... args) = delete;
  template <class F, class... Args>
    requires(!detail::gives_task_for<F, Args...>)
  detail::needs_a_function_that_gives_a_task_for_the_arguments spawn_in(detail::placed_color, F&&, Args&&...) = delete;

  /// Asks all to end. Does not wait.
  void cancel() noexcept { detail::cancel_group(*state_); }

  /// Coroutines that have not ended.
  [[nodiscard]] std::size_t size() const noexcept { return detail::size_of(*state_); }

  /// `co_await group.join()`: waits until all have ended, also those that are spawned meanwhile; throws the first exception. Then the
  /// group may be used again, unless it was canceled.
  ///
  /// If the joiner is asked to cancel, so are they; the wait goes on until they have ended.
  /// Errors: two joiners at once, or one of another runtime, end the program.
  [[nodiscard]] auto join() noexcept { return detail::group_join_operation{*state_}; }

 private:
  template <class F, class... Args>
  bool spawn_at(color c, std::source_location site, F&& f, Args&&... args) {
    static_assert(std::is_void_v<detail::spawned_t<F, Args...>>, "a coroutine of a group gives task<>");
    using made = detail::call_root<void, std::decay_t<F>, std::decay_t<Args>...>;
    return detail::launch<made>(detail::runtime_of(*state_), c, site, state_, std::forward<F>(f), std::forward<Args>(args)...) != nullptr;
  }

  detail::group_state* state_;
};

namespace detail {

template <class F>
auto run_with_task_group(F f) -> std::invoke_result_t<F&, task_group&> {
  using value = typename std::invoke_result_t<F&, task_group&>::value_type;
  task_group group;
  detail::outcome<value> body;
  try {
    if constexpr (std::is_void_v<value>) {
      co_await f(group);
      body.emplace();
    } else {
      body.emplace(co_await f(group));
    }
  } catch (...) {
    body.fail(std::current_exception());
  }
  if (body.failed()) group.cancel();
  try {
    co_await group.join();
  } catch (...) {
    if (!body.failed()) body.fail(std::current_exception());
  }
  co_return body.take();
}

}  // namespace detail

/// `co_await with_task_group([&](task_group& group) -> task<> { ... })`: runs the function's coroutine here, and gives its result
/// when all that it spawned into the group have ended.
///
/// Errors: an exception of the function's asks the others to cancel and is thrown when they have ended; else the group's first one.
template <class F>
  requires detail::makes_task<std::decay_t<F>&, task_group&>
auto with_task_group(F&& f) -> std::invoke_result_t<std::decay_t<F>&, task_group&> {
  detail::check_awaited_callable<F>();
  return detail::run_with_task_group(std::decay_t<F>(std::forward<F>(f)));
}

}  // namespace tartan
