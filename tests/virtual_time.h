#pragma once
/// A clock for tests: it stands still while a worker works or a blocking job is under way, and jumps to the next deadline when all workers
/// sleep. A test of an hour's wait takes no time, and its times are exact.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/sleep/poller.h"

namespace tartan::test {

/// Give it to one runtime as options.poller; it must outlive that runtime.
///
/// Threads: any. A worker counts as asleep until the runtime is about to start it; but worker 0 is whoever calls run(), and awake
/// unless it sleeps here, so that no time passes between runs.
class virtual_poller final : public detail::poller {
 public:
  explicit virtual_poller(std::uint64_t start_ns = 1'000'000'000) : now_ns_{start_ns} {}

  void attach(unsigned workers) override {
    const std::lock_guard hold{lock_};
    sleepers_.assign(workers, {});
    sleepers_[0] = awake;
  }

  void starts(unsigned worker) noexcept override {
    const std::lock_guard hold{lock_};
    sleepers_[worker] = awake;
  }

  [[nodiscard]] std::uint64_t now_ns() noexcept override { return now_ns_.load(std::memory_order_acquire); }
  [[nodiscard]] std::chrono::steady_clock::time_point now() noexcept {
    return std::chrono::steady_clock::time_point{std::chrono::nanoseconds{now_ns()}};
  }

  /// Moves the clock by hand: between runs, from an event or a blocking job.
  void advance(std::chrono::nanoseconds by) {
    const std::lock_guard hold{lock_};
    move_to(now_ns() + static_cast<std::uint64_t>(by.count()));
  }

  /// How often the clock has jumped.
  [[nodiscard]] std::uint64_t jumps() {
    const std::lock_guard hold{lock_};
    return jumps_;
  }

  detail::slept sleep(unsigned worker, detail::wake_token& token, detail::sleep_limit limit) noexcept override {
    std::unique_lock hold{lock_};
    const auto patience_ends = end_of_patience(limit.at_most_ns);
    sleepers_[worker] = {&token, limit.until_ns};
    while (is_asleep(token) && now_ns() < limit.until_ns) {
      if (jump()) continue;
      if (limit.at_most_ns == detail::never_ns) {
        changed_.wait(hold);
      } else if (changed_.wait_until(hold, patience_ends) == std::cv_status::timeout) {
        break;
      }
    }
    sleepers_[worker] = awake;
    return detail::slept::alone;
  }

  void wake(unsigned /*worker*/, detail::wake_token& /*token*/) noexcept override {
    const std::lock_guard hold{lock_};
    changed_.notify_all();
  }

  bool harvest(unsigned worker) noexcept override {
    const std::lock_guard hold{lock_};
    sleepers_[worker] = awake;
    return false;
  }

  /// From now on the clock jumps also while a blocking job is under way: for jobs that wait for a time of it.
  void jump_over_jobs() {
    const std::lock_guard hold{lock_};
    jumps_over_jobs_ = true;
  }

  void job_begins() noexcept override {
    const std::lock_guard hold{lock_};
    ++jobs_;
  }
  void job_ended() noexcept override {
    const std::lock_guard hold{lock_};
    if (--jobs_ == 0) changed_.notify_all();
  }

 private:
  using real_time = std::chrono::steady_clock::time_point;

  /// What a worker waits for; before it is started, nothing and for ever.
  struct sleeper {
    detail::wake_token* token = nullptr;
    std::uint64_t until_ns = detail::never_ns;
    bool sleeps = true;
  };
  static constexpr sleeper awake{nullptr, 0, false};

  static bool is_asleep(const detail::wake_token& token) noexcept {
    return token.load(std::memory_order_acquire) == detail::token_asleep;
  }

  static real_time end_of_patience(std::uint64_t at_most_ns) noexcept {
    const std::uint64_t an_hour_ns = 3'600'000'000'000;
    return std::chrono::steady_clock::now() + std::chrono::nanoseconds{std::min(at_most_ns, an_hour_ns)};
  }

  /// Jumps to the earliest time that a sleeper waits for, if all sleep. Gives whether it did.
  bool jump() noexcept {
    if (jobs_ != 0 && !jumps_over_jobs_) return false;
    std::uint64_t earliest = detail::never_ns;
    for (const sleeper& each : sleepers_) {
      // A token that was changed is a worker's that will be awake in a moment.
      if (!each.sleeps || (each.token != nullptr && !is_asleep(*each.token))) return false;
      earliest = std::min(earliest, each.until_ns);
    }
    if (earliest == detail::never_ns || earliest <= now_ns()) return false;
    move_to(earliest);
    ++jumps_;
    return true;
  }

  void move_to(std::uint64_t to_ns) noexcept {
    now_ns_.store(to_ns, std::memory_order_release);
    changed_.notify_all();
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<sleeper> sleepers_;
  std::uint64_t jumps_ = 0;
  std::size_t jobs_ = 0;
  bool jumps_over_jobs_ = false;
  std::atomic<std::uint64_t> now_ns_;
};

}  // namespace tartan::test
