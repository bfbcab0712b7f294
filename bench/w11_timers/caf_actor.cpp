// W11 by CAF: an actor per timer, which waits for nothing but its receive timeout, and an actor per lane, which it then sends to.
// The number is not that of a delayed message, which CAF 0.17 cannot take back, nor of the timeout of a request, which it finds by a walk
// over all of its actor's. A set holds the making of an actor, a cancel its end, and both what a thread of CAF's own does, the clock's.

#include <atomic>
#include <caf/all.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <latch>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/lanes/caf_actor.h"
#include "bench/w11_timers/workload.h"

namespace {

class caf_timers {
  using near_timer = bench::near_timer<caf_timers>;
  using call = std::function<void()>;

 public:
  caf_timers(unsigned workers, std::size_t lanes, std::size_t slots)
      : system_{config_.with(workers)}, lanes_(lanes), lanes_left_{static_cast<std::ptrdiff_t>(lanes)} {
    for (lane& each : lanes_) {
      each.left.store(slots, std::memory_order_relaxed);
      each.timers.reserve(slots);
      each.actor = serving(each);
    }
  }

  template <class F>
  void in_lane(std::size_t to, F f) {
    caf::anon_send(lanes_[to].actor, bench::caf_message<call>{std::move(f)});
  }
  /// Slots of a lane are set in their order, each once.
  void set(std::size_t in, std::size_t, std::uint64_t deadline_ns, const near_timer& what) {
    lane& of = lanes_[in];
    of.timers.push_back(of.self->spawn([this, &of, deadline_ns, what](caf::event_based_actor* self) -> caf::behavior {
      count_pending(of, -1);
      const auto stopped = [this, &of, self](const bench::caf_message<stop>&) {
        self->quit();
        count_ended(of);
      };
      const auto expired = [&of, self, what] {
        self->send(of.actor, bench::caf_message<near_timer>{what});
        self->quit();
      };
      return {stopped, caf::after(from_now(deadline_ns)) >> expired};
    }));
  }
  void cancel(std::size_t in, std::size_t slot) {
    lanes_[in].self->send(lanes_[in].timers[slot], bench::caf_message<stop>{});
  }

  /// Calls `then` once so many timers of the lane have begun to wait: their actors run after the one that made them.
  template <class F>
  void when_pending(std::size_t in, std::size_t count, F then) {
    lanes_[in].then = std::move(then);
    count_pending(lanes_[in], static_cast<std::ptrdiff_t>(count));
  }

  template <class F>
  void run(F start) {
    start();
    lanes_left_.wait();
  }

 private:
  struct stop {};
  struct settings : caf::actor_system_config {
    settings& with(unsigned workers) {
      set("scheduler.max-threads", workers);
      return *this;
    }
  };
  struct alignas(64) lane {
    caf::actor actor;
    caf::event_based_actor* self = nullptr;
    std::vector<caf::actor> timers;
    call then;
    std::atomic<std::ptrdiff_t> not_pending{0};
    std::atomic<std::size_t> left{0};
  };

  caf::actor serving(lane& of) {
    return system_.spawn([this, &of](caf::event_based_actor* self) -> caf::behavior {
      of.self = self;
      return {[](const bench::caf_message<call>& received) { received.e(); },
              [this, &of](const bench::caf_message<near_timer>& expired) {
                expired.e();
                count_ended(of);
              }};
    });
  }

  /// Never zero: with such a timeout an actor of CAF 0.17 runs without an end.
  static std::chrono::microseconds from_now(std::uint64_t deadline_ns) {
    const std::uint64_t now = bench::now_ns();
    return std::chrono::microseconds{deadline_ns > now ? (deadline_ns - now + 999) / 1000 : 1};
  }
  /// What is to come is added when it is known how much, and not before; who then finds none left comes last.
  static void count_pending(lane& of, std::ptrdiff_t change) {
    if (of.not_pending.fetch_add(change, std::memory_order_acq_rel) + change == 0) of.then();  // pairs with itself
  }
  void count_ended(lane& of) {
    if (of.left.fetch_sub(1, std::memory_order_acq_rel) == 1) lanes_left_.count_down();  // pairs with itself
  }

  settings config_;
  caf::actor_system system_;
  std::deque<lane> lanes_;
  std::latch lanes_left_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::many_timers<caf_timers>({argc, argv, "caf_actor"});
}
