#pragma once
/// The real clock, and real sleep: what a runtime uses unless its options name another poller.

#include <cstdint>
#include <memory>

#include "core/poller.h"

namespace tartan::detail {

/// CLOCK_MONOTONIC and FUTEX_WAIT on the worker's own token; once there are descriptors, a wait for their readiness instead.
///
/// A worker chooses its seat before it says that it sleeps, so that whoever claims it knows where to wake it (known-seat).
/// Cost: a sleep that ends by a wake-up takes some 17 us, the waker pays 2.3 us; a token that changed before costs one system call.
class futex_poller final : public poller {
 public:
  void attach(unsigned workers) override;
  [[nodiscard]] std::uint64_t now_ns() noexcept override;
  void approach(unsigned worker) noexcept override;
  slept sleep(unsigned worker, wake_token& token, sleep_limit limit) noexcept override;
  void wake(unsigned worker, wake_token& token) noexcept override;
  void call_again() noexcept override;
  void deliver(unsigned worker) noexcept override;
  bool harvest(unsigned worker) noexcept override;
  [[nodiscard]] bool takes_source() const noexcept override { return true; }
  void take_source(readiness_source& source) noexcept override;

 private:
  slept sleep_by_futex(wake_token& token, sleep_limit limit) noexcept;

  /// Release by take_source; pairs with approach and harvest.
  real_memory::atomic<readiness_source*> source_{nullptr};
  /// Where each worker sleeps; null: on its token. Its own, and of who has claimed it asleep: ordered by the token.
  struct alignas(64) seat {
    readiness_source* in = nullptr;
  };
  std::unique_ptr<seat[]> seats_;
};

}  // namespace tartan::detail
