#pragma once
// The gate's sweep: what does stealing change for events of one given cost? The variant is <shape>,<ns>[,no_steal]; see `shapes`.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bench/harness/all_ran.h"
#include "bench/harness/chain_ends.h"
#include "bench/harness/churn.h"
#include "bench/harness/placed_rounds.h"
#include "bench/harness/report.h"
#include "bench/harness/request.h"
#include "bench/harness/verdict.h"

namespace bench {

/// balanced: a closed loop of 64 colors, evenly placed; each event posts its successor in its own color.
/// unbalanced: the same, all placed on the first worker.
/// hops: the same as balanced, but each successor goes to the neighboring color, which is placed on the next worker.
/// rounds: 2000 events of different colors, placed on the first worker and posted by one event; when all have run, again.
enum class sweep_shape : std::uint8_t { balanced, unbalanced, hops, rounds };
inline constexpr std::array<std::pair<std::string_view, sweep_shape>, 4> shapes{
    {{"balanced", sweep_shape::balanced}, {"unbalanced", sweep_shape::unbalanced}, {"hops", sweep_shape::hops}, {"rounds", sweep_shape::rounds}}};

/// What a variant says.
struct sweep_request {
  explicit sweep_request(const request& asked) {
    const std::string_view text = asked.variant;
    const std::size_t first = text.find(',');
    const std::size_t second = first == text.npos ? first : text.find(',', first + 1);
    const auto found = std::find_if(shapes.begin(), shapes.end(), [&](const auto& each) { return each.first == text.substr(0, first); });
    if (first == text.npos || found == shapes.end() || (second != text.npos && text.substr(second) != ",no_steal")) {
      std::fprintf(stderr, "%s: the variant is <balanced|unbalanced|hops|rounds>,<ns>[,no_steal]\n", asked.contender.c_str());
      std::exit(2);
    }
    shape = found->second;
    cost_ns = std::strtod(std::string{text.substr(first + 1, second - first - 1)}.c_str(), nullptr);
    stealing = second == text.npos;
  }

  sweep_shape shape = sweep_shape::balanced;
  double cost_ns = 0;
  bool stealing = true;
};

template <template <class> class Lanes>
struct sweep_run;

/// 40 bytes.
template <template <class> class Lanes>
struct costly_event {
  sweep_run<Lanes>* run;
  std::size_t lane;
  std::size_t left;
  std::uint64_t x;
  std::size_t payload = 0;

  void operator()() {
    if (run->steps != 0) x = churn_alone(x, run->steps);
    if (--left == 0) return run->ended(lane, x);
    if (run->asked.shape == sweep_shape::hops) lane ^= 1;
    run->lanes.post(lane, *this);
  }
};

template <template <class> class Lanes>
struct sweep_run {
  static constexpr std::size_t chains = 64;
  static constexpr std::size_t round_events = 2000;
  static constexpr std::size_t group = 100;  ///< of events of a round that are counted together, so that the count is no bottleneck
  struct alignas(64) countdown {
    std::atomic<std::size_t> left{0};
  };

  sweep_run(const sweep_request& wanted, unsigned workers, std::uint64_t for_ns)
      : asked{wanted},
        homes{workers},
        steps{wanted.cost_ns > 0 ? std::max<std::size_t>(1, churn_steps_in(wanted.cost_ns)) : 0},
        lanes{{.workers = workers, .lanes = in_rounds() ? round_events : chains, .fed_from_outside = false, .stealing = wanted.stealing, .pin_first = true}},
        rounds{*this, round_events, round_events / group, for_ns} {}

  [[nodiscard]] bool in_rounds() const { return asked.shape == sweep_shape::rounds; }
  [[nodiscard]] unsigned home_of(std::size_t lane) const {
    return in_rounds() || asked.shape == sweep_shape::unbalanced ? 0 : static_cast<unsigned>(lane) % homes;
  }

  void start_chains(std::size_t events_per_chain) {
    ends.start();
    for (std::size_t i = 0; i < chains; ++i) lanes.post(i, costly_event<Lanes>{this, i, events_per_chain, i});
  }
  void place_chains() {
    for (std::size_t i = 0; i < chains; ++i) lanes.place(i, home_of(i));
  }
  void post_round(std::size_t) {
    for (countdown& each : in_group) each.left.store(group, std::memory_order_relaxed);
    for (std::size_t i = 0; i < round_events; ++i) lanes.post(i, costly_event<Lanes>{this, i, 1, i});
  }
  void ended(std::size_t lane, std::uint64_t x) {
    results.fetch_add(in_rounds() ? 0 : x, std::memory_order_relaxed);
    if (!in_rounds()) {
      ends.one_ended();
    } else if (in_group[lane / group].left.fetch_sub(1, std::memory_order_acq_rel) == 1) {  // pairs with itself
      rounds.part_ended();
    }
  }
  [[nodiscard]] bool is_right(std::size_t events_per_chain) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < chains; ++i) sum += churn_result(i, events_per_chain * steps);
    return results.load() == sum;
  }

  sweep_request asked;
  unsigned homes;
  std::size_t steps;
  Lanes<costly_event<Lanes>> lanes;
  placed_rounds<sweep_run> rounds;
  std::array<countdown, round_events / group> in_group;
  chain_ends ends{chains};
  std::atomic<std::uint64_t> results{0};
};

/// At scale 1 some 200 ms, whatever the cost, of a run that is spread over the workers or stays where it is, as the shape has it.
template <template <class> class Lanes>
int cost_sweep(const request& asked) {
  const sweep_request wanted{asked};
  const double event_ns = wanted.shape == sweep_shape::hops ? 1000 : 40;  // what the runtime adds, about; hops have another worker woken
  const double for_ns = 2e8 * asked.scale;
  const auto run = std::make_unique<sweep_run<Lanes>>(wanted, asked.workers, static_cast<std::uint64_t>(for_ns));
  const double at_once = wanted.shape == sweep_shape::unbalanced ? 1 : asked.workers;
  const auto per_chain = static_cast<std::size_t>(for_ns * at_once / (wanted.cost_ns + event_ns)) / run->chains + 1;
  if (!run->in_rounds()) run->place_chains();
  report out{asked, "cost_sweep"};
  run->lanes.run([&] { run->in_rounds() ? run->rounds.start() : run->start_chains(per_chain); });
  if (!run->in_rounds() && !run->is_right(per_chain)) return wrong_result(asked, "not every event ran once");
  if (!run->in_rounds()) run->ends.check();
  const std::size_t events = run->in_rounds() ? run->rounds.count() * run->round_events : run->chains * per_chain;
  check_all_ran(run->lanes, events);
  const double took_ns = run->in_rounds() ? static_cast<double>(run->rounds.took_ns()) : run->ends.took_ns();
  out.add("events", static_cast<double>(events));
  out.add("ns_per_event", took_ns / static_cast<double>(events));
  add_own_figures(run->lanes, out);
  out.print();
  return 0;
}

}  // namespace bench
