#pragma once
// Timers of Tartan, a timer object per timer, for W11.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <tartan/core/color.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <tartan/time/timer.h>
#include <utility>
#include <vector>

#include "bench/lanes/tartan_options.h"
#include "bench/w11_timers/workload.h"

namespace bench {

/// Colors by value.
struct value_colors {
  value_colors(tartan::runtime& rt, std::size_t) : in{&rt} {}
  [[nodiscard]] tartan::color of(std::size_t lane) const { return tartan::color{lane + 1}; }
  template <class F>
  void post(std::size_t lane, F f) {
    in->post(of(lane), std::move(f));
  }
  tartan::runtime* in;
};

/// Colors of strands.
struct strand_colors {
  strand_colors(tartan::runtime& rt, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes; ++i) strands.emplace_back(rt);
  }
  [[nodiscard]] tartan::color of(std::size_t lane) const { return strands[lane].value(); }
  template <class F>
  void post(std::size_t lane, F f) {
    strands[lane].post(std::move(f));
  }
  std::vector<tartan::strand> strands;
};

template <class Colors>
class tartan_timers {
 public:
  tartan_timers(unsigned workers, std::size_t lanes, std::size_t slots)
      : rt_{tartan_options(workers)}, colors_{rt_, lanes}, timers_(lanes) {
    for (auto& of_lane : timers_) of_lane.reserve(slots);
  }

  template <class F>
  void in_lane(std::size_t lane, F f) {
    colors_.post(lane, std::move(f));
  }
  /// Slots of a lane are set in their order, each once.
  void set(std::size_t lane, std::size_t, std::uint64_t deadline_ns, near_timer<tartan_timers> what) {
    tartan::timer& made = timers_[lane].emplace_back(rt_, colors_.of(lane));
    made.set(std::chrono::steady_clock::time_point{std::chrono::nanoseconds{deadline_ns}}, what);
  }
  void cancel(std::size_t lane, std::size_t slot) { timers_[lane][slot].cancel(); }

  template <class F>
  void run(F start) {
    rt_.post(std::move(start));
    rt_.run_until_idle();
  }

 private:
  tartan::runtime rt_;
  Colors colors_;
  std::vector<std::vector<tartan::timer>> timers_;
};

}  // namespace bench
