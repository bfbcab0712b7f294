// Workers that do not run, of which one is the guard: each step by hand, in a time that stands still; docs/design/sleeping.md.

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <tartan/core/event.h>
#include <tartan/core/strand.h>
#include <utility>
#include <vector>

#include "core/tuning.h"
#include "io/workers_at_rest_fixture.h"
#include "tests/short_turns.h"

namespace tartan {
namespace {

using detail::bed;
using detail::idle_view;
using detail::lifecycle_probe;
using test::accept_all;
using test::begin_ns;
using test::noted_poller;
using test::plain_client;
using test::workers_at;
using test::workers_at_rest;

INSTANTIATE_TEST_SUITE_P(io, workers_at_rest, testing::Values(2, 4, 8), test::worker_name);

TEST_P(workers_at_rest, the_first_one_is_the_guard_and_the_last_one_waits_for_readiness) {
  others_go_to_bed();
  EXPECT_EQ(takes_bed(0), bed::source);
  const idle_view last = rests(0);
  EXPECT_EQ(last.awake(), 0u);
  EXPECT_TRUE(last.watching());
  EXPECT_TRUE(last.polling());
  for (unsigned n = 0; n < size(); ++n) EXPECT_FALSE(lifecycle_probe::is_in_wrong_bed(life(), n, last)) << n;
  for (unsigned n = 0; n < size(); ++n) gets_up(n);
  const idle_view up = sleepers().view();
  EXPECT_FALSE(up.polling());
  EXPECT_FALSE(up.watching());
}

// Each sees the other one awake when it chooses.
TEST_P(workers_at_rest, of_two_that_choose_at_once_the_one_that_sees_itself_last_gets_up_and_waits_for_readiness) {
  for (unsigned n = 2; n < size(); ++n) static_cast<void>(goes_to_bed(n));
  EXPECT_NE(takes_bed(0), bed::source);
  EXPECT_NE(takes_bed(1), bed::source);
  EXPECT_FALSE(lifecycle_probe::is_in_wrong_bed(life(), 0, rests(0)));
  EXPECT_TRUE(lifecycle_probe::is_in_wrong_bed(life(), 1, rests(1)));
  gets_up(1);
  EXPECT_EQ(takes_bed(1), bed::source);
  EXPECT_FALSE(lifecycle_probe::is_in_wrong_bed(life(), 1, rests(1)));
}

// Nothing has been looked at when it sees that it may be wanted again.
TEST_P(workers_at_rest, one_that_is_too_many_does_not_sleep) {
  detail::worker& w = life().at(1);
  const std::uint64_t before = w.sleeps.get();
  lifecycle_probe::want(life(), 1);
  sleepers().search();
  life().rest(w, detail::polling::shared);
  lifecycle_probe::want(life(), size());
  EXPECT_EQ(w.sleeps.get(), before);
  static_cast<void>(sleepers().end_search());
}

// It may have been the one that polls; and until its hook returns, nobody else may look.
TEST_P(workers_at_rest, one_that_is_too_many_when_it_wakes_sets_the_guards_alarm) {
  ASSERT_EQ(goes_to_bed(0), bed::guard);
  time.still_at_ns += 2 * far_ns();
  time.before_sleep = [&] {
    lifecycle_probe::want(life(), 1);
    ASSERT_TRUE(sleepers().claim(1));
  };
  sleepers().search();
  life().rest(life().at(1), detail::polling::shared);
  lifecycle_probe::want(life(), size());
  EXPECT_EQ(time.alarm_ns.load(), time.still_at_ns + far_ns());
  static_cast<void>(sleepers().end_search());
}

// It would sleep for ever: the next worker that polls may be in a long event.
TEST_P(workers_at_rest, one_that_finds_readiness_set_aside_does_not_sleep) {
  time.is_aside = true;
  sleepers().search();
  life().rest(life().at(1), detail::polling::shared);
  EXPECT_FALSE(sleepers().is_asleep(1));
  static_cast<void>(sleepers().end_search());
}

TEST_P(workers_at_rest, one_that_is_never_to_poll_sleeps_on_its_token_also_as_the_last_one) {
  for (unsigned n = 1; n < size(); ++n) static_cast<void>(goes_to_bed(n));
  EXPECT_EQ(lifecycle_probe::take_bed(life(), 0, detail::polling::never), bed::token);
  EXPECT_FALSE(lifecycle_probe::is_in_wrong_bed(life(), 0, rests(0), detail::polling::never));
}

TEST_P(workers_at_rest, one_that_always_polls_does_so_while_others_are_awake) {
  EXPECT_EQ(lifecycle_probe::take_bed(life(), 1, detail::polling::always), bed::source);
  static_cast<void>(rests(1));
  EXPECT_TRUE(sleepers().view().polling());
}

// What it has posted to a worker in a long event, and then declined to steal, nobody else may be there to see.
TEST_P(workers_at_rest, one_that_waits_for_readiness_and_has_declined_something_watches_it_unless_there_is_a_guard) {
  life().at(1).watch_left = 8;
  for (const bool is_guarded : {false, true}) {
    if (is_guarded) {
      ASSERT_EQ(takes_bed(0), bed::guard);
    }
    EXPECT_EQ(lifecycle_probe::take_bed(life(), 1, detail::polling::always), bed::source);
    EXPECT_TRUE(sleepers().view().watching());
    if (!is_guarded) sleepers().end_watch();
    lifecycle_probe::leave_bed(life(), 1);
  }
  EXPECT_TRUE(sleepers().view().watching()) << "the guard's";
  lifecycle_probe::leave_bed(life(), 0);
  life().at(1).watch_left = 0;
  EXPECT_EQ(lifecycle_probe::take_bed(life(), 1, detail::polling::always), bed::source);
  EXPECT_FALSE(sleepers().view().watching());
  lifecycle_probe::leave_bed(life(), 1);
}

TEST_P(workers_at_rest, are_woken_from_the_one_that_waits_for_readiness_to_the_guard) {
  others_go_to_bed();
  EXPECT_EQ(goes_to_bed(0), bed::source);
  std::vector<unsigned> order;
  for (unsigned n = 0; n < size(); ++n) order.push_back(sleepers().claim_any(size()));
  EXPECT_EQ(order.front(), 0u);
  EXPECT_EQ(order.back(), 1u);
  EXPECT_EQ(claimed().size(), size());
  EXPECT_EQ(sleepers().claim_any(2 * size()), detail::lifecycle::idle::nobody);
}

TEST_P(workers_at_rest, the_guard_sleeps_until_nobody_has_looked_for_long) {
  others_go_to_bed();
  EXPECT_EQ(time.alarm_ns.load(), begin_ns + far_ns()) << "its own alarm";
  time.still_at_ns += far_ns() / 2;
  lifecycle_probe::attend(life(), 0, true);
  EXPECT_EQ(time.alarm_ns.load(), begin_ns + far_ns()) << "there is time enough";
  time.still_at_ns += far_ns() / 4;
  lifecycle_probe::attend(life(), 0, false);
  EXPECT_EQ(time.alarm_ns.load(), time.still_at_ns + far_ns());
  EXPECT_TRUE(lifecycle_probe::is_attended(life(), 1)) << "an earlier one has gone off";
  time.still_at_ns += far_ns();
  EXPECT_FALSE(lifecycle_probe::is_attended(life(), 1));
  gets_up(1);
  EXPECT_EQ(takes_bed(1), bed::source) << "it has found nothing that it could have come for: the others are in long events";
  lifecycle_probe::leave_bed(life(), 1);
  life().at(1).events.add();
  EXPECT_EQ(takes_bed(1), bed::guard);
  lifecycle_probe::leave_bed(life(), 1);
  time.alarm_ns = 0;
  lifecycle_probe::attend(life(), 0, true);
  EXPECT_EQ(time.alarm_ns.load(), 0u) << "there is no guard";
}

TEST_P(workers_at_rest, the_guard_puts_its_alarm_off_for_a_look_that_did_not_set_it) {
  others_go_to_bed();
  time.still_at_ns += far_ns() / 2;
  lifecycle_probe::attend(life(), 0, false);
  ASSERT_EQ(time.alarm_ns.load(), begin_ns + far_ns());
  time.still_at_ns += far_ns() / 2;
  EXPECT_TRUE(lifecycle_probe::is_attended(life(), 1));
  EXPECT_EQ(time.alarm_ns.load(), begin_ns + far_ns() / 2 + far_ns());
  time.still_at_ns += far_ns() / 2;
  EXPECT_FALSE(lifecycle_probe::is_attended(life(), 1)) << "nobody has looked since";
}

TEST_P(workers_at_rest, the_guard_sleeps_on_while_all_others_sleep_and_the_first_that_wakes_sets_its_alarm) {
  others_go_to_bed();
  EXPECT_EQ(goes_to_bed(0), bed::source);
  time.still_at_ns += 2 * far_ns();
  EXPECT_TRUE(lifecycle_probe::is_attended(life(), 1));
  EXPECT_EQ(time.alarm_ns.load(), begin_ns + far_ns()) << "it does not wake again and again for nobody";
  gets_up(0);
  lifecycle_probe::attend(life(), 0, true);
  EXPECT_EQ(time.alarm_ns.load(), time.still_at_ns + far_ns());
}

// left-to-poster.
TEST_P(workers_at_rest, the_alarm_is_not_set_ahead_while_something_waits_at_a_worker_that_sleeps) {
  const std::vector<strand> left = line_at(size() - 1, 1);
  others_go_to_bed();
  time.still_at_ns += far_ns() - 1;
  lifecycle_probe::attend(life(), 0, false);
  lifecycle_probe::attend(life(), 0, false);
  EXPECT_EQ(time.alarm_ns.load(), begin_ns + far_ns());
  time.still_at_ns += 1;
  EXPECT_FALSE(lifecycle_probe::is_attended(life(), 1)) << "it comes for that although somebody looks";
  lifecycle_probe::attend(life(), 0, true);
  EXPECT_EQ(time.alarm_ns.load(), time.still_at_ns + far_ns()) << "one that wakes up sets it all the same";
}

// Each look finds the line shorter, and the one that came first may still be in it.
TEST_P(workers_at_rest, the_alarm_is_set_ahead_by_what_may_have_waited_longest) {
  const std::vector<strand> line = line_at(0, 3);
  others_go_to_bed();
  lifecycle_probe::attend(life(), 0, true);
  lifecycle_probe::attend(life(), 0, false);
  const auto alarm_after = [this](int turns) {
    for (int n = 0; n < turns; ++n) life().at(0).turns.add();
    lifecycle_probe::attend(life(), 0, false);
    return time.alarm_ns.load();
  };
  time.still_at_ns += far_ns() - 1;
  EXPECT_EQ(alarm_after(2), begin_ns + far_ns()) << "the last one has waited since then";
  EXPECT_EQ(alarm_after(1), begin_ns + far_ns()) << "so have those that came between that and this look";
  EXPECT_EQ(alarm_after(3), time.still_at_ns + far_ns());
}

TEST_P(workers_at_rest, the_alarm_is_not_set_ahead_while_colors_of_a_higher_level_go_first) {
  others_go_to_bed();
  lifecycle_probe::attend(life(), 0, true);
  time.still_at_ns += far_ns() - 1;
  life().at(0).passes_over = true;
  lifecycle_probe::attend(life(), 0, false);
  lifecycle_probe::attend(life(), 0, false);
  EXPECT_EQ(time.alarm_ns.load(), begin_ns + far_ns());
  life().at(0).passes_over = false;
  lifecycle_probe::attend(life(), 0, false);
  EXPECT_EQ(time.alarm_ns.load(), time.still_at_ns + far_ns());
}

// A sleep would find it at once, and then nothing would be known to have waited.
TEST_P(workers_at_rest, one_looks_before_it_rests_if_the_last_look_was_full) {
  const auto looks = [this] {
    const unsigned before = time.harvests.load();
    static_cast<void>(life().look_before_rest(life().at(0)));
    return time.harvests.load() - before;
  };
  EXPECT_EQ(looks(), 0u);
  time.finds_much = true;
  EXPECT_EQ(looks(), 1u);
}

TEST_P(workers_at_rest, a_long_line_calls_one_and_makes_readiness_worth_a_wake_up_if_its_turns_are_long) {
  const std::vector<strand> line = line_at(0, 100);
  const unsigned helper = size() == 2 ? 1 : 2;  // the guard last
  detail::pace& turns = life().at(0).turn_pace;
  turns.begin(1'000, 0);
  turns.note(3'900, 1);  // a line of 290 us
  others_go_to_bed();
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_FALSE(life().wants_help(0)) << "it is not long";
  turns.note(3'900 + 2'900 + 16'000, 2);
  sleepers().pause();
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_FALSE(life().wants_help(0)) << "nobody is woken between runs";
  sleepers().resume();
  sleepers().search();
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_FALSE(life().wants_help(0)) << "one searches, and comes by itself";
  static_cast<void>(sleepers().end_search());
  EXPECT_EQ(claimed(), std::vector<unsigned>{});
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_TRUE(life().wants_help(0));
  EXPECT_EQ(claimed(), std::vector<unsigned>{helper});
  gets_up(helper);
  EXPECT_NE(takes_bed(helper), bed::source) << "its turns are short";
  turns.note(10'000'000, 3);
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_EQ(takes_bed(0), bed::source) << "its turns are long";
  lifecycle_probe::leave_bed(life(), 0);
  time.still_at_ns += 30'000'000;
  EXPECT_NE(takes_bed(0), bed::source);
  lifecycle_probe::leave_bed(life(), 0);
  lifecycle_probe::leave_bed(life(), helper);
  static_cast<void>(life().help_has_come(life().at(1), 0));
  EXPECT_FALSE(life().wants_help(0));
}

TEST_P(workers_at_rest, a_long_line_calls_nobody_while_there_is_no_guard) {
  const std::vector<strand> line = line_at(0, 100);
  life().at(0).turn_pace.begin(1'000, 0);
  life().at(0).turn_pace.note(1'000 + 1'000'000, 1);
  for (unsigned n = 1; n < size(); ++n) static_cast<void>(rests(n));
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_FALSE(life().wants_help(0));
  EXPECT_EQ(claimed(), std::vector<unsigned>{});
}

// One that has slept searches, and is not to be taken for another one.
TEST_P(workers_at_rest, a_long_line_after_a_sleep_calls_one_if_its_turns_are_long) {
  const std::vector<strand> line = line_at(0, 100);
  detail::pace& turns = life().at(0).turn_pace;
  others_go_to_bed();
  sleepers().search();
  turns.begin(1'000, 0);
  turns.note(1'000 + 24'999, 1);  // a line of 2.5 ms
  lifecycle_probe::ask_for_help(life(), 0, true);
  EXPECT_FALSE(life().wants_help(0)) << "it will soon be served";
  turns.begin(1'000, 1);
  turns.note(1'000 + 1'000'000, 2);
  sleepers().pause();
  lifecycle_probe::ask_for_help(life(), 0, true);
  EXPECT_FALSE(life().wants_help(0)) << "nobody is woken between runs";
  sleepers().resume();
  lifecycle_probe::ask_for_help(life(), 0, true);
  EXPECT_TRUE(life().wants_help(0));
  EXPECT_EQ(claimed().size(), 1u);
  lifecycle_probe::ask_for_help(life(), 0, true);
  EXPECT_FALSE(life().wants_help(0)) << "one comes already";
  EXPECT_EQ(claimed().size(), 1u);
  static_cast<void>(sleepers().end_search());
}

TEST_P(workers_at_rest, the_last_searcher_that_finds_work_wakes_one_that_will_be_the_guard) {
  for (unsigned n = 1; n < size(); ++n) static_cast<void>(rests(n));
  worker_0_finds_work();
  EXPECT_EQ(claimed().size(), 1u);
}

TEST_P(workers_at_rest, the_last_searcher_that_finds_work_wakes_nobody_while_there_is_a_guard) {
  others_go_to_bed();
  worker_0_finds_work();
  EXPECT_EQ(claimed(), std::vector<unsigned>{});
}

TEST_P(workers_at_rest, the_last_searcher_that_finds_work_wakes_nobody_while_one_waits_for_readiness) {
  EXPECT_EQ(lifecycle_probe::take_bed(life(), 1, detail::polling::always), bed::source);
  for (unsigned n = 1; n < size(); ++n) static_cast<void>(rests(n));
  worker_0_finds_work();
  EXPECT_EQ(claimed(), std::vector<unsigned>{});
}

TEST_P(workers_at_rest, the_last_searcher_that_finds_work_wakes_one_beside_the_guard_if_turns_are_dear) {
  std::vector<strand> line = line_at(0, 1);
  others_go_to_bed();
  sleepers().search();  // one that would come by itself: the line calls nobody
  life().at(0).turn_pace.begin(1'000, 0);
  life().at(0).turn_pace.note(1'000 + 1'000'000, 1);
  lifecycle_probe::ask_for_help(life(), 0);
  static_cast<void>(sleepers().end_search());
  ASSERT_EQ(claimed(), std::vector<unsigned>{});
  worker_0_finds_work();
  EXPECT_EQ(claimed().size(), 1u);
}

TEST_P(workers_at_rest, the_last_searcher_wakes_one_for_one_color) {
  const std::vector<strand> line = line_at(0, 1);
  for (unsigned n = 1; n < size(); ++n) static_cast<void>(rests(n));
  worker_0_finds_work();
  EXPECT_EQ(claimed().size(), 1u);
}

// left-to-poster.
TEST_P(workers_at_rest, one_leaves_a_post_to_itself_while_its_turns_are_cheap_and_there_is_a_guard) {
  detail::worker& poster = life().at(0);
  const auto leaves = [&](bool in_event, std::uint64_t turn_ns) {
    poster.turn_pace = {};
    poster.turn_pace.begin(1'000, 0);
    if (turn_ns != 0) poster.turn_pace.note(1'000 + turn_ns, 1);
    poster.in_event = in_event;
    poster.left_behind = false;
    const bool left = lifecycle_probe::leaves_to_poster(life(), 0);
    EXPECT_EQ(poster.left_behind, left);
    return left;
  };
  EXPECT_FALSE(leaves(true, 1'000)) << "there is no guard";
  others_go_to_bed();
  EXPECT_TRUE(leaves(true, 1'000));
  EXPECT_TRUE(leaves(true, 24'999));
  EXPECT_FALSE(leaves(true, 25'000));
  EXPECT_FALSE(leaves(true, 0)) << "it may be long";
  EXPECT_FALSE(leaves(false, 1'000)) << "it may go to rest";
  poster.posts_readiness = true;
  EXPECT_TRUE(leaves(false, 0)) << "it is about to run what is ready";
  poster.posts_readiness = false;
  poster.in_event = false;
  poster.left_behind = false;
}

TEST_P(workers_at_rest, what_a_poster_has_left_at_workers_that_sleep_it_takes_over_at_its_next_look) {
  detail::worker& poster = life().at(0);
  std::vector<strand> left;
  for (unsigned n = 1; n < size(); ++n) left.emplace_back(rt);
  others_go_to_bed();
  poster.turn_pace.begin(1'000, 0);
  poster.turn_pace.note(1'000 + 24'999, 1);
  poster.in_event = true;
  for (unsigned n = 1; n < size(); ++n) {
    detail::strand_state& to = detail::strand_access::state(left[n - 1]);
    rt.state().policy().place(to, n);
    rt.state().policy().submit(to, *detail::make_event(rt.state(), [] {}, std::source_location::current()), &poster);
  }
  poster.in_event = false;
  EXPECT_EQ(claimed(), std::vector<unsigned>{});
  EXPECT_TRUE(poster.left_behind);
  EXPECT_EQ(rt.state().policy().waiting(0), 0u);
  static_cast<void>(life().look(poster));
  EXPECT_EQ(rt.state().policy().waiting(0), size() - 1);
  for (unsigned n = 1; n < size(); ++n) EXPECT_FALSE(rt.state().policy().has_loot(n)) << n;
  EXPECT_FALSE(poster.left_behind);
}

TEST_P(workers_at_rest, a_poster_whose_turns_are_dear_wakes_the_owner) {
  detail::worker& poster = life().at(0);
  strand own{rt};
  rt.state().policy().place(detail::strand_access::state(own), size() - 1);
  others_go_to_bed();
  poster.turn_pace.begin(1'000, 0);
  poster.turn_pace.note(1'000 + 25'000, 1);
  poster.in_event = true;
  rt.state().policy().submit(detail::strand_access::state(own), *detail::make_event(rt.state(), [] {}, std::source_location::current()), &poster);
  poster.in_event = false;
  EXPECT_EQ(claimed(), std::vector<unsigned>{size() - 1});
  EXPECT_FALSE(poster.left_behind);
}

// What the kernel may still show to an embedding loop.
TEST_P(workers_at_rest, one_that_sees_a_call_after_the_sleep_is_over_forgets_it) {
  pollfd shown{time.descriptor(), POLLIN, 0};
  const auto is_shown = [&] { return ::poll(&shown, 1, 0) == 1; };
  others_go_to_bed();
  EXPECT_EQ(goes_to_bed(0), bed::source);
  ASSERT_TRUE(life().wake(0, nullptr));
  static_cast<void>(life().look(life().at(size() - 1)));
  EXPECT_TRUE(is_shown()) << "the sleeper has not got up: it has to hear it";
  gets_up(0);
  static_cast<void>(life().look(life().at(0)));
  EXPECT_FALSE(is_shown());
  EXPECT_FALSE(sleepers().view().polling());
}

/// The same with workers that are neither the guard nor the one that looks.
class more_workers_at_rest : public workers_at_rest {};
INSTANTIATE_TEST_SUITE_P(io, more_workers_at_rest, testing::Values(3, 4, 8), test::worker_name);

TEST_P(more_workers_at_rest, the_alarm_is_not_set_ahead_by_one_that_looks_beside_one_at_which_something_waits) {
  const std::vector<strand> line = line_at(2, 3);
  EXPECT_EQ(goes_to_bed(1), bed::guard);
  lifecycle_probe::attend(life(), 2, true);
  lifecycle_probe::attend(life(), 2, false);
  time.still_at_ns += far_ns() - 1;
  lifecycle_probe::attend(life(), 0, false);
  EXPECT_EQ(time.alarm_ns.load(), begin_ns + far_ns()) << "worker 2 is in a long event";
  for (int tour = 0; tour < 2; ++tour) {
    for (int n = 0; n < 3; ++n) life().at(2).turns.add();
    lifecycle_probe::attend(life(), 2, false);
  }
  EXPECT_EQ(time.alarm_ns.load(), time.still_at_ns + far_ns());
  time.still_at_ns += far_ns() - 1;
  lifecycle_probe::attend(life(), 0, false);
  time.still_at_ns += 1;
  EXPECT_FALSE(lifecycle_probe::is_attended(life(), 1)) << "worker 2 is in a long event again";
}

TEST_P(more_workers_at_rest, what_waited_at_another_one_before_there_was_a_guard_does_not_count) {
  const std::vector<strand> line = line_at(2, 3);
  life().at(2).oldest_ns.store(1, std::memory_order_relaxed);
  EXPECT_EQ(goes_to_bed(1), bed::guard);
  time.still_at_ns += far_ns() - 1;
  lifecycle_probe::attend(life(), 0, false);
  EXPECT_EQ(time.alarm_ns.load(), begin_ns + far_ns());
}

TEST(one_at_rest, looks_sooner_after_a_full_look_if_it_is_the_only_one) {
  const auto left = [](unsigned workers, bool much, int credits = 64) {
    noted_poller time;
    runtime rt{workers_at(time, workers)};
    time.finds_much = much;
    detail::worker& w = rt.state().life().at(0);
    w.credits = credits;
    lifecycle_probe::look_sooner(rt.state().life(), w);
    return w.credits;
  };
  EXPECT_EQ(left(1, true), 32);
  EXPECT_EQ(left(1, true, 3), 32) << "of what came before";
  EXPECT_EQ(left(1, false), 64);
  EXPECT_EQ(left(2, true), 64);
}

TEST(one_at_rest, looks_sooner_after_a_look_or_a_sleep_that_was_full) {
  noted_poller time;
  runtime rt{workers_at(time, 1)};
  detail::lifecycle& life = rt.state().life();
  tcp::listener door = tcp::listen(rt, "127.0.0.1:0");
  time.finds_much = true;
  life.at(0).credits = 64;
  static_cast<void>(life.look(life.at(0)));
  EXPECT_EQ(life.at(0).credits, 32);
  time.finds_much = false;
  int left = 0;
  const std::function<void()> each = [&] {
    left = life.at(0).credits;
    time.finds_much = false;
    rt.stop();
  };
  rt.spawn(accept_all, std::ref(door), 1, std::ref(each)).detach();
  const plain_client client{door.local_address().value()};
  rt.run_for(std::chrono::nanoseconds{0});
  bool sent = false;
  time.before_sleep = [&] {
    if (std::exchange(sent, true)) return;
    client.send();
    time.after_sleep = [&] { time.finds_much = left == 0; };
  };
  rt.run();
  EXPECT_EQ(left, 32);
}

TEST(two_with_a_pinned_color, call_nobody_for_that_alone) {
  noted_poller time;
  time.still_at_ns = begin_ns;
  options with = workers_at(time, 2);
  with.pin_default_color = true;
  runtime rt{with};
  const tcp::listener door = tcp::listen(rt, "127.0.0.1:0");
  detail::lifecycle& life = rt.state().life();
  const auto let_wait = [&](color where) {
    rt.state().policy().submit(where, *detail::make_event(rt.state(), [] {}, std::source_location::current()), &life.at(0));
  };
  lifecycle_probe::begin_run(life);
  ASSERT_EQ(lifecycle_probe::take_bed(life, 1), bed::guard);
  life.sleepers().search();
  static_cast<void>(life.sleepers().rest(1, bed::guard));
  life.at(0).turn_pace.begin(1'000, 0);
  life.at(0).turn_pace.note(1'000 + 1'000'000, 1);
  let_wait(color{});
  ASSERT_EQ(rt.state().policy().waiting(0), 1u);
  lifecycle_probe::ask_for_help(life, 0);
  EXPECT_FALSE(life.sleepers().is_claimed(1)) << "it may not run that";
  let_wait(color{1});
  lifecycle_probe::ask_for_help(life, 0);
  EXPECT_TRUE(life.sleepers().is_claimed(1));
  lifecycle_probe::get_up(life, 1);
  static_cast<void>(life.sleepers().end_search());
  lifecycle_probe::end_run(life);
}

TEST(a_bed_beside_others, is_the_guards_for_the_default_scheduler_with_descriptors) {
  const auto bed_of_1 = [](unsigned workers, const char* scheduler, bool listens) {
    noted_poller time;
    options with = workers_at(time, workers);
    with.scheduler = scheduler;
    runtime rt{with};
    std::optional<tcp::listener> door;
    if (listens) door.emplace(tcp::listen(rt, "127.0.0.1:0"));
    detail::lifecycle& life = rt.state().life();
    lifecycle_probe::begin_run(life);
    const bed chosen = lifecycle_probe::take_bed(life, 1, rt.state().policy().polls_at_rest(life.at(1)));
    lifecycle_probe::leave_bed(life, 1);
    lifecycle_probe::end_run(life);
    return chosen;
  };
  for (const unsigned workers : {2u, 3u, 64u}) {
    EXPECT_EQ(bed_of_1(workers, "default", true), bed::guard) << workers;
    EXPECT_EQ(bed_of_1(workers, "default", false), bed::token) << workers;
    EXPECT_NE(bed_of_1(workers, "color_queues", true), bed::guard) << workers;
  }
}

}  // namespace
}  // namespace tartan
