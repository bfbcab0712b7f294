#pragma once
/// A timer object: one callback at a time, set, moved and canceled in one color.

#include <chrono>
#include <cstdint>
#include <source_location>
#include <tartan/core/color.h>
#include <tartan/core/runtime.h>
#include <tartan/time/deadline.h>
#include <tartan/time/timer_wait.h>
#include <utility>

namespace tartan {

/// Calls a function in its color when a time has come, unless it is canceled or set anew before.
///
/// Color: the one given; set and cancel are called in it, and so is the destructor if something is pending. While the runtime does not
/// run, any thread may. Checked: elsewhere the program ends, with the timer's color and the place.
/// Lifetime: must not outlive its runtime; once it was set, that ends the program with a message. Destroying it
/// cancels.
/// Limits: up to about 292 years; longer waits never end. Memory bounds the number of timers; a million pending ones are usual.
/// Cost: 192 bytes on the heap, from the first set on; set and cancel take the same time however many timers are pending.
class timer {
 public:
  /// Errors: color::unordered ends the program.
  explicit timer(runtime& rt, color c = {}, std::source_location site = std::source_location::current())
      : timer{rt.state(), c, site} {}

  /// In the runtime of the running event; without a color, in the default color (contract 5).
  ///
  /// Errors: outside of an event, or with color::unordered, the program ends with a message.
  explicit timer(color c = {}, std::source_location site = std::source_location::current())
      : timer{detail::required_runtime("tartan::timer", site), c, site} {}

  timer(timer&& other) noexcept : rt_{other.rt_}, color_{other.color_}, wait_{std::exchange(other.wait_, nullptr)} {}
  timer& operator=(timer&& other) noexcept;
  ~timer();

  /// Calls `f`, in the timer's color, when this much time has passed; what was set before is canceled.
  ///
  /// `f` is called with `result<void>`: success, or errc::canceled because the runtime stops. If it takes no argument it is
  /// called on success and destroyed, in the color, on stop.
  /// Errors: std::bad_alloc; then nothing is set.
  /// Order: timers of one color fire by deadline, ties in the order set; never before the time, and within 1 ms of it if a
  /// worker is idle and the color is free.
  template <class Rep, class Period, detail::timer_callback F>
  void set(std::chrono::duration<Rep, Period> after, F&& f,
           std::source_location site = std::source_location::current()) {
    fill(std::forward<F>(f), site);
    detail::arm_after(*rt_, wait_->node, detail::saturated_ns(after));
  }

  /// The same at a point of the runtime's clock (runtime::now); one that is past counts as the time of this call.
  template <class Duration, detail::timer_callback F>
  void set(std::chrono::time_point<std::chrono::steady_clock, Duration> at, F&& f,
           std::source_location site = std::source_location::current()) {
    fill(std::forward<F>(f), site);
    detail::arm(*rt_, wait_->node, detail::saturated_ns(at));
  }
  template <class... Args>
    requires detail::ends_in_no_timer_callback<Args...>
  detail::needs_a_callable_that_takes_nothing_or_a_result set(Args&&... args) = delete;

  /// Calls it off: what was set will not be called, and is destroyed here. Gives whether anything was pending.
  ///
  /// Exact: also if the time has passed and the call is already queued in this color.
  bool cancel(std::source_location site = std::source_location::current()) noexcept;

  /// Whether something is set and has neither been called nor canceled.
  [[nodiscard]] bool pending() const noexcept { return wait_ != nullptr && wait_->is(detail::timer_wait::waiting); }

  [[nodiscard]] color where() const noexcept { return color_; }

 private:
  timer(detail::runtime_state& rt, color c, std::source_location site);

  /// Leaves a wait that is not in use.
  void renew(std::source_location site);
  void let_go() noexcept;

  template <class F>
  void fill(F&& f, std::source_location site) {
    renew(site);
    detail::fill_timer_wait(*wait_, std::forward<F>(f), site);
  }

  detail::runtime_state* rt_;
  color color_;
  detail::timer_wait* wait_ = nullptr;
};

}  // namespace tartan
