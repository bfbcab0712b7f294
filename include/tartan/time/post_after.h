#pragma once
/// Posting for later, without a timer object: cannot be canceled.

#include <chrono>
#include <cstdint>
#include <source_location>
#include <tartan/core/color.h>
#include <tartan/core/runtime.h>
#include <tartan/time/deadline.h>
#include <tartan/time/timer_wait.h>
#include <type_traits>
#include <utility>

namespace tartan {

namespace detail {

/// Gives null, with no wait made, if the runtime was stopped and the caller is a foreign thread.
[[nodiscard]] timer_wait* new_bare_wait(runtime_state& rt, color c, std::source_location site);

/// Arms a wait at `when`: a duration or a point in time.
template <class When, class F>
bool post_later(runtime_state& rt, color c, When when, F&& f, std::source_location site) {
  timer_wait* const wait = new_bare_wait(rt, c, site);
  if (wait == nullptr) {
    [[maybe_unused]] const std::decay_t<F> destroyed_here{std::forward<F>(f)};
    return false;
  }
  try {
    fill_timer_wait(*wait, std::forward<F>(f), site);
  } catch (...) {
    free_timer_wait(*wait);
    throw;
  }
  if constexpr (requires { when.time_since_epoch(); }) {
    return arm(rt, wait->node, saturated_ns(when));
  } else {
    return arm_after(rt, wait->node, saturated_ns(when));
  }
}

}  // namespace detail

/// Hands a callable to the runtime of the running event, to be run in a color when this much time has passed; without a color,
/// in the default color (contract 5).
///
/// The callable may take `result<void>`: success, or errc::canceled because the runtime stops. If it takes no argument it is run
/// on success and destroyed, in its color, on stop.
/// Errors: outside of an event the program ends with a message; so it does for color::unordered. std::bad_alloc.
/// Limits: as of timer.
/// Order: in one color by deadline, ties in the order of the calls; not ordered with posts. Never early.
/// Cost: 192 bytes on the heap until it has run.
template <class Rep, class Period, detail::timer_callback F>
bool post_after(color c, std::chrono::duration<Rep, Period> after, F&& f,
                std::source_location site = std::source_location::current()) {
  return detail::post_later(detail::required_runtime("tartan::post_after", site), c, after, std::forward<F>(f), site);
}
template <class Rep, class Period, detail::timer_callback F>
bool post_after(std::chrono::duration<Rep, Period> after, F&& f,
                std::source_location site = std::source_location::current()) {
  return post_after(color{}, after, std::forward<F>(f), site);
}

/// The same into any runtime.
///
/// Threads: any, at any time, also before run().
/// Errors: false, and the callable is destroyed here, after stop() from a foreign thread. True: it will be called, or destroyed when
/// the runtime ends; errc::canceled if stop() comes while this is called.
template <class Rep, class Period, detail::timer_callback F>
bool post_after(runtime& rt, color c, std::chrono::duration<Rep, Period> after, F&& f,
                std::source_location site = std::source_location::current()) {
  return detail::post_later(rt.state(), c, after, std::forward<F>(f), site);
}
template <class Rep, class Period, detail::timer_callback F>
bool post_after(runtime& rt, std::chrono::duration<Rep, Period> after, F&& f,
                std::source_location site = std::source_location::current()) {
  return post_after(rt, color{}, after, std::forward<F>(f), site);
}

/// As post_after, at a point of the runtime's clock (runtime::now); one that is past counts as the time of this call.
template <class Duration, detail::timer_callback F>
bool post_at(color c, std::chrono::time_point<std::chrono::steady_clock, Duration> at, F&& f,
             std::source_location site = std::source_location::current()) {
  return detail::post_later(detail::required_runtime("tartan::post_at", site), c, at, std::forward<F>(f), site);
}
template <class Duration, detail::timer_callback F>
bool post_at(std::chrono::time_point<std::chrono::steady_clock, Duration> at, F&& f,
             std::source_location site = std::source_location::current()) {
  return post_at(color{}, at, std::forward<F>(f), site);
}
template <class Duration, detail::timer_callback F>
bool post_at(runtime& rt, color c, std::chrono::time_point<std::chrono::steady_clock, Duration> at, F&& f,
             std::source_location site = std::source_location::current()) {
  return detail::post_later(rt.state(), c, at, std::forward<F>(f), site);
}
template <class Duration, detail::timer_callback F>
bool post_at(runtime& rt, std::chrono::time_point<std::chrono::steady_clock, Duration> at, F&& f,
             std::source_location site = std::source_location::current()) {
  return post_at(rt, color{}, at, std::forward<F>(f), site);
}

template <class... Args>
  requires detail::ends_in_no_timer_callback<Args...>
detail::needs_a_callable_that_takes_nothing_or_a_result post_after(Args&&... args) = delete;
template <class... Args>
  requires detail::ends_in_no_timer_callback<Args...>
detail::needs_a_callable_that_takes_nothing_or_a_result post_at(Args&&... args) = delete;

}  // namespace tartan
