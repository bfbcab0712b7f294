// How long work that a thief has declined may wait for its next look: contract 7's 1 ms, looking included.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tartan/core/runtime.h>
#include <vector>

#include "core/sched/policy.h"
#include "core/tuning.h"
#include "tests/short_turns.h"
#include "tests/still_clock.h"
#include "tests/workers.h"

namespace tartan {
namespace {


constexpr std::uint64_t first_ns = 100'000;

class a_watcher : public test::on_workers {};
INSTANTIATE_TEST_SUITE_P(on, a_watcher, testing::ValuesIn(test::several_workers()), test::worker_name);

/// For how long watchers slept while there was something to watch, until one slept as long as before: one that got up may have begun anew.
std::vector<std::uint64_t> watches_of(options with) {
  test::still_poller clock;
  with.poller = &clock;
  runtime rt{with};
  // for ever, if nobody would look again
  test::short_turns_until(rt, [&] {
    const std::vector<std::uint64_t> watches = clock.watches_ns();
    return watches.size() > 1 && watches.back() == *(watches.end() - 2) && watches.back() != first_ns;
  });
  return clock.watches_ns();
}

TEST_P(a_watcher, sleeps_so_briefly_that_nothing_waits_for_1_ms) {
  constexpr std::uint64_t promised_ns = 1'000'000;
  constexpr std::uint64_t rise_ns = 50'000;         // to get up
  constexpr std::uint64_t wake_up_ns = 83'000;      // its timer's slack, and the way from a sleep to a look
  constexpr std::uint64_t second_look_ns = 50'000;  // or whether one is stuck
  const std::vector<std::uint64_t> watches = watches_of(settings());
  // Twice: the first look may have just missed that the victim got stuck. Then the others are woken, each by one that is awake.
  const std::uint64_t longest = *std::max_element(watches.begin(), watches.end());
  EXPECT_LE(2 * (longest + wake_up_ns + second_look_ns) + rise_ns + detail::spread_ns(GetParam()), promised_ns);
}

TEST_P(a_watcher, looks_soon_at_first_and_then_less_and_less_often) {
  const std::vector<std::uint64_t> watches = watches_of(settings());
  const std::uint64_t longest_ns = detail::longest_watch_ns(GetParam());
  EXPECT_EQ(watches[0], first_ns);
  for (std::size_t n = 1; n < watches.size(); ++n) {
    const bool begins_anew = watches[n] == first_ns;
    EXPECT_TRUE(begins_anew || watches[n] == std::min(2 * watches[n - 1], longest_ns)) << watches[n - 1] << ", then " << watches[n];
  }
  EXPECT_EQ(*std::max_element(watches.begin(), watches.end()), longest_ns);
}

}  // namespace
}  // namespace tartan
