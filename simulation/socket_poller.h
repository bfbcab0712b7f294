#pragma once
// Readiness of sockets for the simulated workers, and where they sleep for it.

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "core/sleep/poller.h"
#include "simulation/machine.h"
#include "simulation/sequencer.h"

namespace simulation {

/// As futex_poller with one edge-triggered epoll descriptor, with the prices of their system calls: who takes what is ready, and
/// when, is decided by the runtime and its policy. Each edge wakes the worker that sleeps in epoll.
///
/// Otherwise than there: no bell among the edges tells that one that it is called.
/// Threads: a core, or what happens outside of all.
class socket_poller final : public tartan::detail::poller {
 public:
  /// A descriptor, as the workload numbers them.
  using mark = std::uint32_t;

  /// `posts`: the workload's: gives whether it has posted an event.
  socket_poller(const constants& from, std::function<bool(mark)> posts);

  /// There is something to read here from now on. At that time: by who knows it.
  void edge(mark at, picoseconds now) noexcept;
  /// Time that all workers together have slept until now.
  [[nodiscard]] picoseconds slept(picoseconds now) const noexcept;

  void attach(unsigned workers) override { workers_.resize(workers); }
  [[nodiscard]] std::uint64_t now_ns() noexcept override;
  void approach(unsigned worker, tartan::detail::bed where) noexcept override { workers_[worker].sleeps = where; }
  [[nodiscard]] bool has_source() const noexcept override { return true; }
  void set_alarm(std::uint64_t at_ns) noexcept override;
  tartan::detail::slept sleep(unsigned worker, tartan::detail::wake_token& token, tartan::detail::sleep_limit limit) noexcept override;
  void wake(unsigned worker, tartan::detail::wake_token& token) noexcept override;
  void deliver(unsigned worker) noexcept override { static_cast<void>(post(worker)); }
  bool set_aside(unsigned worker) noexcept override;
  bool harvest(unsigned worker) noexcept override;
  [[nodiscard]] bool may_have_left(unsigned worker) const noexcept override { return workers_[worker].full; }
  [[nodiscard]] bool finds_in_sleep() const noexcept override { return true; }
  [[nodiscard]] int descriptor() const noexcept override { return 0; }  // there is one; no other loop waits for it

 private:
  struct taker {
    tartan::detail::bed sleeps = tartan::detail::bed::token;
    bool full = false;  ///< has taken as much as one takes at once
    std::vector<mark> haul;
    picoseconds slept = 0;
    picoseconds since = 0;  ///< 0: it is awake
  };

  [[nodiscard]] bool collect(unsigned worker) noexcept;
  bool post(unsigned worker) noexcept;
  void doze(unsigned worker, std::uint64_t end_ns) noexcept;

  const picoseconds wait_;
  const picoseconds each_;
  const std::function<bool(mark)> posts_;
  std::vector<taker> workers_;
  std::deque<mark> ready_;
  std::vector<bool> is_ready_;      ///< by mark
  unsigned waiter_ = ~0u;  ///< who sleeps in epoll
  std::uint64_t alarm_ns_ = tartan::detail::never_ns;
  unsigned guard_ = ~0u;   ///< who sleeps at the alarm
};

}  // namespace simulation
