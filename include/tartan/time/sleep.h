#pragma once
/// Waiting for a time.

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/time/deadline.h>
#include <tartan/time/timer_node.h>

namespace tartan {

namespace detail {

/// Waits for a timer of its own.
class sleep_awaiter : public operation {
 public:
  sleep_awaiter(std::uint64_t ns, bool from_now, bool ends_at_shutdown = false) noexcept
      : ns_{ns}, from_now_{from_now}, ends_at_shutdown_{ends_at_shutdown} {}
  sleep_awaiter(const sleep_awaiter&) = delete;
  sleep_awaiter& operator=(const sleep_awaiter&) = delete;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return begin(self, self.promise().in());
  }
  result<> await_resume() const noexcept { return canceled_ ? result<>{errc::canceled} : result<>{}; }

  bool cancel() noexcept final;
  void shutdown_begins(chain& waiter) noexcept final;
  [[nodiscard]] const char* name() const noexcept override { return "a time"; }

 protected:
  ~sleep_awaiter() = default;
  [[nodiscard]] bool canceled() const noexcept { return canceled_; }

 private:
  struct events;
  bool begin(std::coroutine_handle<> self, chain& sleeper) noexcept;

  timer_node node_;
  chain* sleeper_ = nullptr;
  std::uint64_t ns_;
  bool from_now_;
  bool ends_at_shutdown_;
  bool canceled_ = false;
};

class final_sleep_awaiter final : public sleep_awaiter {
 public:
  using sleep_awaiter::sleep_awaiter;
};

class [[nodiscard]] sleep_operation {
 public:
  sleep_operation(std::uint64_t ns, bool from_now) noexcept : ns_{ns}, from_now_{from_now} {}
  auto operator co_await() const noexcept { return final_sleep_awaiter{ns_, from_now_}; }

 private:
  std::uint64_t ns_;
  bool from_now_;
};

}  // namespace detail

/// `co_await sleep(50ms)`: waits that long by the runtime's clock.
///
/// Errors: errc::canceled, at once, if the coroutine is asked to end or the runtime stops.
/// Order: as a timer of the coroutine's color; never early.
/// Cost: 256 bytes in the frame; no allocation.
template <class Rep, class Period>
[[nodiscard]] auto sleep(std::chrono::duration<Rep, Period> duration) noexcept {
  return detail::sleep_operation{detail::saturated_ns(duration), true};
}

/// The same until a point of the runtime's clock (runtime::now).
template <class Duration>
[[nodiscard]] auto sleep_until(std::chrono::time_point<std::chrono::steady_clock, Duration> at) noexcept {
  return detail::sleep_operation{detail::saturated_ns(at), false};
}

}  // namespace tartan
