#pragma once
// libevent: a single loop; an event object per post, which is made active and never waits for a descriptor.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/thread.h>
#include <memory>
#include <thread>

#include "bench/harness/request.h"

namespace bench {

/// libevent's own queue of active events is the queue, and its lock is taken only where another thread posts.
template <class Event>
class event_loop {
 public:
  static constexpr bool by_value = false;

  explicit event_loop(const lanes_setup& setup) {
    if (setup.fed_from_outside && evthread_use_pthreads() != 0) fail("evthread_use_pthreads");
    base_.reset(event_base_new());
    if (base_ == nullptr) fail("event_base_new");
  }

  void post(std::size_t, const Event& e) { activate(new posted<Event>{{}, e, this}); }
  void post_fresh(const Event& e) {
    for (int i = 0; i < 3; ++i) post(0, e);
  }

  template <class F>
  void run(F start) {
    activate(new posted<F>{{}, start, this});
    if (event_base_loop(base_.get(), 0) < 0) fail("event_base_loop");
    --ran_;  // `start` is none of the workload's
  }

  template <class F>
  void run_fed(F feed) {
    std::thread loop{[this] {
      if (event_base_loop(base_.get(), EVLOOP_NO_EXIT_ON_EMPTY) < 0) fail("event_base_loop");
    }};
    feed();
    const auto end = [this] { event_base_loopbreak(base_.get()); };  // comes last, for events are served in their order
    activate(new posted<decltype(end)>{{}, end, this});
    loop.join();
    --ran_;
  }

  [[nodiscard]] std::size_t ran() const { return ran_; }

 private:
  template <class F>
  struct posted {
    ::event active;
    F call;
    event_loop* loop;
  };
  struct base_deleter {
    void operator()(event_base* base) const { event_base_free(base); }
  };

  [[noreturn]] static void fail(const char* call) { std::exit((std::fprintf(stderr, "%s failed\n", call), 1)); }

  template <class F>
  void activate(posted<F>* made) {
    const auto run_it = [](evutil_socket_t, short, void* argument) {
      const std::unique_ptr<posted<F>> self{static_cast<posted<F>*>(argument)};
      self->call();
      ++self->loop->ran_;
    };
    if (event_assign(&made->active, base_.get(), -1, 0, run_it, made) != 0) fail("event_assign");
    event_active(&made->active, 0, 0);
  }

  std::unique_ptr<event_base, base_deleter> base_;
  std::size_t ran_ = 0;
};

}  // namespace bench
