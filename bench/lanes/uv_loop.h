#pragma once
// libuv: a single loop. It has no queue of callables, so ours stands before it, as in every program that posts to such a loop.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <source_location>
#include <thread>
#include <uv.h>

#include "bench/harness/loop_event.h"
#include "bench/harness/request.h"

namespace bench {

inline void check_uv(int result, const char* call) {
  if (result < 0) std::exit((std::fprintf(stderr, "%s: %s\n", call, uv_strerror(result)), 1));
}

/// Posts from inside: an idle handle calls us in each turn of the loop, which polls for I/O in between, and we run what is there.
template <class Event>
class uv_idle_loop {
 public:
  static constexpr bool by_value = false;

  explicit uv_idle_loop(const lanes_setup&) {
    check_uv(uv_loop_init(&loop_), "uv_loop_init");
    check_uv(uv_idle_init(&loop_, &idle_), "uv_idle_init");
    idle_.data = this;
  }
  uv_idle_loop(const uv_idle_loop&) = delete;
  uv_idle_loop& operator=(const uv_idle_loop&) = delete;
  ~uv_idle_loop() {
    uv_close(reinterpret_cast<uv_handle_t*>(&idle_), nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    check_uv(uv_loop_close(&loop_), "uv_loop_close");
  }

  void post(std::size_t, const Event& e, std::source_location site = std::source_location::current()) {
    events_.emplace_back(e, site);
  }
  void post_fresh(const Event& e) {
    for (int i = 0; i < 3; ++i) post(0, e);
  }

  template <class F>
  void run(F start, std::source_location site = std::source_location::current()) {
    events_.emplace_back(start, site);
    check_uv(uv_idle_start(&idle_, [](uv_idle_t* idle) { static_cast<uv_idle_loop*>(idle->data)->run_ready(); }),
             "uv_idle_start");
    uv_run(&loop_, UV_RUN_DEFAULT);
    --ran_;  // `start` is none of the workload's
  }

  [[nodiscard]] std::size_t ran() const { return ran_; }

 private:
  void run_ready() {
    for (std::size_t n = events_.size(); n > 0; --n) {
      loop_event& e = events_.front();  // stays where it is while others are appended
      e.run(e);
      ++ran_;
      events_.pop_front();
    }
    if (events_.empty()) uv_idle_stop(&idle_);
  }

  uv_loop_t loop_{};
  uv_idle_t idle_{};
  std::deque<loop_event> events_;
  std::size_t ran_ = 0;
};

/// Posts from outside: a mutex, and uv_async_send, the only call that another thread may make.
template <class Event>
class uv_async_loop {
 public:
  explicit uv_async_loop(const lanes_setup&) {
    check_uv(uv_loop_init(&loop_), "uv_loop_init");
    check_uv(uv_async_init(&loop_, &async_,
                           [](uv_async_t* async) { static_cast<uv_async_loop*>(async->data)->run_ready(); }),
             "uv_async_init");
    async_.data = this;
  }
  uv_async_loop(const uv_async_loop&) = delete;
  uv_async_loop& operator=(const uv_async_loop&) = delete;
  ~uv_async_loop() { check_uv(uv_loop_close(&loop_), "uv_loop_close"); }

  void post(std::size_t, const Event& e, std::source_location site = std::source_location::current()) {
    {
      const std::lock_guard hold{lock_};
      incoming_.emplace_back(e, site);
    }
    uv_async_send(&async_);
  }

  template <class F>
  void run_fed(F feed) {
    std::thread loop{[this] { uv_run(&loop_, UV_RUN_DEFAULT); }};
    feed();
    {
      const std::lock_guard hold{lock_};
      ended_ = true;
    }
    uv_async_send(&async_);
    loop.join();
  }

  [[nodiscard]] std::size_t ran() const { return ran_; }

 private:
  void run_ready() {
    bool ends = false;
    {
      const std::lock_guard hold{lock_};
      events_.swap(incoming_);
      ends = ended_;
    }
    for (loop_event& e : events_) e.run(e);
    ran_ += events_.size();
    events_.clear();
    if (ends) uv_close(reinterpret_cast<uv_handle_t*>(&async_), nullptr);
  }

  uv_loop_t loop_{};
  uv_async_t async_{};
  std::mutex lock_;
  std::deque<loop_event> incoming_;
  std::deque<loop_event> events_;
  std::size_t ran_ = 0;
  bool ended_ = false;
};

}  // namespace bench
