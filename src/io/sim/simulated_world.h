#pragma once
/// A simulated machine: its clock and its network.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <tartan/io/simulation.h>
#include <vector>

#include "core/poller.h"
#include "io/sim/simulated_network.h"

namespace tartan::detail {

/// Time stands still while a worker is awake, and jumps to the next deadline or arrival when all sleep.
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
  [[nodiscard]] io_system* sockets() noexcept override { return &network_; }

  [[nodiscard]] simulated_network& network() noexcept { return network_; }

  static constexpr std::uint64_t start_ns = 1'000'000'000;

 private:
  struct sleeper {
    wake_token* token = nullptr;
    std::uint64_t until_ns = never_ns;
    bool sleeps = true;
  };

  bool jump() noexcept;
  void stir() noexcept;

  std::mutex lock_;  ///< guards all but the clock; taken before the network's, never after
  std::condition_variable changed_;
  std::vector<sleeper> sleepers_;
  real_memory::atomic<std::uint64_t> now_ns_{start_ns};  ///< release by jump; pairs with now_ns()
  simulated_network network_;
};

}  // namespace tartan::detail
