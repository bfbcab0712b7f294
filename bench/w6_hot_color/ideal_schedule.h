#pragma once
// The schedule that delays are compared with: one queue, first in, first out, no costs, and colors kept apart.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <queue>
#include <utility>
#include <vector>

namespace bench {

/// Simulated workers, each event as long as the others. A free worker takes, of the events whose color does not run, the one posted
/// first.
class ideal_schedule {
 public:
  ideal_schedule(unsigned workers, double service_ns, std::size_t colors)
      : free_workers_{workers}, service_ns_{service_ns}, colors_(colors) {}

  /// Posts that take effect at this time, in the order of the calls if they are simultaneous; not in the past.
  void post(double at_ns, std::size_t event, std::size_t color) { posts_.push({at_ns, count_++, event, color}); }

  /// Until nothing is left. `ended(event, delay_ns, at_ns)` learns when an event has ended and how long after its post; it may post.
  template <class F>
  void run(F ended) {
    while (!posts_.empty() || !running_.empty()) {
      // At the same time a post comes last: the event that made it is still there.
      if (running_.empty() || (!posts_.empty() && posts_.top().at_ns < running_.top().at_ns)) {
        accept(pop(posts_));
      } else {
        finish(pop(running_), ended);
      }
      start_runnable();
    }
  }

 private:
  struct entry {
    double at_ns;  ///< of the post, or of the end if it runs
    std::uint64_t number;
    std::size_t event;
    std::size_t color;
    double posted_ns = 0;
  };
  struct later {
    bool operator()(const entry& a, const entry& b) const {
      return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.number > b.number;
    }
  };
  using timeline = std::priority_queue<entry, std::vector<entry>, later>;
  struct color_state {
    bool busy = false;  ///< its first event runs or is in `runnable_`
    std::deque<entry> waiting;
  };

  static entry pop(timeline& from) {
    entry first = from.top();
    from.pop();
    return first;
  }
  void accept(const entry& posted) {
    now_ns_ = posted.at_ns;
    color_state& of = colors_[posted.color];
    if (std::exchange(of.busy, true)) {
      of.waiting.push_back(posted);
    } else {
      runnable_.push(posted);
    }
  }
  template <class F>
  void finish(const entry& done, F& ended) {
    now_ns_ = done.at_ns;
    ++free_workers_;
    color_state& of = colors_[done.color];
    of.busy = !of.waiting.empty();
    if (of.busy) {
      runnable_.push(of.waiting.front());
      of.waiting.pop_front();
    }
    ended(done.event, now_ns_ - done.posted_ns, now_ns_);
  }
  void start_runnable() {
    while (free_workers_ != 0 && !runnable_.empty()) {
      entry first = pop(runnable_);
      --free_workers_;
      first.posted_ns = first.at_ns;
      first.at_ns = now_ns_ + service_ns_;
      running_.push(first);
    }
  }

  unsigned free_workers_;
  double service_ns_;
  double now_ns_ = 0;
  std::uint64_t count_ = 0;
  std::vector<color_state> colors_;
  timeline posts_;     ///< by time
  timeline runnable_;  ///< the first of each color, by time of the post
  timeline running_;   ///< by time of the end
};

}  // namespace bench
