// How long work that a thief has declined may wait for its next look: contract 7's 1 ms, looking included.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>

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
  constexpr unsigned most_turns = 50'000'000;
  test::still_poller clock;
  options with = settings();
  with.poller = &clock;
  runtime rt{with};
  // Two colors in short turns on one worker: not worth a steal, so that another worker declines them and watches.
  unsigned turns = 0;
  std::function<void(unsigned)> short_turns = [&](unsigned k) {
    if (clock.watches() != 0 || ++turns == most_turns) return rt.stop();
    post(color{3 - k}, [&short_turns, k] { short_turns(3 - k); });
  };
  rt.post(color{1}, [&short_turns] { short_turns(1); });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_NE(clock.watches(), 0u) << "work was waiting, and nobody would have looked again";
  EXPECT_LE(clock.longest_watch_ns(), promised_ns - search_ns - wake_up_ns);
}

}  // namespace
}  // namespace tartan
