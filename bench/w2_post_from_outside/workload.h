#pragma once
// W2: what does a post from outside cost? One foreign thread posts empty events over 10 000 lanes, round robin, and waits for all.

#include <array>
#include <cstddef>
#include <cstdint>

#include "bench/harness/all_ran.h"
#include "bench/harness/clock.h"
#include "bench/harness/delay_samples.h"
#include "bench/harness/report.h"
#include "bench/harness/request.h"

namespace bench {

/// Does nothing, but for a few that end a sample, and is 40 bytes long.
struct empty_event {
  delay_sample* sample = nullptr;
  std::array<std::size_t, 4> payload{};

  void operator()() const {
    if (sample != nullptr) sample->end();
  }
};

/// Posts everything; with batches, a thousand at a time.
template <class Lanes>
void feed(Lanes& lanes, std::size_t events, std::size_t count, bool batches, delay_samples& samples) {
  constexpr std::size_t batch = 1000;
  std::size_t lane = 0;
  for (std::size_t i = 0; i < events; ++i) {
    if constexpr (requires { lanes.post_batch(); }) {
      if (batches) {
        lanes.add_to_batch(lane, empty_event{samples.at_post()});
        if ((i + 1) % batch == 0 || i + 1 == events) lanes.post_batch();
      } else {
        lanes.post(lane, empty_event{samples.at_post()});
      }
    } else {
      lanes.post(lane, empty_event{samples.at_post()});
    }
    if (++lane == count) lane = 0;
  }
}

template <template <class> class Lanes>
int post_from_outside(const request& asked) {
  constexpr std::size_t count = 10'000;
  const std::size_t events = asked.size(1'000'000, count);
  Lanes<empty_event> lanes{{.workers = asked.workers,
                            .lanes = count,
                            .fed_from_outside = true,
                            .stealing = !asked.is("no_steal"),
                            .pin_first = false}};
  delay_samples samples{events, 997};  // a prime: not always the same colors
  report out{asked, "w2"};
  std::uint64_t started_ns = 0;
  std::uint64_t posted_ns = 0;
  lanes.run_fed([&] {
    started_ns = now_ns();
    feed(lanes, events, count, asked.is("batch"), samples);
    posted_ns = now_ns();
  });
  const std::uint64_t ended_ns = now_ns();
  check_all_ran(lanes, events);
  const auto n = static_cast<double>(events);
  out.add("events", n);
  out.add("ns_per_event", static_cast<double>(ended_ns - started_ns) / n);
  out.add("ns_per_post", static_cast<double>(posted_ns - started_ns) / n);
  samples.tell(out);
  add_own_figures(lanes, out);
  out.print();
  return 0;
}

}  // namespace bench
