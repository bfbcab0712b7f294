#pragma once
// What one would write by hand: threads, one mutex, one deque of the colors that have something to do, and a deque of events per color.

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <source_location>
#include <thread>
#include <utility>
#include <vector>

#include "bench/harness/loop_event.h"
#include "bench/harness/request.h"

namespace bench {

/// A thread takes the first color, runs one event of it and puts it behind the others if it has more.
template <class Event>
class mutex_pool {
 public:
  static constexpr bool by_value = false;

  explicit mutex_pool(const lanes_setup& setup) : workers_{setup.workers} { add(setup.lanes); }

  void add(std::size_t lanes) { lanes_.resize(lanes_.size() + lanes); }

  void post(std::size_t lane, const Event& e, std::source_location site = std::source_location::current()) {
    post_to(lanes_[lane], loop_event{e, site});
  }

  void add_to_batch(std::size_t lane, const Event& e, std::source_location site = std::source_location::current()) {
    batch_.emplace_back(&lanes_[lane], loop_event{e, site});
  }
  /// Under one lock.
  void post_batch() {
    std::size_t ready = 0;
    {
      const std::lock_guard hold{lock_};
      for (const auto& [to, e] : batch_) ready += append(*to, e) ? 1 : 0;
    }
    batch_.clear();
    for (std::size_t n = std::min<std::size_t>(ready, workers_); n > 0; --n) filled_.notify_one();
  }

  /// Three events in a color of their own, which ends with the last of them.
  void post_fresh(const Event& e, std::source_location site = std::source_location::current()) {
    color* made = new color;
    for (int i = 0; i < 3; ++i) post_to(*made, loop_event{e, site});
    const std::lock_guard hold{lock_};
    made->let_go = true;
    if (!made->busy) delete made;
  }

  template <class F>
  void run(F start, std::source_location site = std::source_location::current()) {
    color first;
    post_to(first, loop_event{start, site});
    ended_ = true;
    std::vector<std::thread> threads = start_threads();
    for (std::thread& each : threads) each.join();
    --ran_;  // `start` is none of the workload's
  }

  template <class F>
  void run_fed(F feed) {
    std::vector<std::thread> threads = start_threads();
    feed();
    {
      const std::lock_guard hold{lock_};
      ended_ = true;
    }
    filled_.notify_all();
    for (std::thread& each : threads) each.join();
  }

  [[nodiscard]] std::size_t ran() const { return ran_; }

 private:
  struct color {
    std::deque<loop_event> events;
    bool busy = false;    ///< is among the ready ones, or runs
    bool let_go = false;  ///< nobody will post to it again
  };

  std::vector<std::thread> start_threads() {
    std::vector<std::thread> threads;
    for (unsigned n = 0; n < workers_; ++n) threads.emplace_back([this] { work(); });
    return threads;
  }

  void post_to(color& to, const loop_event& e) {
    bool became_ready = false;
    {
      const std::lock_guard hold{lock_};
      became_ready = append(to, e);
    }
    if (became_ready) filled_.notify_one();
  }

  /// Whether the color had nothing to do before. Under the lock.
  bool append(color& to, const loop_event& e) {
    ++left_;
    to.events.push_back(e);
    if (std::exchange(to.busy, true)) return false;
    ready_.push_back(&to);
    return true;
  }

  void work() {
    std::unique_lock hold{lock_};
    for (;;) {
      filled_.wait(hold, [this] { return !ready_.empty() || (ended_ && left_ == 0); });
      if (ready_.empty()) return;
      color& now = *ready_.front();
      ready_.pop_front();
      loop_event e = now.events.front();
      now.events.pop_front();
      hold.unlock();
      e.run(e);
      hold.lock();
      after_event(now);
    }
  }

  void after_event(color& of) {
    ++ran_;
    if (!of.events.empty()) {
      ready_.push_back(&of);
    } else if (of.let_go) {
      delete &of;
    } else {
      of.busy = false;
    }
    if (--left_ == 0 && ended_) filled_.notify_all();
  }

  unsigned workers_;
  std::deque<color> lanes_;
  std::vector<std::pair<color*, loop_event>> batch_;

  std::mutex lock_;
  std::condition_variable filled_;
  std::deque<color*> ready_;
  std::size_t left_ = 0;
  std::size_t ran_ = 0;
  bool ended_ = false;
};

}  // namespace bench
