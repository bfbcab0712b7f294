#pragma once
/// A simulated machine: its clock and its network.

#include <cstdint>
#include <mutex>
#include <tartan/io/simulation.h>
#include <vector>

#include "core/sleep/poller.h"
#include "io/sim/simulated_network.h"

namespace tartan::detail {

/// Time stands still while a worker is awake or a blocking job is on its way, and jumps to the next deadline or arrival when all sleep.
///
/// Threads: any.
class simulated_world final : public poller {
 public:
  explicit simulated_world(const simulation_options& with);

  void attach(unsigned workers) override;
  void starts(unsigned worker) noexcept override;
  [[nodiscard]] std::uint64_t now_ns() noexcept override { return now_ns_.load(std::memory_order_acquire); }  // pairs with jump
  slept sleep(unsigned worker, wake_token& token, sleep_limit limit) noexcept override;
  void wake(unsigned worker, wake_token& token) noexcept override;
  void deliver(unsigned worker) noexcept override;
  bool harvest(unsigned worker) noexcept override;
  void job_begins() noexcept override { count_jobs(1); }
  void job_ended() noexcept override { count_jobs(-1); }
  [[nodiscard]] io_system* sockets() noexcept override { return &network_; }

  [[nodiscard]] simulated_network& network() noexcept { return network_; }

  static constexpr std::uint64_t start_ns = 1'000'000'000;

 private:
  struct sleeper {
    wake_token* token = nullptr;
    std::uint64_t until_ns = never_ns;
    bool sleeps = true;
  };

  void count_jobs(int more) noexcept;
  [[nodiscard]] bool held_by_jobs() const noexcept;
  bool jump() noexcept;
  void ring() noexcept;
  void await_ring(std::uint32_t after, std::uint64_t end_ns) noexcept;

  const std::uint64_t longest_job_ns_;
  std::mutex lock_;  ///< guards the next three; taken before the network's, never after
  std::vector<sleeper> sleepers_;
  std::size_t jobs_ = 0;
  std::uint64_t jobs_hold_until_ns_ = 0;  ///< real time
  /// How often sleepers were told to look again. Release by ring; pairs with sleep.
  real_memory::atomic<std::uint32_t> rings_{0};
  real_memory::atomic<std::uint64_t> now_ns_{start_ns};  ///< release by jump; pairs with now_ns()
  simulated_network network_;
};

}  // namespace tartan::detail
