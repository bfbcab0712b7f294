#pragma once
/// Ticks, for coroutines.

#include <chrono>
#include <cstdint>
#include <source_location>
#include <tartan/core/event.h>
#include <tartan/core/result.h>
#include <tartan/time/deadline.h>
#include <tartan/time/sleep.h>

namespace tartan {

namespace detail {

[[nodiscard]] std::uint64_t clock_of(runtime_state& rt) noexcept;
void check_period(std::uint64_t period_ns, std::source_location site) noexcept;

/// When the next tick is.
struct tick_state {
  runtime_state* rt;
  std::uint64_t period_ns;
  std::uint64_t next_ns;

  /// The time has come: how many ticks have passed, and when the next one is.
  std::uint64_t pass() noexcept;
};

class tick_awaiter final : public sleep_awaiter {
 public:
  explicit tick_awaiter(tick_state& of) noexcept : sleep_awaiter{of.next_ns, false, true}, of_{of} {}
  [[nodiscard]] const char* name() const noexcept override { return "a tick of an interval"; }
  result<std::uint64_t> await_resume() noexcept {
    if (canceled()) return errc::canceled;
    return of_.pass();
  }

 private:
  tick_state& of_;
};

class [[nodiscard]] tick_operation {
 public:
  explicit tick_operation(tick_state& of) noexcept : of_{&of} {}
  auto operator co_await() const noexcept { return tick_awaiter{*of_}; }

 private:
  tick_state* of_;
};

}  // namespace detail

/// `interval every{10ms}; while (auto ticks = co_await every.next()) ...`: the first tick comes one period after this object was made.
///
/// One who comes late is not given the missed ticks one by one: next() says how many there were, and keeps to the grid.
/// Color: its coroutine's. Lifetime: outlives the co_await of its next().
class interval {
 public:
  /// Errors: a period of zero or less, or no event around it, ends the program with a message.
  template <class Rep, class Period>
  explicit interval(std::chrono::duration<Rep, Period> period, std::source_location site = std::source_location::current())
      : state_{&detail::required_runtime("tartan::interval", site), detail::saturated_ns(period), 0} {
    detail::check_period(state_.period_ns, site);
    state_.next_ns = detail::saturated_deadline_ns(detail::clock_of(*state_.rt), state_.period_ns);
  }

  /// Waits for the next tick, if it is still to come. Gives the number of ticks since the last call: 1, or more if some were missed.
  ///
  /// Errors: errc::canceled if the coroutine is asked to end, or the runtime stops or shuts down: ticks have no end of their own.
  [[nodiscard]] auto next() noexcept { return detail::tick_operation{state_}; }

 private:
  detail::tick_state state_;
};

}  // namespace tartan
