// A worker that sleeps for the next timer, and leaves: another one sleeps for it from then on.

#include <gtest/gtest.h>
#include <tartan/core/runtime.h>
#include <tartan/core/color.h>
#include <tartan/time/timer.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class a_leaving_worker : public test::leaves_nothing {};

// Worker 0 is in a long event all the time, so nobody has to get up for another reason.
TEST_F(a_leaving_worker, passes_on_the_timer_that_it_has_slept_for) {
  options with;
  with.workers = 3;
  with.max_workers = 3;
  with.scheduler = "default";
  runtime rt{with};
  timer hour{rt, color{3}};
  const auto& sleepers = rt.state().life().sleepers();
  const auto limited_sleeper = [&](unsigned other) { return sleepers.earliest_wake(other) != detail::never_ns; };
  std::atomic<unsigned> held{0};
  std::array<std::atomic<bool>, 3> released{};
  std::thread outside{[&] {
    for (std::uint64_t n = 0; n < 3; ++n) {
      rt.post(color{100 + n}, [&] {
        held.fetch_add(1);
        const unsigned here = rt.state().worker_here()->index;
        test::spin_until([&] { return released[here].load(); });
      });
    }
    test::spin_until([&] { return held.load() == 3; });
    released[2].store(true);
    test::spin_until([&] { return sleepers.is_asleep(2); });
    rt.post(color{3}, [&] { hour.set(1h, [] {}); });
    test::spin_until([&] { return sleepers.is_asleep(2) && limited_sleeper(1); });
    released[1].store(true);
    test::spin_until([&] { return sleepers.is_asleep(1); });
    rt.set_workers(2);
    test::spin_until([&] { return limited_sleeper(2); });
    rt.post(color{3}, [&] {
      hour.cancel();
      rt.stop();
    });
    released[0].store(true);
  }};
  EXPECT_EQ(rt.run(), 0);
  outside.join();
}

}  // namespace
}  // namespace tartan
