// W11 by libevent: an evtimer per timer in a single loop that looks at the precise clock.
// The number is not that of libevent's defaults, whose clock is up to 4 ms behind, so that timers fire early; nor is it that of
// common timeouts, a list for all timers of the same length.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <memory>
#include <sys/time.h>
#include <utility>
#include <vector>

#include "bench/w11_timers/workload.h"

namespace {

class event_timers {
 public:
  event_timers(unsigned, std::size_t lanes, std::size_t slots) : timers_(lanes) {
    for (auto& of_lane : timers_) of_lane.reserve(slots);
    const std::unique_ptr<event_config, config_deleter> with{event_config_new()};
    must(with != nullptr, "event_config_new");
    must(event_config_set_flag(with.get(), EVENT_BASE_FLAG_PRECISE_TIMER) == 0, "event_config_set_flag");
    base_.reset(event_base_new_with_config(with.get()));
    must(base_ != nullptr, "event_base_new_with_config");
  }

  template <class F>
  void in_lane(std::size_t, F f) {
    auto* made = new posted<F>{std::move(f), this};
    const auto run_it = [](evutil_socket_t, short, void* argument) {
      const std::unique_ptr<posted<F>> self{static_cast<posted<F>*>(argument)};
      self->loop->look_at_the_clock();
      self->call();
    };
    must(event_base_once(base_.get(), -1, EV_TIMEOUT, run_it, made, nullptr) == 0, "event_base_once");
  }
  void set(std::size_t lane, std::size_t, std::uint64_t deadline_ns, bench::near_timer<event_timers> what) {
    timer& made = timers_[lane].emplace_back();  // slots of a lane are set in their order, each once
    made.what = what;
    const auto fire = [](evutil_socket_t, short, void* argument) { static_cast<timer*>(argument)->what(); };
    const std::uint64_t us = deadline_ns > seen_ns_ ? (deadline_ns - seen_ns_ + 999) / 1000 : 0;
    const timeval within{static_cast<time_t>(us / 1'000'000), static_cast<suseconds_t>(us % 1'000'000)};
    must(evtimer_assign(&made.handle, base_.get(), fire, &made) == 0, "evtimer_assign");
    must(evtimer_add(&made.handle, &within) == 0, "evtimer_add");
  }
  void cancel(std::size_t lane, std::size_t slot) {
    must(evtimer_del(&timers_[lane][slot].handle) == 0, "evtimer_del");
  }

  template <class F>
  void run(F start) {
    in_lane(0, std::move(start));
    must(event_base_loop(base_.get(), 0) >= 0, "event_base_loop");
  }

 private:
  template <class F>
  struct posted {
    F call;
    event_timers* loop;
  };
  struct timer {
    ::event handle;
    bench::near_timer<event_timers> what;
  };
  struct base_deleter {
    void operator()(event_base* base) const { event_base_free(base); }
  };
  struct config_deleter {
    void operator()(event_config* with) const { event_config_free(with); }
  };

  static void must(bool succeed, const char* call) {
    if (!succeed) std::exit((std::fprintf(stderr, "%s failed\n", call), 1));
  }

  /// The delays that a callback sets count from the time that the loop has kept, which may be old: renewed, it is not before ours.
  void look_at_the_clock() {
    seen_ns_ = bench::now_ns();
    must(event_base_update_cache_time(base_.get()) == 0, "event_base_update_cache_time");
  }

  std::unique_ptr<event_base, base_deleter> base_;
  std::uint64_t seen_ns_ = 0;
  std::vector<std::vector<timer>> timers_;  // none of them waits when the base is freed
};

}  // namespace

int main(int argc, char** argv) {
  return bench::many_timers<event_timers>({argc, argv, "event_loop"});
}
