// How long work that a thief has declined may wait for its next look: contract 7's 1 ms, looking included.

#include <gtest/gtest.h>

#include <cstdint>
#include <tartan/core/runtime.h>

#include "tests/short_turns.h"
#include "tests/still_clock.h"
#include "tests/workers.h"

namespace tartan {
namespace {

class a_watcher : public test::on_workers {};
INSTANTIATE_TEST_SUITE_P(on, a_watcher, testing::ValuesIn(test::several_workers()), test::worker_name);

TEST_P(a_watcher, sleeps_so_briefly_that_nothing_waits_for_1_ms) {
  constexpr std::uint64_t promised_ns = 1'000'000;
  constexpr std::uint64_t search_ns = 50'000;       // an idle worker looks around for so long
  constexpr std::uint64_t wake_up_ns = 100'000;     // its timer's slack, and the way from a sleep to a look
  test::still_poller clock;
  options with = settings();
  with.poller = &clock;
  runtime rt{with};
  test::short_turns_until(rt, [&] { return clock.watches() != 0; });  // for ever, if nobody would look again
  EXPECT_LE(clock.longest_watch_ns(), promised_ns - search_ns - wake_up_ns);
}

}  // namespace
}  // namespace tartan
