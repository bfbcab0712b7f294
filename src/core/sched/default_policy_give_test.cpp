// How many colors a worker with a hot one gives away, and to whom. Times are told; no worker runs.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <source_location>
#include <tartan/core/runtime.h>
#include <utility>

#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/default_policy.h"
#include "core/sched/default_policy_probe.h"
#include "core/sched/scheduled.h"

namespace tartan::detail {
namespace {

constexpr std::uint64_t now_ns = 1'000'000'000;

/// Worker 0 has a hot color, which had its last turn 400 us ago; workers 1 and 2 have been watched since.
class a_worker_with_a_hot_color : public testing::Test {
 protected:
  a_worker_with_a_hot_color() {
    auto made = std::make_unique<scheduled<default_policy>>(rt.state());
    policy = &made->inner();
    rt.state().use(std::move(made));
    hot_turn_ended(400'000);
  }

  void hot_turn_ended(std::uint64_t ago_ns) { seen().hot_turn_ns = now_ns - ago_ns; }
  /// Gives a worker colors that wait, with so many events each.
  void let_wait(worker& at, unsigned colors, unsigned events = 1) {
    for (unsigned n = 0; n < colors; ++n) {
      ++last_color;
      for (unsigned k = 0; k < events; ++k) {
        event& e = *make_event(rt.state(), [] {}, std::source_location::current());
        policy->submit(color{last_color}, e, &at);
      }
    }
  }
  /// It has made so many turns in the 100 us for which it was watched.
  void made_turns(worker& at, unsigned turns, std::uint64_t watched_ns = 100'000) {
    seen().others[at.index] = {.turns = at.turns.get(), .since_ns = now_ns - watched_ns};
    at.turns.add(turns);
  }
  void make_room() { default_policy_probe::make_room(*policy, hot, now_ns); }
  default_policy_probe::watch& seen() { return default_policy_probe::watch_of(*policy, hot); }
  [[nodiscard]] std::size_t waiting(const worker& at) const { return policy->waiting(at.index); }

  static options three_workers() {
    options with;
    with.workers = 3;
    return with;
  }

  runtime rt{three_workers()};
  default_policy* policy = nullptr;
  worker& hot = rt.state().life().at(0);
  worker& busy = rt.state().life().at(1);
  worker& busier = rt.state().life().at(2);
  unsigned last_color = 0;
};

TEST_F(a_worker_with_a_hot_color, gives_so_many_that_both_wait_as_long) {
  let_wait(hot, 50);
  let_wait(busy, 100);
  let_wait(busier, 200);
  made_turns(busy, 50);  // 2 us each: 200 us
  made_turns(busier, 50);
  make_room();
  EXPECT_EQ(waiting(hot), 0u);  // 200 us are 100 turns of 2 us, half of which are 50
  EXPECT_EQ(waiting(busy), 150u);
  EXPECT_EQ(waiting(busier), 200u);
}

TEST_F(a_worker_with_a_hot_color, keeps_what_would_not_wait_for_less_time_elsewhere) {
  let_wait(hot, 50);
  let_wait(busy, 196);
  let_wait(busier, 196);
  made_turns(busy, 50);  // 392 us
  made_turns(busier, 50);
  make_room();
  EXPECT_EQ(waiting(hot), 50u);
  hot_turn_ended(402'000);
  made_turns(busy, 50);
  make_room();
  EXPECT_EQ(waiting(hot), 48u);  // 10 us are 5 turns, half of which are 2
}

TEST_F(a_worker_with_a_hot_color, keeps_those_that_have_a_backlog_themselves) {
  let_wait(hot, 3);
  let_wait(hot, 1, 2);
  let_wait(hot, 2);
  made_turns(busy, 50);
  made_turns(busier, 50);
  make_room();
  EXPECT_EQ(waiting(hot), 4u);  // those behind the one with two events
  EXPECT_EQ(waiting(busy), 2u);
}

TEST_F(a_worker_with_a_hot_color, gives_nothing_to_one_that_is_stuck_or_was_not_watched) {
  let_wait(hot, 10);
  made_turns(busy, 0);
  made_turns(busier, 50, 19'999);
  make_room();
  EXPECT_EQ(waiting(hot), 10u);
}

TEST_F(a_worker_with_a_hot_color, gives_nothing_in_its_first_turn) {
  hot_turn_ended(4'000'001);
  let_wait(hot, 10);
  made_turns(busy, 50);
  made_turns(busier, 50);
  make_room();
  EXPECT_EQ(waiting(hot), 10u);
}

TEST_F(a_worker_with_a_hot_color, finds_what_it_gave_away_again_by_the_other_ones_chain) {
  let_wait(hot, 10);
  made_turns(busy, 50);
  made_turns(busier, 50);
  make_room();
  EXPECT_EQ(waiting(busy), 10u);
  EXPECT_EQ(policy->drop_all(), 10u);
}

}  // namespace
}  // namespace tartan::detail
