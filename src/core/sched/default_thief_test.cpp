// Whether a thief takes a backlog is a matter of times. Here they are told to it: no worker runs, and no clock decides.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <source_location>
#include <tartan/core/hints.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <utility>

#include "core/clock.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/biased_lock.h"
#include "core/sched/default_policy.h"
#include "core/sched/default_policy_probe.h"
#include "core/sched/scheduled.h"

namespace tartan::detail {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t now_ns = 1'000'000'000;

/// Worker 0 looks at worker 1, both awake; or at more.
class a_thief : public testing::Test {
 protected:
  explicit a_thief(unsigned workers = 2) : rt{of_workers(workers)} {
    auto made = std::make_unique<scheduled<default_policy>>(rt.state());
    policy = &made->inner();
    rt.state().use(std::move(made));
  }

  /// Gives the victim colors that wait, and has it make so many turns in the time for which it is watched.
  void let_wait(unsigned colors, unsigned turns, std::uint64_t watched_ns = 100'000, const hints& told = {}) {
    let_wait_at(victim, colors, turns, watched_ns, told);
  }
  void let_wait_at(worker& whose, unsigned colors, unsigned turns, std::uint64_t watched_ns = 100'000, const hints& told = {}) {
    glance_at(whose.index) = {.turns = whose.turns.get(), .since_ns = now_ns - watched_ns};
    for (unsigned n = 0; n < colors; ++n) {
      event& e = *make_event(rt.state(), with_hints(told, [] {}), std::source_location::current());
      policy->submit(color{++last_color}, e, &whose);
    }
    whose.turns.add(turns);
  }
  bool takes_at(std::uint64_t when_ns) { return default_policy_probe::visit_others(*policy, thief, when_ns); }
  /// Where turns are short one look is not enough; until the next one the victim makes so many.
  bool takes_at_second_look(std::uint64_t first_ns, unsigned turns) {
    EXPECT_FALSE(takes_at(first_ns));
    victim.turns.add(turns);
    return takes_at(first_ns + 20'000);
  }
  default_policy_probe::thiefs_notes& notes() { return default_policy_probe::thiefs_notes_of(*policy, thief); }
  glance& glance_at(unsigned other) { return default_policy_probe::glance_of(*policy, thief, other); }

  static options of_workers(unsigned workers) {
    options with;
    with.workers = workers;
    return with;
  }

  runtime rt;
  default_policy* policy = nullptr;
  worker& thief = rt.state().life().at(0);
  worker& victim = rt.state().life().at(1);
  unsigned last_color = 0;
};

TEST_F(a_thief, takes_what_waits_behind_an_event_that_does_not_end) {
  let_wait(1, 0);
  EXPECT_TRUE(takes_at(now_ns));
  EXPECT_EQ(policy->waiting(thief.index), 1u);
}

TEST_F(a_thief, leaves_for_a_while_what_an_event_has_made_to_its_maker) {
  let_wait(1, 0, 49'999);
  EXPECT_FALSE(takes_at(now_ns));
  EXPECT_TRUE(takes_at(now_ns + 1));
}

TEST_F(a_thief, judges_nobody_whom_it_has_not_watched_for_long_enough) {
  let_wait(100, 19, 39'999);
  EXPECT_FALSE(takes_at(now_ns));
  EXPECT_TRUE(takes_at(now_ns + 1));
}

TEST_F(a_thief, judges_each_look_by_what_was_done_since_the_one_before) {
  let_wait(40, 50);  // 2 us each
  EXPECT_TRUE(takes_at(now_ns));
  let_wait(0, 0, 0);
  victim.turns.add(1000);
  EXPECT_FALSE(takes_at(now_ns + 40'000));  // 40 ns each since
  EXPECT_FALSE(takes_at(now_ns + 80'000));  // none since, for 40 us
  EXPECT_TRUE(takes_at(now_ns + 90'000));
}

TEST_F(a_thief, begins_anew_with_one_that_had_nothing_waiting_when_it_looked) {
  EXPECT_FALSE(takes_at(now_ns));
  let_wait(0, 0, 0);
  EXPECT_FALSE(takes_at(now_ns + 200'000));
  const glance before = glance_at(victim.index);
  let_wait(1, 0, 0);
  glance_at(victim.index) = before;
  EXPECT_FALSE(takes_at(now_ns + 249'999));  // idle until a moment ago, for all that is known
  EXPECT_TRUE(takes_at(now_ns + 250'000));
}

TEST_F(a_thief, takes_a_backlog_that_costs_more_time_than_the_theft) {
  let_wait(49, 250);  // 400 ns each: 19.6 us
  EXPECT_FALSE(takes_at_second_look(now_ns, 50));
  let_wait(1, 250);
  EXPECT_TRUE(takes_at_second_look(now_ns, 50));
}

TEST_F(a_thief, takes_colors_only_if_their_turns_last_as_long_as_it_takes_to_move_them) {
  let_wait(200, 1000, 300'300);
  EXPECT_TRUE(takes_at_second_look(now_ns, 66));  // 303 ns each
  let_wait(200, 1000, 300'300);
  EXPECT_FALSE(takes_at_second_look(now_ns, 67));  // 299 ns
}

/// Colors wait whose turns take 100 ns each, and of those turns so many make a color runnable.
class a_thief_of_chains : public a_thief {
 protected:
  void let_go_on(unsigned colors, unsigned follow_ups) {
    let_wait(colors, 0, 400'000);
    glance_at(victim.index).follow_ups = victim.follow_ups.get();
    victim.turns.add(4000);
    victim.follow_ups.add(follow_ups);
  }
  bool takes_at_second_look_at_chains() {
    EXPECT_FALSE(takes_at(now_ns));
    victim.turns.add(200);
    victim.follow_ups.add(200);
    return takes_at(now_ns + 20'000);
  }
};

TEST_F(a_thief_of_chains, takes_cheap_colors_for_the_turns_that_follow_from_them) {
  let_go_on(16, 2000);
  EXPECT_TRUE(takes_at_second_look_at_chains());
}

TEST_F(a_thief_of_chains, leaves_colors_of_which_most_have_nothing_to_follow) {
  let_go_on(16, 1999);
  EXPECT_FALSE(takes_at_second_look_at_chains());
}

// Each waits for so many others that it brings less than it costs to move it.
TEST_F(a_thief_of_chains, expects_no_more_turns_of_a_color_than_it_has_seen) {
  let_go_on(1334, 4000);  // 400 us / 1334: 299 ns
  EXPECT_FALSE(takes_at_second_look_at_chains());
  EXPECT_FALSE(glance_at(victim.index).suspected);
}

// Two colors that post to each other would be on two workers.
TEST_F(a_thief_of_chains, leaves_the_only_color_that_waits) {
  let_go_on(1, 4000);
  EXPECT_FALSE(takes_at_second_look_at_chains());
  let_go_on(1, 4000);
  EXPECT_TRUE(takes_at_second_look_at_chains());
}

TEST_F(a_thief, does_not_take_one_long_turn_or_a_pause_for_the_rule) {
  let_wait(100, 100);  // 1 us each, but they have just been made, in one turn
  EXPECT_FALSE(takes_at_second_look(now_ns, 200));
  EXPECT_FALSE(takes_at(now_ns + 40'000));  // and from there on anew
  EXPECT_EQ(policy->waiting(victim.index), 100u);
}

TEST_F(a_thief, looks_again_only_after_20_us_and_only_where_turns_are_short) {
  let_wait(40, 51);  // 1.96 us each
  EXPECT_FALSE(takes_at(now_ns));
  victim.turns.add(10);
  EXPECT_FALSE(takes_at(now_ns + 19'999));
  EXPECT_TRUE(takes_at(now_ns + 20'000));
}

/// A clock that goes on by 1 us with each look at it.
std::uint64_t watchers_now_ns = 0;
counter* turns_of_victim = nullptr;
std::uint64_t next_us() noexcept { return watchers_now_ns += 1'000; }

class a_watcher_asleep : public a_thief {
 protected:
  explicit a_watcher_asleep(unsigned workers = 2) : a_thief{workers} {
    watchers_now_ns = now_ns;
    default_policy_probe::use_clock(*policy, next_us);
  }
  /// Has let wait what takes 1 us each for 100 us.
  void suspects() {
    let_wait(100, 100);
    EXPECT_EQ(notes().price_ns, 20'000u);
  }
};

TEST_F(a_watcher_asleep, waits_for_the_second_look_where_it_is) {
  suspects();
  EXPECT_EQ(policy->watch_others(thief), work_seen::found);  // no turn since: stuck
  EXPECT_GE(watchers_now_ns, now_ns + 50'000);
  EXPECT_LT(watchers_now_ns, now_ns + 60'000);
}

TEST_F(a_watcher_asleep, sleeps_on_if_the_second_look_shows_that_turns_are_cheap) {
  suspects();
  default_policy_probe::use_clock(*policy, []() noexcept {
    if (watchers_now_ns == now_ns + 10'000) turns_of_victim->add(200);
    return next_us();
  });
  turns_of_victim = &victim.turns;
  EXPECT_EQ(policy->watch_others(thief), work_seen::declined);
  EXPECT_GE(watchers_now_ns, now_ns + 20'000);
  EXPECT_LT(watchers_now_ns, now_ns + 40'000);
  EXPECT_EQ(glance_at(victim.index).turns, victim.turns.get());  // and from there on anew
}

class a_watcher_of_two : public a_watcher_asleep {
 protected:
  a_watcher_of_two() : a_watcher_asleep{3} {}
  worker& other = rt.state().life().at(2);
};
counter* turns_of_other = nullptr;

TEST_F(a_watcher_of_two, waits_for_the_second_looks_at_both_together) {
  suspects();
  let_wait_at(other, 100, 100);
  turns_of_victim = &victim.turns;
  turns_of_other = &other.turns;
  default_policy_probe::use_clock(*policy, []() noexcept {
    if (watchers_now_ns == now_ns + 10'000) turns_of_victim->add(200), turns_of_other->add(200);
    return next_us();
  });
  EXPECT_EQ(policy->watch_others(thief), work_seen::declined);
  EXPECT_GE(watchers_now_ns, now_ns + 20'000);
  EXPECT_LT(watchers_now_ns, now_ns + 35'000);
}

TEST_F(a_watcher_asleep, gets_up_at_once_if_it_is_called) {
  suspects();
  auto& sleepers = rt.state().life().sleepers();
  sleepers.search();
  sleepers.rest(thief.index);
  ASSERT_TRUE(sleepers.claim(thief.index));
  EXPECT_EQ(policy->watch_others(thief), work_seen::found);
  EXPECT_LT(watchers_now_ns, now_ns + 10'000);
  sleepers.cancel(thief.index);
  (void)sleepers.end_search();
}

TEST_F(a_watcher_asleep, counts_anew_while_it_keeps_off) {
  suspects();
  notes().keeps_off_until_ns = never_ns;
  EXPECT_EQ(policy->watch_others(thief), work_seen::declined);
  EXPECT_GT(glance_at(victim.index).since_ns, now_ns);
  EXPECT_LT(watchers_now_ns, now_ns + 10'000);
}

TEST_F(a_watcher_asleep, gets_up_for_what_pays_only) {
  EXPECT_EQ(policy->watch_others(thief), work_seen::none);
  let_wait(1, 0, 50'000);
  notes().keeps_off_until_ns = never_ns;
  EXPECT_EQ(policy->watch_others(thief), work_seen::declined);
  notes().keeps_off_until_ns = 0;
  EXPECT_EQ(policy->watch_others(thief), work_seen::found);
}

TEST_F(a_watcher_asleep, gets_up_for_work_of_its_own) {
  event& e = *make_event(rt.state(), [] {}, std::source_location::current());
  policy->submit(color{1}, e, &thief);
  EXPECT_EQ(policy->watch_others(thief), work_seen::found);
}

TEST_F(a_thief, takes_what_is_told_to_be_worth_it_without_watching) {
  let_wait(4, 0, 0, {.cost = 5us});  // rounded down to 4.1 us each: 16.4 us
  EXPECT_FALSE(takes_at(now_ns));
  let_wait(1, 0, 0, {.cost = 5us});
  EXPECT_TRUE(takes_at(now_ns));
  EXPECT_EQ(policy->waiting(thief.index), 3u);
  let_wait(2, 0, 0, {.cost = 5us});  // four wait again
  EXPECT_FALSE(takes_at(now_ns));
}

TEST_F(a_thief, leaves_what_is_told_to_be_cheap_or_to_suffer_from_it) {
  let_wait(200, 0, 0, {.cost = 300ns});
  EXPECT_FALSE(takes_at(now_ns));
  let_wait(10, 0, 0, {.cost = 5us, .penalty = 1000});
  EXPECT_FALSE(takes_at(now_ns));
}

TEST_F(a_thief, takes_urgent_colors_first) {
  let_wait(2, 0);
  let_wait(2, 0, 100'000, {.priority = 2});
  EXPECT_TRUE(takes_at(now_ns));
  EXPECT_EQ(policy->waiting(thief.index), 2u);
  EXPECT_EQ(policy->waiting(victim.index), 2u);
  EXPECT_EQ(default_policy_probe::urgent_at(*policy, thief), 1u);  // half of them
}

TEST_F(a_thief, takes_what_waits_only_in_the_chain_of_one_whose_turns_are_long) {
  strand_state* const posted_to = policy->open_strand(&thief, false);
  policy->place(*posted_to, victim.index);
  policy->submit(*posted_to, *make_event(rt.state(), [] {}, std::source_location::current()), &thief);
  let_wait(0, 3);  // 33 us each
  EXPECT_TRUE(takes_at(now_ns));
  EXPECT_EQ(policy->waiting(thief.index), 1u);
  policy->close_strand(*posted_to, &thief);
}

TEST_F(a_thief, leaves_cheap_colors_to_who_serves_them_faster_alone) {
  let_wait(3999, 4000, 400'000);  // 100 ns each: 399.9 us
  EXPECT_FALSE(takes_at_second_look(now_ns, 200));
  EXPECT_EQ(policy->waiting(victim.index), 3999u);
}

TEST_F(a_thief, shares_a_long_backlog_of_cheap_colors) {
  let_wait(4000, 4000, 400'000);  // 100 ns each, but the last one would wait for 400 us
  EXPECT_TRUE(takes_at_second_look(now_ns, 200));
  EXPECT_EQ(policy->waiting(thief.index), 1000u);  // no more than that nobody waits for longer than three quarters of that
  EXPECT_EQ(policy->waiting(victim.index), 3000u);
}

TEST_F(a_thief, foretells_no_wait_from_less_than_a_tour_or_200_us) {
  let_wait(4000, 1999, 199'999);
  EXPECT_FALSE(takes_at_second_look(now_ns, 200));
  let_wait(0, 2000, 200'000);
  EXPECT_TRUE(takes_at_second_look(now_ns, 200));
}

TEST_F(a_thief, takes_no_more_than_it_can_while_the_victim_waits) {
  let_wait(6000, 6000, 600'000);
  EXPECT_TRUE(takes_at_second_look(now_ns, 200));
  EXPECT_EQ(policy->waiting(thief.index), 2440u);
  EXPECT_EQ(policy->waiting(victim.index), 6000u - 2440u);
}

TEST_F(a_thief, keeps_off_for_a_while_after_loot_that_did_not_pay) {
  let_wait(1, 0);
  notes().stole_at_ns = now_ns - 39'999;
  notes().judge_loot(now_ns);
  EXPECT_FALSE(takes_at(now_ns));
  EXPECT_FALSE(takes_at(now_ns + 99'999));
  EXPECT_TRUE(takes_at(now_ns + 100'000));
}

TEST_F(a_thief, keeps_off_for_longer_each_time_but_never_so_long_that_anything_would_wait_for_1_ms) {
  for (const std::uint64_t expected_ns : {100'000u, 200'000u, 400'000u, 500'000u, 500'000u}) {
    notes().stole_at_ns = now_ns;
    notes().judge_loot(now_ns);
    EXPECT_EQ(notes().keeps_off_until_ns, now_ns + expected_ns);
  }
}

TEST_F(a_thief, comes_back_at_once_after_loot_that_paid) {
  let_wait(1, 0);
  notes().keeps_off_ns = 400'000;
  notes().keeps_off_until_ns = now_ns + 400'000;
  notes().stole_at_ns = now_ns - 40'000;
  notes().judge_loot(now_ns);
  EXPECT_TRUE(takes_at(now_ns));
}

TEST_F(a_thief, does_not_keep_off_from_who_sleeps) {
  let_wait(1, 0);
  notes().keeps_off_until_ns = never_ns;
  EXPECT_FALSE(takes_at(now_ns));
  auto& sleepers = rt.state().life().sleepers();
  sleepers.search();
  sleepers.rest(victim.index);
  EXPECT_TRUE(takes_at(now_ns));
  sleepers.cancel(victim.index);
  (void)sleepers.end_search();
}

TEST_F(a_thief, waits_for_the_answer_of_who_makes_short_turns) {
  let_wait(1, 5);  // 20 us each
  EXPECT_TRUE(default_policy_probe::may_answer(*policy, thief, victim.index, now_ns));
  EXPECT_FALSE(default_policy_probe::may_answer(*policy, thief, victim.index, now_ns + 5));
}

TEST_F(a_thief, waits_for_no_answer_from_within_a_long_event) {
  let_wait(1, 0, 1'000);
  EXPECT_FALSE(default_policy_probe::may_answer(*policy, thief, victim.index, now_ns));
}

TEST_F(a_thief, waits_for_no_answer_of_who_sleeps) {
  let_wait(1, 5);
  auto& sleepers = rt.state().life().sleepers();
  sleepers.search();
  sleepers.rest(victim.index);
  EXPECT_FALSE(default_policy_probe::may_answer(*policy, thief, victim.index, now_ns));
  sleepers.cancel(victim.index);
  (void)sleepers.end_search();
}

// Until the victim has answered, which it may miss while it has no CPU: for ever, if nobody were asked.
TEST_F(a_thief, is_let_in_by_a_victim_that_makes_turns_and_learns_no_price_from_that) {
  std::atomic<bool> over{false};
  std::thread owner{[&] {
    while (!over.load()) default_policy_probe::home_of(*policy, victim).lock.answer();
  }};
  do {
    notes().price_ns = 12'345;
    glance_at(victim.index) = {.turns = victim.turns.get(), .since_ns = real_now_ns(), .suspected = true};
    victim.turns.add(1);
    (void)default_policy_probe::steal_from(*policy, thief, victim.index);
    EXPECT_FALSE(glance_at(victim.index).suspected);
  } while (policy->figures().answered == 0);
  EXPECT_EQ(notes().price_ns, 12'345u);
  over = true;
  owner.join();
}

TEST_F(a_thief, learns_no_price_from_an_answer_that_never_comes) {
  let_wait(1, 0);
  notes().price_ns = 12'345;
  glance_at(victim.index) = {.turns = victim.turns.get(), .since_ns = real_now_ns()};
  victim.turns.add(1'000'000);  // so short ones that it is asked; but nobody runs it
  EXPECT_TRUE(default_policy_probe::steal_from(*policy, thief, victim.index));
  EXPECT_EQ(policy->figures().answered, 0u);
  EXPECT_EQ(notes().price_ns, 12'345u);
}

// A thief enters within the first event. The third batch finds it answered, or else was not reached in time: then the thief is in the owner's way.
TEST(a_victim, answers_after_each_batch_of_a_backlog) {
  options with;
  with.workers = 1;
  runtime rt{with};
  auto& policy = dynamic_cast<scheduled<default_policy>&>(rt.state().policy()).inner();
  auto& lock = default_policy_probe::home_of(policy, rt.state().life().at(0)).lock;
  std::atomic<bool> over{false};
  std::atomic<bool> cut_short{false};
  std::thread helper{[&] {
    for (; !over; std::this_thread::yield()) {
      if (!biased_lock_probe::is_in_the_way(lock)) continue;
      cut_short = true;
      lock.leave_as_thief();
    }
  }};
  bool answered = false;
  auto entry = thief_entry::refused;
  strand hot{rt};
  do {
    cut_short = false;
    for (int n = 0; n < 100; ++n) {
      hot.post([&, n] {
        if (n == 0) entry = lock.try_enter_as_thief(false);
        if (n != 40 || !biased_lock_probe::has_thief(lock)) return;
        answered = biased_lock_probe::has_answered(lock);
        lock.leave_as_thief();
      });
    }
    rt.run_until_idle();
  } while (cut_short);
  over = true;
  helper.join();
  EXPECT_EQ(entry, thief_entry::past_barrier);
  EXPECT_TRUE(answered);
}

TEST_F(a_thief, does_not_keep_off_after_loot_whose_owner_slept) {
  notes().stole_at_ns = now_ns;
  notes().took_at_once = true;
  notes().judge_loot(now_ns + 1);
  EXPECT_EQ(notes().keeps_off_until_ns, 0u);
  EXPECT_EQ(policy->figures().stolen_run_ns, 1u);
}

TEST_F(a_thief, goes_by_the_price_that_it_has_measured) {
  notes().price_ns = 10'000;
  let_wait(24, 250);  // 400 ns each: 9.6 us
  EXPECT_FALSE(takes_at_second_look(now_ns, 50));
  let_wait(1, 250);
  EXPECT_TRUE(takes_at_second_look(now_ns, 50));
  notes().price_ns = 30'000;
  let_wait(5, 0, 0, {.cost = 5us});
  EXPECT_FALSE(takes_at(now_ns));
}

TEST_F(a_thief, measures_the_price_where_the_owner_is_awake) {
  let_wait(1, 0);
  notes().price_ns = 0;  // lower than any that is learned
  EXPECT_TRUE(takes_at(now_ns));
  EXPECT_NE(notes().price_ns, 0u);
  const scheduler_figures told = policy->figures();
  EXPECT_TRUE(told.counted);
  EXPECT_EQ(told.steals, 1u);
  EXPECT_EQ(told.longest_queue, 1u);
  EXPECT_GT(told.lock_wait_ns, 0u);
  EXPECT_GT(told.lock_held_ns, 0u);
  EXPECT_GE(told.steal_ns, told.lock_wait_ns + told.lock_held_ns);
  EXPECT_EQ(told.vain_visits, 0u);

  auto& sleepers = rt.state().life().sleepers();
  sleepers.search();
  sleepers.rest(victim.index);
  notes().price_ns = 20'000;
  let_wait(1, 0);
  EXPECT_TRUE(takes_at(now_ns));
  EXPECT_EQ(notes().price_ns, 20'000u);  // its barrier stops nobody
  sleepers.cancel(victim.index);
  (void)sleepers.end_search();
}

TEST_F(a_thief, does_not_believe_in_a_price_that_it_has_seen_once) {
  notes().learn_price(1'000'000'000);
  EXPECT_EQ(notes().price_ns, 22'500u);
  for (int n = 0; n < 100; ++n) notes().learn_price(1'000'000'000);
  EXPECT_NEAR(static_cast<double>(notes().price_ns), 40'000, 8);
  for (int n = 0; n < 100; ++n) notes().learn_price(3'000);
  EXPECT_NEAR(static_cast<double>(notes().price_ns), 6'000, 8);
  for (int n = 0; n < 100; ++n) notes().learn_price(1);
  EXPECT_NEAR(static_cast<double>(notes().price_ns), 5'000, 8);
}

TEST_F(a_thief, tells_of_a_visit_in_vain) {
  EXPECT_FALSE(default_policy_probe::steal_from(*policy, thief, victim.index));
  EXPECT_EQ(policy->figures().vain_visits, 1u);
  EXPECT_EQ(policy->figures().steals, 0u);
}

TEST(a_worker, counts_the_turns_that_make_a_color_runnable) {
  options with;
  with.workers = 1;
  runtime rt{with};
  const worker& w = rt.state().life().at(0);
  const auto run = [&](auto&& f) {
    const std::uint64_t before = w.follow_ups.get();
    rt.post(color{1}, f);
    rt.run_until_idle();
    return w.follow_ups.get() - before;
  };
  strand other{rt};
  EXPECT_EQ(run([] {}), 0u);
  EXPECT_EQ(run([&] { other.post([] {}); }), 1u);
  EXPECT_EQ(run([&] { other.post([&] { rt.post(color{1}, [] {}); }); }), 2u);
  // Its own, which has one event more than a turn's batch.
  EXPECT_EQ(run([&] {
              for (int n = 0; n < 16; ++n) rt.post(color{1}, [] {});
            }),
            1u);
}

TEST_F(a_thief, judges_in_its_next_search_what_it_took) {
  let_wait(1, 0);
  EXPECT_TRUE(takes_at(now_ns));
  EXPECT_NE(notes().stole_at_ns, 0u);
  policy->search(thief);
  EXPECT_EQ(notes().stole_at_ns, 0u);
}

TEST_F(a_thief, judges_at_the_end_of_a_run_what_it_took_unless_some_of_it_is_left) {
  default_policy_probe::thiefs_notes& own = default_policy_probe::thiefs_notes_of(*policy, victim);
  const auto end_a_run = [&] {
    own.keeps_off_ns = 100'000;
    own.took_at_once = false;
    own.stole_at_ns = 1;  // long ago: it has paid
    rt.state().policy().run(victim);  // ends at once: nobody has begun a run
    EXPECT_EQ(own.stole_at_ns, 0u);
  };
  end_a_run();
  EXPECT_EQ(own.keeps_off_ns, 0u);
  let_wait(1, 0);
  end_a_run();
  EXPECT_EQ(own.keeps_off_ns, 100'000u);
}

}  // namespace
}  // namespace tartan::detail
