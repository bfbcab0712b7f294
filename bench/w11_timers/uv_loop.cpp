// W11 by libuv: a uv_timer_t per timer in a single loop; what runs at once stands in a deque that an idle handle empties.
// The number is not that of exact deadlines: libuv counts whole milliseconds, so a timer fires up to 1 ms late; and a handle that is
// stopped is not closed yet, which would take a turn of the loop.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <uv.h>
#include <vector>

#include "bench/lanes/uv_loop.h"
#include "bench/w11_timers/workload.h"

namespace {

class uv_timers {
 public:
  uv_timers(unsigned, std::size_t lanes, std::size_t slots) : timers_(lanes) {
    for (auto& of_lane : timers_) of_lane.reserve(slots);
    bench::check_uv(uv_loop_init(&loop_), "uv_loop_init");
    bench::check_uv(uv_idle_init(&loop_, &idle_), "uv_idle_init");
    idle_.data = this;
  }
  uv_timers(const uv_timers&) = delete;
  uv_timers& operator=(const uv_timers&) = delete;
  ~uv_timers() {
    uv_walk(&loop_, [](uv_handle_t* each, void*) { uv_close(each, nullptr); }, nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    bench::check_uv(uv_loop_close(&loop_), "uv_loop_close");
  }

  template <class F>
  void in_lane(std::size_t, F f) {
    events_.emplace_back(std::move(f));
    bench::check_uv(uv_idle_start(&idle_, [](uv_idle_t* idle) { static_cast<uv_timers*>(idle->data)->run_ready(); }),
                    "uv_idle_start");
  }
  /// The loop's time is the clock's, rounded down, and delays count from there: with the deadline rounded up nothing is early.
  void set(std::size_t lane, std::size_t, std::uint64_t deadline_ns, bench::near_timer<uv_timers> what) {
    constexpr std::uint64_t ms = 1'000'000;
    timer& made = timers_[lane].emplace_back();  // slots of a lane are set in their order, each once
    made.what = what;
    uv_timer_init(&loop_, &made.handle);
    made.handle.data = &made;
    const std::uint64_t due_ms = (deadline_ns + ms - 1) / ms;
    const std::uint64_t now_ms = uv_now(&loop_);
    uv_timer_start(
        &made.handle, [](uv_timer_t* fired) { static_cast<timer*>(fired->data)->what(); },
        due_ms > now_ms ? due_ms - now_ms : 0, 0);
  }
  void cancel(std::size_t lane, std::size_t slot) { uv_timer_stop(&timers_[lane][slot].handle); }

  template <class F>
  void run(F start) {
    in_lane(0, std::move(start));
    uv_run(&loop_, UV_RUN_DEFAULT);
  }

 private:
  struct timer {
    uv_timer_t handle;
    bench::near_timer<uv_timers> what;
  };

  void run_ready() {
    for (std::size_t n = events_.size(); n > 0; --n) {
      events_.front()();  // stays where it is while others are appended
      events_.pop_front();
    }
    if (events_.empty()) uv_idle_stop(&idle_);
  }

  uv_loop_t loop_{};
  uv_idle_t idle_{};
  std::deque<std::function<void()>> events_;
  std::vector<std::vector<timer>> timers_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::many_timers<uv_timers>({argc, argv, "uv_loop"});
}
