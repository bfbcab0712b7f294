#pragma once
// The floor: one deque of events of Tartan's size, callable of 40 bytes and post site included, run by one thread.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <source_location>
#include <thread>

#include "bench/harness/loop_event.h"
#include "bench/harness/request.h"

namespace bench {

/// Lanes of a single loop: there are none, everything is serial anyway.
template <class Event>
class plain_loop {
 public:
  static constexpr bool by_value = false;

  explicit plain_loop(const lanes_setup&) {}

  void post(std::size_t, const Event& e, std::source_location site = std::source_location::current()) {
    events_.emplace_back(e, site);
  }
  void post_fresh(const Event& e) {
    for (int i = 0; i < 3; ++i) post(0, e);
  }

  template <class F>
  void run(F start) {
    start();
    run_all();
  }

 private:
  void run_all() {
    while (!events_.empty()) {
      loop_event& e = events_.front();  // stays where it is while others are appended
      e.run(e);
      events_.pop_front();
    }
  }

  std::deque<loop_event> events_;
};

/// The simplest loop that takes posts from other threads: a mutex, a condition variable, and all that is there at once.
template <class Event>
class locked_loop {
 public:
  explicit locked_loop(const lanes_setup&) {}

  void post(std::size_t, const Event& e, std::source_location site = std::source_location::current()) {
    bool first = false;
    {
      const std::lock_guard hold{lock_};
      first = incoming_.empty();
      incoming_.emplace_back(e, site);
    }
    if (first) filled_.notify_one();
  }

  template <class F>
  void run_fed(F feed) {
    std::thread loop{[this] { run_all(); }};
    feed();
    {
      const std::lock_guard hold{lock_};
      ended_ = true;
    }
    filled_.notify_one();
    loop.join();
  }

 private:
  void run_all() {
    std::deque<loop_event> events;
    for (;;) {
      {
        std::unique_lock hold{lock_};
        filled_.wait(hold, [this] { return ended_ || !incoming_.empty(); });
        if (incoming_.empty()) return;
        events.swap(incoming_);
      }
      for (loop_event& e : events) e.run(e);
      events.clear();
    }
  }

  std::mutex lock_;
  std::condition_variable filled_;
  std::deque<loop_event> incoming_;
  bool ended_ = false;
};

}  // namespace bench
