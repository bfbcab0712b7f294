#pragma once
// W9: does a thief take from where it is near? One worker of each pair starts with 100 events A; each makes an array and posts two B of
// different colors, which sort its halves; each posts C in the color of A, and the second C merges them.
// Source: Mely (the paper on workstealing in event-driven servers), table VI, "cache efficient".

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <malloc.h>
#include <memory>
#include <numeric>
#include <vector>

#include "bench/harness/all_ran.h"
#include "bench/harness/annotation.h"
#include "bench/harness/placed_rounds.h"
#include "bench/harness/report.h"
#include "bench/harness/request.h"
#include "bench/harness/verdict.h"

namespace bench {

/// The paper does not tell the length. With this one an A takes, with all that follows from it, about as long as in its table VI: 20 us
/// (5 events, 8 cores, 1869 kilo-events/s).
inline constexpr std::size_t array_numbers = 512;
inline constexpr std::size_t makers_per_pair = 100;
inline constexpr std::size_t lanes_per_maker = 3;   ///< of A and C, and of each B
inline constexpr std::size_t events_per_maker = 5;  ///< A, B, B, C, C

using number_array = std::array<std::uint32_t, array_numbers>;

/// Numbers in no order, others for each seed.
inline void fill(number_array& numbers, std::uint64_t seed) {
  std::uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15u;
  for (std::uint32_t& n : numbers) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    n = static_cast<std::uint32_t>(x >> 32);
  }
}

/// What does not depend on the order.
[[nodiscard]] inline std::uint64_t sum_of(const number_array& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
}

/// What A and its two C know of each other; they have one color, so nothing here is atomic.
struct alignas(64) merge_state {
  std::unique_ptr<number_array> numbers;
  std::uint64_t sum = 0;
  std::size_t halves_sorted = 0;
};

enum class locality_step : std::uint8_t { make, sort, merge };  // A, B, C

template <template <class> class Lanes>
struct locality_run;

template <template <class> class Lanes>
struct locality_event {
  locality_run<Lanes>* run;
  std::size_t lane;  ///< the maker's
  number_array* array = nullptr;
  std::uint32_t index;
  locality_step step = locality_step::make;
  bool second_half = false;

  [[nodiscard]] annotation told() const noexcept { return {step == locality_step::sort ? 5'000u : 1'500u, 1}; }

  void operator()() {
    switch (step) {
      case locality_step::make:
        return make();
      case locality_step::sort:
        return sort();
      case locality_step::merge:
        return run->merge(index);
    }
  }

 private:
  void make() {
    array = run->make(index);
    step = locality_step::sort;
    run->lanes.post(lane + 1, *this);
    second_half = true;
    run->lanes.post(lane + 2, *this);
  }
  void sort() {
    std::uint32_t* const first = array->data() + (second_half ? array_numbers / 2 : 0);
    std::sort(first, first + array_numbers / 2);
    step = locality_step::merge;
    run->lanes.post(lane, *this);
  }
};

template <template <class> class Lanes>
struct locality_run {
  locality_run(const request& asked, std::uint64_t for_ns)
      : makers{makers_per_pair * std::max<std::size_t>(1, asked.workers / 2)},
        lanes{{.workers = asked.workers,
               .lanes = makers * lanes_per_maker,
               .fed_from_outside = false,
               .stealing = !asked.is("no_steal"),
               .tells = asked.is("told"),
               .pin_first = true}},
        rounds{*this, makers * lanes_per_maker, makers, for_ns},
        states(makers) {}

  /// Workers 0 and 1 are a pair, 2 and 3, ...
  [[nodiscard]] unsigned home_of(std::size_t lane) const {
    return 2 * static_cast<unsigned>(lane / lanes_per_maker / makers_per_pair);
  }
  void post_round(std::size_t base) {
    for (std::uint32_t i = 0; i < makers; ++i) {
      const std::size_t lane = base + i * lanes_per_maker;
      lanes.post(lane, locality_event<Lanes>{.run = this, .lane = lane, .index = i});
    }
  }
  number_array* make(std::size_t index) {
    merge_state& state = states[index];
    state.numbers = std::make_unique_for_overwrite<number_array>();
    fill(*state.numbers, rounds.count() * makers + index);
    state.sum = sum_of(*state.numbers);
    state.halves_sorted = 0;
    return state.numbers.get();
  }
  void merge(std::size_t index) {
    merge_state& state = states[index];
    if (++state.halves_sorted != 2) {
      if (state.halves_sorted > 2) too_many.store(true, std::memory_order_relaxed);
      return;
    }
    number_array merged;
    const auto middle = state.numbers->begin() + array_numbers / 2;
    std::merge(state.numbers->begin(), middle, middle, state.numbers->end(), merged.begin());
    if (sum_of(merged) == state.sum && std::is_sorted(merged.begin(), merged.end())) {
      right.fetch_add(1, std::memory_order_relaxed);
    }
    state.numbers.reset();
    rounds.part_ended();
  }

  std::size_t makers;
  Lanes<locality_event<Lanes>> lanes;
  placed_rounds<locality_run> rounds;
  std::vector<merge_state> states;
  std::atomic<std::size_t> right{0};
  std::atomic<bool> too_many{false};
};

template <template <class> class Lanes>
int locality(const request& asked) {
  mallopt(M_TRIM_THRESHOLD, 1 << 30);  // memory stays in the process
  const auto run = std::make_unique<locality_run<Lanes>>(asked, asked.size(1'000'000'000));
  report out{asked, "w9"};
  run->lanes.run([&run] { run->rounds.start(); });
  const std::size_t arrays = run->rounds.parts();
  check_all_ran(run->lanes, arrays * events_per_maker);
  if (run->right.load() != arrays || run->too_many.load())
    return wrong_result(asked, "not every array was sorted and merged once");
  run->rounds.tell(events_per_maker, out);
  out.print();
  return 0;
}

}  // namespace bench
