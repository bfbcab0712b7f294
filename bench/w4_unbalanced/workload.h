#pragma once
// W4: does stealing pay? Rounds of 50 000 events of different lanes, all posted from the first worker; 98 % spin for 100 cycles, 2 % for 10 to 50 thousand.
// Source: Mely (the paper on workstealing in event-driven servers), tables III and IV.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/harness/all_ran.h"
#include "bench/harness/annotation.h"
#include "bench/harness/clock.h"
#include "bench/harness/report.h"
#include "bench/harness/request.h"
#include "bench/harness/work_shares.h"

namespace bench {

inline constexpr std::size_t round_events = 50'000;

/// The same spins for every contender, in an order that nobody can foresee.
inline std::vector<std::uint32_t> spin_lengths() {
  std::vector<std::uint32_t> cycles(round_events);
  std::uint64_t x = 0x9e3779b97f4a7c15u;
  const auto next = [&x] {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x >> 11;
  };
  for (std::uint32_t& c : cycles) c = next() % 50 == 0 ? static_cast<std::uint32_t>(10'000 + next() % 40'001) : 100;
  return cycles;
}

/// Events per ns of the same spins in a plain loop on one thread: the fastest of the rounds that fit into this time.
inline double ideal_rate(const std::vector<std::uint32_t>& cycles, std::uint64_t for_ns) {
  const std::uint64_t start = now_ns();
  std::uint64_t fastest_ns = ~std::uint64_t{0};
  for (std::uint64_t round = start; round - start < for_ns;) {
    for (const std::uint32_t c : cycles) spin_cycles(c);
    const std::uint64_t now = now_ns();
    fastest_ns = std::min(fastest_ns, now - round);
    round = now;
  }
  return static_cast<double>(cycles.size()) / static_cast<double>(fastest_ns);
}

template <template <class> class Lanes>
struct unbalanced_run;

template <template <class> class Lanes>
struct spin_event {
  unbalanced_run<Lanes>* run;
  std::size_t index;
  std::array<std::size_t, 2> payload{};

  [[nodiscard]] annotation told() const noexcept { return {run->cycles[index] / 2, 1}; }  // at 2 GHz

  void operator()() {
    spin_cycles(run->cycles[index]);
    work_shares::add(run->cycles[index]);
    run->event_ended(index);
  }
};

/// A round ends by counters per thousand events, so that the count itself does not become the bottleneck.
template <template <class> class Lanes>
struct unbalanced_run {
  static constexpr std::size_t group = 1000;
  static constexpr std::size_t groups = round_events / group;
  struct alignas(64) countdown {
    std::atomic<std::size_t> left{0};
  };

  unbalanced_run(const request& asked, std::uint64_t run_for_ns)
      : lanes{{.workers = asked.workers,
               .lanes = round_events,
               .fed_from_outside = false,
               .stealing = !asked.is("no_steal"),
               .tells = asked.is("told"),
               .pin_first = true}},
        for_ns{run_for_ns},
        fresh{asked.is("fresh")} {}

  void start_round() {
    place_all();
    if (rounds == 0) started_ns = now_ns();
    ++rounds;
    for (countdown& c : in_group) c.left.store(group, std::memory_order_relaxed);
    groups_left.left.store(groups, std::memory_order_relaxed);
    for (std::size_t i = 0; i < round_events; ++i) lanes.post(base_of(rounds) + i, spin_event<Lanes>{this, i});
  }
  /// The placement is no part of what is measured: users do not have it, and the workers have nothing to do meanwhile. Fresh lanes are where
  /// they are made, which counts.
  void place_all() {
    if constexpr (requires { lanes.renew(0); }) {
      if (fresh && rounds != 0) {
        for (std::size_t i = 0; i < round_events; ++i) lanes.renew(i);
        return;
      }
    }
    if constexpr (requires { lanes.place(0, 0u); }) {
      const std::uint64_t before = now_ns();
      for (std::size_t i = 0; i < round_events; ++i) lanes.place(i, 0);
      if (rounds != 0) placing_ns += now_ns() - before;
    }
  }
  /// Lanes by value are new in each round, for a color goes where it last ran; others are placed.
  std::size_t base_of(std::size_t round) const {
    if constexpr (Lanes<spin_event<Lanes>>::by_value) return round * round_events;
    return 0;
  }
  void event_ended(std::size_t index) {
    if (in_group[index / group].left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;  // pairs with itself
    if (groups_left.left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;              // pairs with itself
    ended_ns = now_ns();
    if (ended_ns - started_ns - placing_ns >= for_ns) return;
    if constexpr (requires { lanes.on_first_worker([] {}); }) {
      lanes.on_first_worker([this] { start_round(); });
    } else {
      start_round();
    }
  }

  std::vector<std::uint32_t> cycles = spin_lengths();
  work_shares shares;
  Lanes<spin_event<Lanes>> lanes;
  std::uint64_t for_ns;
  bool fresh;
  std::uint64_t started_ns = 0;
  std::uint64_t ended_ns = 0;
  std::uint64_t placing_ns = 0;
  std::size_t rounds = 0;
  std::array<countdown, groups> in_group;
  countdown groups_left;
};

template <template <class> class Lanes>
int unbalanced(const request& asked) {
  const std::size_t for_ns = asked.size(1'000'000'000);
  const auto run = std::make_unique<unbalanced_run<Lanes>>(asked, for_ns);
  const double ideal = ideal_rate(run->cycles, for_ns / 5) * asked.workers;
  report out{asked, "w4"};
  run->lanes.run([&run] { run->start_round(); });
  const std::size_t events = run->rounds * round_events;
  check_all_ran(run->lanes, events);
  const double rate =
      static_cast<double>(events) / static_cast<double>(run->ended_ns - run->started_ns - run->placing_ns);
  out.add("events", static_cast<double>(events));
  out.add("ns_per_event", 1 / rate);
  out.add("placing_s", static_cast<double>(run->placing_ns) / 1e9);
  out.add("kilo_events_per_s", rate * 1e6);
  out.add("ideal_kilo_events_per_s", ideal * 1e6);
  out.add("share_of_ideal", rate / ideal);
  run->shares.tell(asked.workers, out);
  add_own_figures(run->lanes, out);
  out.print();
  return 0;
}

}  // namespace bench
