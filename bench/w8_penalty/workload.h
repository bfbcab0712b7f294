#pragma once
// W8: what does it cost to steal a color away from its data? One worker starts with many events A of different colors; each makes an
// array and posts B of its color, which reads a piece and posts the next B, until the array is read.
// Source: Mely (the paper on workstealing in event-driven servers), table V. It tells neither sizes nor counts.

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
#include "bench/harness/churn.h"
#include "bench/harness/placed_rounds.h"
#include "bench/harness/report.h"
#include "bench/harness/request.h"
#include "bench/harness/verdict.h"

namespace bench {

/// 32 KB fit the first cache of a core. All arrays of a round, 1.5 MB, fit its second one: in the paper there are hardly any misses
/// without stealing. A piece is a cache line, and an event B as long as some fetches of one from another core: in the paper one core
/// runs it in less than a microsecond, most of that the runtime's.
inline constexpr std::size_t array_numbers = 8192;
inline constexpr std::size_t piece_numbers = 16;
inline constexpr std::size_t pieces = array_numbers / piece_numbers;
inline constexpr std::size_t steps_per_piece = 64;  ///< some 80 ns
inline constexpr std::size_t makers = 48;
inline constexpr std::size_t events_per_maker = 1 + pieces;

using number_array = std::array<std::uint32_t, array_numbers>;

/// What B does with its piece; the result depends on all numbers before.
[[nodiscard]] inline std::uint64_t read_piece(const number_array& array, std::size_t piece, std::uint64_t x) {
  const std::uint32_t* const first = array.data() + piece * piece_numbers;
  return churn_alone(std::accumulate(first, first + piece_numbers, x), steps_per_piece);
}

/// What comes out of each array.
[[nodiscard]] inline std::vector<std::uint64_t> expected_results() {
  std::vector<std::uint64_t> expected(makers);
  number_array array;
  for (std::size_t i = 0; i < makers; ++i) {
    std::iota(array.begin(), array.end(), static_cast<std::uint32_t>(i));
    for (std::size_t piece = 0; piece < pieces; ++piece) expected[i] = read_piece(array, piece, expected[i]);
  }
  return expected;
}

template <template <class> class Lanes>
struct penalty_run;

/// A as long as it has no array, then B.
template <template <class> class Lanes>
struct penalty_event {
  penalty_run<Lanes>* run;
  number_array* array = nullptr;
  std::uint64_t x = 0;
  std::uint32_t lane;
  std::uint16_t index;
  std::uint16_t piece = 0;

  /// As in the paper: B is worth a thousandth of its time to a thief, for the array is in the cache of whom it would be taken from.
  [[nodiscard]] annotation told() const noexcept { return array == nullptr ? annotation{30'000, 1} : annotation{80, 1000}; }

  void operator()() {
    if (array == nullptr) {
      array = std::make_unique_for_overwrite<number_array>().release();
      std::iota(array->begin(), array->end(), index);
    } else {
      x = read_piece(*array, piece++, x);
    }
    if (piece < pieces) return run->lanes.post(lane, *this);
    delete array;
    run->chain_ended(index, x);
  }
};

template <template <class> class Lanes>
struct penalty_run {
  penalty_run(const request& asked, std::uint64_t for_ns)
      : lanes{{.workers = asked.workers,
               .lanes = makers,
               .fed_from_outside = false,
               .stealing = !asked.is("no_steal"),
               .tells = asked.is("told"),
               .pin_first = true}},
        rounds{*this, makers, makers, for_ns} {}

  [[nodiscard]] unsigned home_of(std::size_t) const { return 0; }
  void post_round(std::size_t base) {
    for (std::uint16_t i = 0; i < makers; ++i) {
      lanes.post(base + i, penalty_event<Lanes>{.run = this, .lane = static_cast<std::uint32_t>(base + i), .index = i});
    }
  }
  void chain_ended(std::size_t index, std::uint64_t x) {
    if (x == expected[index]) right.fetch_add(1, std::memory_order_relaxed);
    rounds.part_ended();
  }

  Lanes<penalty_event<Lanes>> lanes;
  placed_rounds<penalty_run> rounds;
  std::vector<std::uint64_t> expected = expected_results();
  std::atomic<std::size_t> right{0};
};

template <template <class> class Lanes>
int penalty(const request& asked) {
  // Memory stays in the process: else the allocator would give it back and page it in again, in some rounds.
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  const auto run = std::make_unique<penalty_run<Lanes>>(asked, asked.size(1'000'000'000));
  report out{asked, "w8"};
  run->lanes.run([&run] { run->rounds.start(); });
  const std::size_t chains = run->rounds.parts();
  check_all_ran(run->lanes, chains * events_per_maker);
  if (run->right.load() != chains) return wrong_result(asked, "not every array was read once, in order and by one");
  run->rounds.tell(events_per_maker, out);
  out.print();
  return 0;
}

}  // namespace bench
