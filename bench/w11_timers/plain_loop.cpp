// W11 by one std::multimap on one thread, which sleeps until the next deadline.
// The number is not that of a timer service: nobody else may set or cancel, and a timer is an iterator, not an object.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "bench/w11_timers/workload.h"

namespace {

class plain_timers {
 public:
  plain_timers(unsigned, std::size_t lanes, std::size_t slots) : places_(lanes, std::vector<place>(slots)) {}

  template <class F>
  void in_lane(std::size_t, F f) {
    events_.emplace_back(std::move(f));
  }
  void set(std::size_t lane, std::size_t slot, std::uint64_t deadline_ns, bench::near_timer<plain_timers> what) {
    places_[lane][slot] = pending_.emplace(deadline_ns, what);
  }
  void cancel(std::size_t lane, std::size_t slot) { pending_.erase(places_[lane][slot]); }

  template <class F>
  void run(F start) {
    start();
    for (;;) {
      if (!events_.empty()) {
        events_.front()();
        events_.pop_front();
      } else if (pending_.empty()) {
        return;
      } else {
        expire();
      }
    }
  }

 private:
  using timers = std::multimap<std::uint64_t, bench::near_timer<plain_timers>>;
  using place = timers::iterator;

  void expire() {
    const std::uint64_t now = bench::now_ns();
    const std::uint64_t next = pending_.begin()->first;
    if (next > now) std::this_thread::sleep_for(std::chrono::nanoseconds{next - now});
    const std::uint64_t until = bench::now_ns();
    while (!pending_.empty() && pending_.begin()->first <= until) {
      const auto what = pending_.begin()->second;
      pending_.erase(pending_.begin());
      what();
    }
  }

  std::deque<std::function<void()>> events_;
  timers pending_;
  std::vector<std::vector<place>> places_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::many_timers<plain_timers>({argc, argv, "plain_loop"});
}
