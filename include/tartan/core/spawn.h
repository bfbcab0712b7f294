#pragma once
/// Starting coroutines.

#include <source_location>
#include <tartan/core/color.h>
#include <tartan/core/join_handle.h>
#include <tartan/core/root.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn_call.h>
#include <tartan/core/task.h>
#include <type_traits>
#include <utility>

namespace tartan {

namespace detail {

template <class F, class... Args>
using spawned_t = typename std::invoke_result_t<std::decay_t<F>, std::decay_t<Args>...>::value_type;

/// Gives a root with one reference of the caller's, or null if the runtime refused.
template <class Root, class... Given>
[[nodiscard]] Root* launch(runtime_state& rt, color c, std::source_location site, group_state* group, Given&&... given) {
  const unsigned references = group == nullptr ? 2 : 1;
  auto* const made = new Root(rt, c, site, references, group, std::forward<Given>(given)...);
  if (made->launch()) return made;
  if (group == nullptr) made->let_go();
  return nullptr;
}

template <class F, class... Args>
auto spawn_at(runtime_state& rt, color c, std::source_location site, F&& f, Args&&... args) {
  using value = spawned_t<F, Args...>;
  using made = call_root<value, std::decay_t<F>, std::decay_t<Args>...>;
  return join_handle<value>{launch<made>(rt, c, site, nullptr, std::forward<F>(f), std::forward<Args>(args)...)};
}

template <class T>
join_handle<T> spawn_at(runtime_state& rt, color c, std::source_location site, task<T>&& coroutine) {
  return join_handle<T>{launch<task_root<T>>(rt, c, site, nullptr, std::move(coroutine))};
}

/// In the default color, with the arguments that were given.
template <class F, class... Args>
auto spawn_given(runtime_state& rt, std::source_location site, F&& f, Args&&... args) {
  const auto start = [&](auto&&... given) {
    return spawn_at(rt, color{}, site, std::forward<F>(f), std::forward<decltype(given)>(given)...);
  };
  return spawn_arguments<Args...>::pass(start, std::forward<Args>(args)...);
}

}  // namespace detail

/// Starts a coroutine in a color: `spawn_in(c, f, args...)` calls `f(args...)` there, which gives a task.
///
/// The coroutine owns what it was given: function and arguments are copied or moved, as by std::thread; std::ref for references.
/// color::unordered gives it a color that nobody else has.
/// Color: the function is called, the coroutine runs and both are destroyed in the color.
/// Threads: inside an event; outside, give the runtime.
/// Lifetime: arguments live until the coroutine has ended. When the runtime is drained, a suspended one is destroyed, not resumed.
/// Errors: the handle is empty if the runtime refused, as it refuses posts. An exception of f counts as the coroutine's; one that
/// nobody joins goes to options.on_exception. std::bad_alloc.
/// Order: as a post of f.
/// Cost: two allocations from the worker's pool.
template <class F, class... Args>
  requires detail::spawnable<F, Args...>
auto spawn_in(detail::placed_color c, F&& f, Args&&... args) {
  detail::runtime_state& rt = detail::required_runtime("tartan::spawn_in", c.site);
  return detail::spawn_at(rt, c.where, c.site, std::forward<F>(f), std::forward<Args>(args)...);
}

/// The same from any thread, also before run().
template <class F, class... Args>
  requires detail::spawnable<F, Args...>
auto spawn_in(runtime& rt, detail::placed_color c, F&& f, Args&&... args) {
  return detail::spawn_at(rt.state(), c.where, c.site, std::forward<F>(f), std::forward<Args>(args)...);
}

/// `spawn(f, args...)`: spawn_in, in the default color (contract 5).
///
/// Limits: eight arguments; `spawn_in(color{}, f, args...)` is the same with any number of them.
template <class F, class A = detail::no_argument, class B = detail::no_argument, class C = detail::no_argument,
          class D = detail::no_argument, class E = detail::no_argument, class G = detail::no_argument,
          class H = detail::no_argument, class I = detail::no_argument>
  requires detail::spawnable_with<F, A, B, C, D, E, G, H, I>
auto spawn(F&& f, A&& a = {}, B&& b = {}, C&& c = {}, D&& d = {}, E&& e = {}, G&& g = {}, H&& h = {}, I&& i = {},
           std::source_location site = std::source_location::current()) {
  detail::runtime_state& rt = detail::required_runtime("tartan::spawn", site);
  return detail::spawn_given(rt, site, std::forward<F>(f), std::forward<A>(a), std::forward<B>(b), std::forward<C>(c),
                             std::forward<D>(d), std::forward<E>(e), std::forward<G>(g), std::forward<H>(h),
                             std::forward<I>(i));
}

/// The same from any thread, also before run(), with any number of arguments.
template <class F, class... Args>
  requires detail::spawnable<F, Args...>
auto spawn(detail::placed_runtime rt, F&& f, Args&&... args) {
  return detail::spawn_at(rt.into->state(), color{}, rt.site, std::forward<F>(f), std::forward<Args>(args)...);
}

template <class F, class... Args>
  requires(!detail::spawnable<F, Args...> && !std::is_same_v<std::remove_cvref_t<F>, runtime>)
detail::needs_a_function_that_gives_a_task_for_the_arguments spawn(F&& f, Args&&... args) = delete;
template <class F, class... Args>
  requires(!detail::spawnable<F, Args...>)
detail::needs_a_function_that_gives_a_task_for_the_arguments spawn(runtime& rt, F&& f, Args&&... args) = delete;
template <class F, class... Args>
  requires(!detail::spawnable<F, Args...>)
detail::needs_a_function_that_gives_a_task_for_the_arguments spawn_in(detail::placed_color, F&&, Args&&...) = delete;
template <class F, class... Args>
  requires(!detail::spawnable<F, Args...>)
detail::needs_a_function_that_gives_a_task_for_the_arguments spawn_in(runtime&, detail::placed_color, F&&, Args&&...) = delete;

template <class F, class A, class B, class C, class D, class E, class G, class H, class I>
  requires detail::spawnable_with<F, A, B, C, D, E, G, H, I>
auto runtime::spawn(F&& f, A&& a, B&& b, C&& c, D&& d, E&& e, G&& g, H&& h, I&& i, std::source_location site) {
  return detail::spawn_given(state(), site, std::forward<F>(f), std::forward<A>(a), std::forward<B>(b),
                             std::forward<C>(c), std::forward<D>(d), std::forward<E>(e), std::forward<G>(g),
                             std::forward<H>(h), std::forward<I>(i));
}
template <class F, class... Args>
  requires detail::spawnable<F, Args...>
auto runtime::spawn_in(detail::placed_color c, F&& f, Args&&... args) {
  return detail::spawn_at(state(), c.where, c.site, std::forward<F>(f), std::forward<Args>(args)...);
}

}  // namespace tartan
