#pragma once
/// Starting coroutines.

#include <concepts>
#include <source_location>
#include <tartan/core/color.h>
#include <tartan/core/join_handle.h>
#include <tartan/core/root.h>
#include <tartan/core/runtime.h>
#include <tartan/core/task.h>
#include <type_traits>
#include <utility>

namespace tartan {

namespace detail {

/// A color, and the place of the call that it was given to.
struct placed_color {
  template <std::convertible_to<color> C>
  placed_color(const C& c, std::source_location at = std::source_location::current()) : where{c}, site{at} {}

  color where;
  std::source_location site;
};

template <class F, class... Args>
using spawned_t = typename std::invoke_result_t<std::decay_t<F>, std::decay_t<Args>...>::value_type;

template <class F, class... Args>
concept spawnable = !std::is_same_v<std::remove_cvref_t<F>, runtime> && makes_task<std::decay_t<F>, std::decay_t<Args>...>;

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
template <class T>
join_handle<T> spawn_in(detail::placed_color c, task<T>&& coroutine) {
  detail::runtime_state& rt = detail::required_runtime("tartan::spawn_in", c.site);
  return detail::spawn_at(rt, c.where, c.site, std::move(coroutine));
}

/// The same from any thread, also before run().
template <class F, class... Args>
  requires detail::spawnable<F, Args...>
auto spawn_in(runtime& rt, detail::placed_color c, F&& f, Args&&... args) {
  return detail::spawn_at(rt.state(), c.where, c.site, std::forward<F>(f), std::forward<Args>(args)...);
}
template <class T>
join_handle<T> spawn_in(runtime& rt, detail::placed_color c, task<T>&& coroutine) {
  return detail::spawn_at(rt.state(), c.where, c.site, std::move(coroutine));
}

// A pack cannot be followed by the place of the call, which every report of the coroutine shows: so spawn spells out the first few numbers
// of arguments. spawn_in has the place from its color, and takes any number.

/// `spawn(f, args...)`: spawn_in, in the default color (contract 5).
///
/// Limits: three arguments; `spawn_in(color{}, f, args...)` is the same with any number of them.
template <class F>
  requires detail::spawnable<F>
auto spawn(F&& f, std::source_location site = std::source_location::current()) {
  return detail::spawn_at(detail::required_runtime("tartan::spawn", site), color{}, site, std::forward<F>(f));
}
template <class F, class A>
  requires detail::spawnable<F, A>
auto spawn(F&& f, A&& a, std::source_location site = std::source_location::current()) {
  return detail::spawn_at(detail::required_runtime("tartan::spawn", site), color{}, site, std::forward<F>(f), std::forward<A>(a));
}
template <class F, class A, class B>
  requires detail::spawnable<F, A, B>
auto spawn(F&& f, A&& a, B&& b, std::source_location site = std::source_location::current()) {
  return detail::spawn_at(detail::required_runtime("tartan::spawn", site), color{}, site, std::forward<F>(f), std::forward<A>(a),
                          std::forward<B>(b));
}
template <class F, class A, class B, class C>
  requires detail::spawnable<F, A, B, C>
auto spawn(F&& f, A&& a, B&& b, C&& c, std::source_location site = std::source_location::current()) {
  return detail::spawn_at(detail::required_runtime("tartan::spawn", site), color{}, site, std::forward<F>(f), std::forward<A>(a),
                          std::forward<B>(b), std::forward<C>(c));
}
template <class T>
join_handle<T> spawn(task<T>&& coroutine, std::source_location site = std::source_location::current()) {
  return detail::spawn_at(detail::required_runtime("tartan::spawn", site), color{}, site, std::move(coroutine));
}

/// The same from any thread, also before run().
template <class F>
  requires detail::spawnable<F>
auto spawn(runtime& rt, F&& f, std::source_location site = std::source_location::current()) {
  return detail::spawn_at(rt.state(), color{}, site, std::forward<F>(f));
}
template <class F, class A>
  requires detail::spawnable<F, A>
auto spawn(runtime& rt, F&& f, A&& a, std::source_location site = std::source_location::current()) {
  return detail::spawn_at(rt.state(), color{}, site, std::forward<F>(f), std::forward<A>(a));
}
template <class F, class A, class B>
  requires detail::spawnable<F, A, B>
auto spawn(runtime& rt, F&& f, A&& a, B&& b, std::source_location site = std::source_location::current()) {
  return detail::spawn_at(rt.state(), color{}, site, std::forward<F>(f), std::forward<A>(a), std::forward<B>(b));
}
template <class F, class A, class B, class C>
  requires detail::spawnable<F, A, B, C>
auto spawn(runtime& rt, F&& f, A&& a, B&& b, C&& c, std::source_location site = std::source_location::current()) {
  return detail::spawn_at(rt.state(), color{}, site, std::forward<F>(f), std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
}
template <class T>
join_handle<T> spawn(runtime& rt, task<T>&& coroutine, std::source_location site = std::source_location::current()) {
  return detail::spawn_at(rt.state(), color{}, site, std::move(coroutine));
}

template <class F>
auto runtime::spawn(F&& f, std::source_location site) {
  return tartan::spawn(*this, std::forward<F>(f), site);
}
template <class F, class A>
auto runtime::spawn(F&& f, A&& a, std::source_location site) {
  return tartan::spawn(*this, std::forward<F>(f), std::forward<A>(a), site);
}
template <class F, class A, class B>
auto runtime::spawn(F&& f, A&& a, B&& b, std::source_location site) {
  return tartan::spawn(*this, std::forward<F>(f), std::forward<A>(a), std::forward<B>(b), site);
}
template <class F, class A, class B, class C>
auto runtime::spawn(F&& f, A&& a, B&& b, C&& c, std::source_location site) {
  return tartan::spawn(*this, std::forward<F>(f), std::forward<A>(a), std::forward<B>(b), std::forward<C>(c), site);
}
template <class F, class... Args>
auto runtime::spawn_in(detail::placed_color c, F&& f, Args&&... args) {
  return tartan::spawn_in(*this, c, std::forward<F>(f), std::forward<Args>(args)...);
}

}  // namespace tartan
