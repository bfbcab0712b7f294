#pragma once
/// The real clock, and real sleep: what a runtime uses unless its options name another poller.

#include <cstdint>
#include <memory>
#include <mutex>

#include "core/sleep/poller.h"
#include "core/sleep/guard_bed.h"

namespace tartan::detail {

/// How much of a sleep of `left_ns` to ask of epoll_wait, select or poll, which end late by a part of it: 0.1 %, 0.5 % in a process whose
/// priority was lowered, 100 ms at most, whatever PR_SET_TIMERSLACK says. A long sleep is asked for in legs, whose last one has hardly any.
[[nodiscard]] constexpr std::uint64_t leg_of(std::uint64_t left_ns) noexcept {
  constexpr std::uint64_t shortest_ns = 40'000'000;  // half a percent: 0.2 ms
  return left_ns <= shortest_ns || left_ns == never_ns ? left_ns : left_ns - left_ns / 128;
}

/// CLOCK_MONOTONIC and FUTEX_WAIT on the worker's own token; for one worker a wait for readiness instead, for another one a wait for an alarm.
///
/// A worker chooses its bed before it says that it sleeps, so that whoever claims it knows where to wake it (known-bed), and
/// looks after that whether it would still choose the same.
/// Cost: a sleep that ends by a wake-up takes some 17 us, the waker pays 2.3 us; a token that changed before costs one system call.
class futex_poller final : public poller {
 public:
  /// Where a worker sleeps that waits for nothing outside. A pipe, with poll(): libasync-mp's way, for its scheduler; two descriptors and
  /// two more system calls for each sleep.
  enum class seat_kind : std::uint8_t { futex, pipe };

  explicit futex_poller(seat_kind kind = seat_kind::futex) noexcept : kind_{kind} {}
  ~futex_poller() override;

  /// Errors: std::system_error if there is no pipe to be had.
  void attach(unsigned workers) override;
  [[nodiscard]] std::uint64_t now_ns() noexcept override;
  void approach(unsigned worker, bed where) noexcept override;
  void set_alarm(std::uint64_t at_ns) noexcept override;
  [[nodiscard]] bool is_seated(unsigned worker) const noexcept override;
  slept sleep(unsigned worker, wake_token& token, sleep_limit limit) noexcept override;
  void wake(unsigned worker, wake_token& token) noexcept override;
  void deliver(unsigned worker) noexcept override;
  bool set_aside(unsigned worker) noexcept override;
  [[nodiscard]] bool has_aside() const noexcept override;
  bool harvest(unsigned worker) noexcept override;
  [[nodiscard]] bool may_have_left(unsigned worker) const noexcept override;
  [[nodiscard]] bool saw_call(unsigned worker) const noexcept override;
  void forget_call() noexcept override;
  [[nodiscard]] bool finds_in_sleep() const noexcept override { return !has_aside(); }
  [[nodiscard]] int descriptor() const noexcept override;
  [[nodiscard]] bool has_source() const noexcept override { return source() != nullptr; }
  [[nodiscard]] bool takes_source() const noexcept override { return true; }
  void make_guard_bed() override;
  void take_source(readiness_source& source) noexcept override;

 private:
  slept sleep_by_futex(wake_token& token, sleep_limit limit) noexcept;
  slept sleep_by_pipe(unsigned worker, wake_token& token, sleep_limit limit) noexcept;
  slept sleep_at_source(unsigned worker, wake_token& token, sleep_limit limit) noexcept;
  slept sleep_as_guard(wake_token& token, sleep_limit limit) noexcept;
  void close_pipes() noexcept;

  [[nodiscard]] readiness_source* source() const noexcept { return source_.load(std::memory_order_acquire); }  // pairs with take_source

  /// Release by take_source; pairs with source().
  real_memory::atomic<readiness_source*> source_{nullptr};
  /// Where each worker sleeps. Written by the worker before it says that it sleeps, read by who has claimed it after
  /// that: ordered by the token, but one who was slow may read it when the worker has come by itself and goes to sleep again.
  struct alignas(64) seat {
    real_memory::atomic<bed> where{bed::token};
    real_memory::atomic<readiness_source*> known{nullptr};  ///< what there was to wait for when it chose
    int pipe[2] = {-1, -1};  ///< constant once attached
  };
  std::mutex guard_lock_;             ///< held by a thread that makes it
  std::unique_ptr<guard_bed> guard_;  ///< made before there is a source, and so before anybody sleeps there
  seat_kind kind_;
  unsigned workers_ = 0;
  std::unique_ptr<seat[]> seats_;
};

}  // namespace tartan::detail
