// Colors of a worker that has left: whoever posts to one moves it to a worker that stays. Nobody has to steal it.

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <vector>

#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "tests/workers.h"

namespace tartan {
namespace {

class a_worker_that_has_left : public test::leaves_nothing, public testing::WithParamInterface<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, a_worker_that_has_left, testing::ValuesIn(test::several_workers()), test::worker_name);

// Each worker runs one of the strands' events, so each has one of the colors. Worker 0 is alone afterwards, and in an event while others post: a color
// that it runs then was given to it, or else it has to steal it.
TEST_P(a_worker_that_has_left, has_its_colors_moved_by_those_that_post_to_them) {
  const unsigned all = GetParam();
  options with;
  with.workers = all;
  with.max_workers = all;
  with.scheduler = "default";
  runtime rt{with};
  std::vector<strand> strands;
  for (unsigned n = 0; n < all; ++n) strands.emplace_back(rt);
  std::atomic<unsigned> begun{0};
  std::atomic<unsigned> ran{0};
  std::atomic<bool> held{false};
  std::atomic<bool> released{false};
  std::uint64_t stolen = 0;
  std::thread outside{[&] {
    for (strand& each : strands) {
      each.post([&] {
        begun.fetch_add(1);
        test::spin_until([&] { return begun.load() == all; });
      });
    }
    test::spin_until([&] { return begun.load() == all; });
    rt.set_workers(1);
    const auto& sleepers = rt.state().life().sleepers();
    for (unsigned n = 1; n < all; ++n) test::spin_until([&] { return sleepers.is_gone(n); });
    rt.post(color{1}, [&] {
      held.store(true);
      test::spin_until([&] { return released.load(); });
    });
    test::spin_until([&] { return held.load(); });
    stolen = rt.counters().stolen_colors;
    for (strand& each : strands) each.post([&] { ran.fetch_add(1); });
    released.store(true);
    test::spin_until([&] { return ran.load() == all; });
    rt.stop();
  }};
  EXPECT_EQ(rt.run(), 0);
  outside.join();
  EXPECT_EQ(rt.counters().stolen_colors, stolen);
}

}  // namespace
}  // namespace tartan
