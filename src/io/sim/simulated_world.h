#pragma once
/// A simulated machine: its clock and its network.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <random>
#include <span>
#include <tartan/io/simulation.h>
#include <vector>

#include "core/sleep/poller.h"
#include "io/sim/simulated_network.h"

namespace tartan::detail {

/// Time stands still while a worker is awake or a blocking job is on its way, and jumps to the next deadline or arrival when all sleep. A blocking job
/// begins when all sleep and no other one runs.
///
/// Threads: any.
class simulated_world final : public poller {
 public:
  explicit simulated_world(const simulation_options& with);

  void attach(unsigned workers) override;
  void starts(unsigned worker) noexcept override;
  void leaves(unsigned worker) noexcept override;
  [[nodiscard]] std::uint64_t now_ns() noexcept override { return now_ns_.load(std::memory_order_acquire); }  // pairs with jump
  slept sleep(unsigned worker, wake_token& token, sleep_limit limit) noexcept override;
  void wake(unsigned worker, wake_token& token) noexcept override;
  void deliver(unsigned worker) noexcept override;
  bool harvest(unsigned worker) noexcept override;
  void job_begins() noexcept override { count_jobs(1); }
  void job_ended() noexcept override { count_jobs(-1); }
  bool await_job_turn() noexcept override;
  void end_job_turn() noexcept override;
  [[nodiscard]] bool has_chance() const noexcept override { return true; }
  void draw(std::span<std::byte> into) noexcept override;
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
  [[nodiscard]] std::uint64_t earliest_of_all_asleep() noexcept;
  void give_turn() noexcept;
  bool jump() noexcept;
  void ring() noexcept;
  void await_ring(std::uint32_t after, std::uint64_t end_ns) noexcept;

  const std::uint64_t longest_job_ns_;
  std::mutex lock_;  ///< guards what follows up to rings_; taken before the network's, never after
  std::vector<sleeper> sleepers_;
  std::size_t jobs_ = 0;                  ///< that were accepted and have not ended
  std::size_t jobs_running_ = 0;          ///< more than one only if the first has taken too long
  bool turn_is_free_ = false;             ///< given, and not taken yet
  std::uint64_t jobs_hold_until_ns_ = 0;  ///< real time
  std::condition_variable turn_came_;
  std::mt19937_64 chance_;
  /// How often sleepers were told to look again. Release by ring; pairs with sleep.
  real_memory::atomic<std::uint32_t> rings_{0};
  real_memory::atomic<std::uint64_t> now_ns_{start_ns};  ///< release by jump; pairs with now_ns()
  simulated_network network_;
};

}  // namespace tartan::detail
