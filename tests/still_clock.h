#pragma once
/// A clock for tests that moves only by hand, and shows who sleeps for how long: whether a runtime that idles would ever do anything.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/sleep/poller.h"

namespace tartan::test {

/// Give it to one runtime as options.poller; it must outlive that runtime. A watcher's patience is over at once. Threads: any.
class still_poller final : public detail::poller {
 public:
  void attach(unsigned workers) override { sleepers_.resize(workers); }

  [[nodiscard]] std::uint64_t now_ns() noexcept override {
    const std::lock_guard hold{lock_};
    return now_ns_;
  }

  void advance(std::chrono::nanoseconds by) {
    const std::lock_guard hold{lock_};
    now_ns_ += static_cast<std::uint64_t>(by.count());
    changed_.notify_all();
  }

  detail::slept sleep(unsigned worker, detail::wake_token& token, detail::sleep_limit limit) noexcept override {
    std::unique_lock hold{lock_};
    if (limit.at_most_ns != detail::never_ns) {
      watches_.push_back(limit.at_most_ns);
      hold.unlock();
      std::this_thread::yield();
      return detail::slept::alone;
    }
    sleepers_[worker] = {&token, limit.until_ns};
    changed_.wait(hold, [&] { return !is_asleep(token) || now_ns_ >= limit.until_ns; });
    sleepers_[worker] = {};
    return detail::slept::alone;
  }

  void wake(unsigned /*worker*/, detail::wake_token& /*token*/) noexcept override {
    const std::lock_guard hold{lock_};
    changed_.notify_all();
  }

  bool harvest(unsigned worker) noexcept override {
    {
      const std::lock_guard hold{lock_};
      ++harvests_;
    }
    return on_harvest && on_harvest(worker);
  }

  /// Called at each look outside, on the thread of the worker that looks; gives whether it has posted anything. Set it while nobody runs.
  std::function<bool(unsigned)> on_harvest;

  /// Whether every worker sleeps: then none does anything until the clock is moved or somebody calls the runtime.
  [[nodiscard]] bool all_asleep() {
    const std::lock_guard hold{lock_};
    return std::all_of(sleepers_.begin(), sleepers_.end(), [&](const sleeper& each) {
      return each.token != nullptr && is_asleep(*each.token) && now_ns_ < each.until_ns;
    });
  }

  /// When the first of them will be awake by itself.
  [[nodiscard]] std::uint64_t first_awake_ns() {
    const std::lock_guard hold{lock_};
    return std::min_element(sleepers_.begin(), sleepers_.end(), [](const sleeper& a, const sleeper& b) { return a.until_ns < b.until_ns; })
        ->until_ns;
  }

  /// Whether some worker sleeps that will be awake by itself.
  [[nodiscard]] bool any_asleep_for_a_time() {
    const std::lock_guard hold{lock_};
    return std::any_of(sleepers_.begin(), sleepers_.end(), [](const sleeper& each) {
      return each.token != nullptr && is_asleep(*each.token) && each.until_ns != detail::never_ns;
    });
  }

  /// Whether all but worker 0 sleep until they are called.
  [[nodiscard]] bool others_asleep_until_called() {
    const std::lock_guard hold{lock_};
    return std::all_of(sleepers_.begin() + 1, sleepers_.end(), [](const sleeper& each) {
      return each.token != nullptr && is_asleep(*each.token) && each.until_ns == detail::never_ns;
    });
  }

  [[nodiscard]] std::uint64_t harvests() {
    const std::lock_guard hold{lock_};
    return harvests_;
  }

  /// For how long each watcher would have slept, in the order of the sleeps.
  [[nodiscard]] std::vector<std::uint64_t> watches_ns() {
    const std::lock_guard hold{lock_};
    return watches_;
  }

 private:
  /// What a worker waits for; a null token: it is awake.
  struct sleeper {
    detail::wake_token* token = nullptr;
    std::uint64_t until_ns = 0;
  };

  static bool is_asleep(const detail::wake_token& token) noexcept {
    return token.load(std::memory_order_acquire) == detail::token_asleep;
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<sleeper> sleepers_;
  std::uint64_t now_ns_ = 1'000'000'000;
  std::uint64_t harvests_ = 0;
  std::vector<std::uint64_t> watches_;
};

}  // namespace tartan::test
