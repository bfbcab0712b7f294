#pragma once
// Rounds that begin unbalanced: everything that starts one is posted from one event, to lanes that are homed anew.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "bench/harness/clock.h"
#include "bench/harness/report.h"

namespace bench {

/// Round after round until the time is up; each begins when the last part of the one before has ended.
///
/// Run: has `lanes`; `home_of(lane)`, the worker on which a lane shall begin; `post_round(base)`, which posts what starts a round,
/// with `base` added to the number of each lane.
template <class Run>
class placed_rounds {
 public:
  placed_rounds(Run& run, std::size_t lanes, std::size_t parts, std::uint64_t for_ns)
      : run_{run}, lanes_{lanes}, parts_{parts}, for_ns_{for_ns} {}

  void start() {
    place_all();
    if (count_ == 0) started_ns_ = now_ns();
    // Lanes by value are new in each round, for a color goes where it last ran; others are placed.
    const std::size_t base = run_.lanes.by_value ? count_ * lanes_ : 0;
    ++count_;
    left_.store(parts_, std::memory_order_relaxed);
    run_.post_round(base);
  }

  void part_ended() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;  // pairs with itself
    ended_ns_ = now_ns();
    if (took_ns() >= for_ns_) return;
    if constexpr (requires { run_.lanes.on_first_worker([] {}); }) {
      run_.lanes.on_first_worker([this] { start(); });
    } else {
      start();
    }
  }

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t parts() const { return count_ * parts_; }
  /// Without the placement: users do not have it, and the workers have nothing to do meanwhile.
  [[nodiscard]] std::uint64_t took_ns() const { return ended_ns_ - started_ns_ - placing_ns_; }
  /// All that a run of rounds has to report; a part is one event A and what follows from it.
  void tell(std::size_t events_per_part, report& to) const {
    const auto ns = static_cast<double>(took_ns());
    const auto events = static_cast<double>(parts() * events_per_part);
    to.add("events", events);
    to.add("rounds", static_cast<double>(count_));
    to.add("ns_per_a", ns / static_cast<double>(parts()));
    to.add("kilo_events_per_s", events / ns * 1e6);
    to.add("placing_s", static_cast<double>(placing_ns_) / 1e9);
    add_own_figures(run_.lanes, to);
  }

 private:
  void place_all() {
    if constexpr (requires { run_.lanes.place(0, 0u); }) {
      const std::uint64_t before = now_ns();
      for (std::size_t i = 0; i < lanes_; ++i) run_.lanes.place(i, run_.home_of(i));
      if (count_ != 0) placing_ns_ += now_ns() - before;
    }
  }

  Run& run_;
  std::size_t lanes_;
  std::size_t parts_;
  std::uint64_t for_ns_;
  std::uint64_t started_ns_ = 0;
  std::uint64_t ended_ns_ = 0;
  std::uint64_t placing_ns_ = 0;
  std::size_t count_ = 0;
  alignas(64) std::atomic<std::size_t> left_{0};
};

}  // namespace bench
