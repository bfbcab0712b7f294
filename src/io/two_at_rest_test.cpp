// Two workers that do not run, one of which stands by: each step by hand, in a time that stands still; docs/design/idle-set.md, part 9.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <tartan/core/event.h>
#include <tartan/core/strand.h>
#include <utility>
#include <vector>

#include "io/standby_fixture.h"
#include "tests/short_turns.h"

namespace tartan {
namespace {

using detail::lifecycle_probe;
using test::accept_all;
using test::noted_poller;
using test::plain_client;
using test::standing_by;
using test::two_workers;

/// Before the first run: both workers count as awake, and only the test uses them.
class two_at_rest : public standing_by {
 protected:
  void SetUp() override {
    time.still_at_ns = 1'000'000'000;
    life().sleepers().resume();
  }
  void TearDown() override { life().sleepers().pause(); }
  void sleeps(unsigned index) {
    life().sleepers().search();
    life().sleepers().rest(index);
  }
  void wakes(unsigned index) {
    (void)life().sleepers().cancel(index);
    (void)life().sleepers().end_search();
  }
  /// Colors with an event each, which wait there.
  [[nodiscard]] std::vector<strand> line_at_worker_0(int colors) {
    std::vector<strand> line;
    for (int n = 0; n < colors; ++n) {
      line.emplace_back(rt);
      rt.state().policy().place(detail::strand_access::state(line.back()), 0);
      line.back().post([] {});
    }
    return line;
  }
  static constexpr std::uint64_t far_ns = detail::guard_word<detail::real_memory>::far_ns;
};

TEST_F(two_at_rest, one_may_stand_by_while_the_other_one_is_awake) {
  EXPECT_TRUE(lifecycle_probe::may_stand_by(life(), 0));
  EXPECT_TRUE(lifecycle_probe::may_stand_by(life(), 1));
  sleeps(0);
  EXPECT_FALSE(lifecycle_probe::may_stand_by(life(), 1));
  wakes(0);
  life().sleepers().pause();
  EXPECT_FALSE(lifecycle_probe::may_stand_by(life(), 1));
  life().sleepers().resume();
}

TEST_F(two_at_rest, one_stands_by_until_the_other_one_has_not_looked_for_long) {
  lifecycle_probe::stand_by(life(), 1);
  EXPECT_EQ(time.standing.load(), 1u);
  EXPECT_EQ(time.alarm_ns.load(), time.still_at_ns + far_ns) << "its own alarm";
  sleeps(1);
  time.still_at_ns += far_ns / 2;
  lifecycle_probe::attend(life(), 0, true);
  EXPECT_EQ(time.alarm_ns.load(), 1'000'000'000 + far_ns) << "there is time enough";
  const std::uint64_t last_look_ns = time.still_at_ns;
  time.still_at_ns += far_ns / 4;
  lifecycle_probe::attend(life(), 0, false);
  EXPECT_EQ(time.alarm_ns.load(), last_look_ns + far_ns) << "what has come since may still wait";
  EXPECT_TRUE(lifecycle_probe::is_attended(life(), 1)) << "an earlier one has gone off";
  time.still_at_ns += far_ns;
  EXPECT_FALSE(lifecycle_probe::is_attended(life(), 1));
  lifecycle_probe::end_watch(life(), 1);
  wakes(1);
  EXPECT_FALSE(lifecycle_probe::may_stand_by(life(), 1)) << "it has found nothing that it could have come for";
  life().at(1).events.add();
  EXPECT_TRUE(lifecycle_probe::may_stand_by(life(), 1));
  time.alarm_ns = 0;
  lifecycle_probe::attend(life(), 0, true);
  EXPECT_EQ(time.alarm_ns.load(), 0u) << "nobody stands by";
}

TEST_F(two_at_rest, one_goes_on_standing_by_while_the_other_one_sleeps_and_that_sets_the_alarm_when_it_wakes) {
  lifecycle_probe::stand_by(life(), 1);
  sleeps(1);
  sleeps(0);
  time.still_at_ns += 2 * far_ns;
  EXPECT_TRUE(lifecycle_probe::is_attended(life(), 1));
  wakes(0);
  lifecycle_probe::attend(life(), 0, true);
  EXPECT_EQ(time.alarm_ns.load(), time.still_at_ns + far_ns);
  lifecycle_probe::end_watch(life(), 1);
  wakes(1);
}

TEST_F(two_at_rest, the_alarm_is_not_set_ahead_while_something_waits_at_who_stands_by) {
  strand own{rt};
  rt.state().policy().place(detail::strand_access::state(own), 1);
  lifecycle_probe::stand_by(life(), 1);
  own.post([] {});
  time.still_at_ns += far_ns - 1;
  lifecycle_probe::attend(life(), 0, false);
  lifecycle_probe::attend(life(), 0, false);
  EXPECT_EQ(time.alarm_ns.load(), 1'000'000'000 + far_ns);
  lifecycle_probe::attend(life(), 0, true);
  EXPECT_EQ(time.alarm_ns.load(), time.still_at_ns + far_ns) << "whoever wakes sets it all the same";
  lifecycle_probe::end_watch(life(), 1);
}

// Each look finds the line shorter, and who came first may still be in it.
TEST_F(two_at_rest, the_alarm_is_set_ahead_by_what_may_have_waited_longest) {
  const std::vector<strand> line = line_at_worker_0(3);
  lifecycle_probe::stand_by(life(), 1);
  lifecycle_probe::attend(life(), 0, true);
  lifecycle_probe::attend(life(), 0, false);
  const auto alarm_after = [this](int turns) {
    for (int n = 0; n < turns; ++n) life().at(0).turns.add();
    lifecycle_probe::attend(life(), 0, false);
    return time.alarm_ns.load();
  };
  const std::uint64_t begin_ns = time.still_at_ns;
  time.still_at_ns += far_ns - 1;
  EXPECT_EQ(alarm_after(2), begin_ns + far_ns) << "the last one has waited since then";
  EXPECT_EQ(alarm_after(1), begin_ns + far_ns) << "so have those that came between that and this look";
  EXPECT_EQ(alarm_after(3), time.still_at_ns + far_ns);
  lifecycle_probe::end_watch(life(), 1);
}

// It may have got up while the other one looks.
TEST(guard_word, sets_no_alarm_for_nobody) {
  detail::guard_word<detail::real_memory> guard;
  bool is_set = false;
  guard.push(1'000'000'000, 1'000'000'000, [&](std::uint64_t) { is_set = true; });
  EXPECT_FALSE(is_set);
}

TEST_F(two_at_rest, the_alarm_is_not_set_ahead_while_colors_of_a_higher_level_go_first) {
  lifecycle_probe::stand_by(life(), 1);
  lifecycle_probe::attend(life(), 0, true);
  time.still_at_ns += far_ns - 1;
  life().at(0).passes_over = true;
  lifecycle_probe::attend(life(), 0, false);
  lifecycle_probe::attend(life(), 0, false);
  EXPECT_EQ(time.alarm_ns.load(), 1'000'000'000 + far_ns);
  life().at(0).passes_over = false;
  lifecycle_probe::attend(life(), 0, false);
  EXPECT_EQ(time.alarm_ns.load(), time.still_at_ns + far_ns);
  lifecycle_probe::end_watch(life(), 1);
}

// A sleep would find it at once, and then nothing would be known to have waited.
TEST_F(two_at_rest, one_looks_before_it_rests_if_the_last_look_was_full) {
  const auto looks = [this] {
    const unsigned before = time.harvests.load();
    static_cast<void>(life().look_before_rest(life().at(0)));
    return time.harvests.load() - before;
  };
  EXPECT_EQ(looks(), 0u);
  time.finds_much = true;
  EXPECT_EQ(looks(), 1u);
}

TEST(one_at_rest, looks_sooner_after_a_full_look_if_it_is_the_only_one) {
  const auto left = [](unsigned workers, bool much, int credits = 64) {
    noted_poller time;
    options with = two_workers(time);
    with.workers = workers;
    runtime rt{with};
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
  options with = two_workers(time);
  with.workers = 1;
  runtime rt{with};
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

TEST_F(two_at_rest, a_long_line_calls_who_stands_by_and_makes_both_wait_for_readiness_if_its_turns_are_long) {
  const std::vector<strand> line = line_at_worker_0(100);
  detail::pace& turns = life().at(0).turn_pace;
  turns.begin(1'000, 0);
  turns.note(3'900, 1);  // a line of 290 us
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_FALSE(life().wants_help(0)) << "nobody stands by";
  lifecycle_probe::stand_by(life(), 1);
  sleeps(1);
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_FALSE(life().wants_help(0)) << "it is not long";
  turns.note(3'900 + 2'900 + 16'000, 2);
  life().sleepers().pause();
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_FALSE(life().wants_help(0)) << "nobody is woken between runs";
  life().sleepers().resume();
  life().sleepers().search();
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_FALSE(life().wants_help(0)) << "somebody searches, and comes by itself";
  (void)life().sleepers().end_search();
  lifecycle_probe::ask_for_help(life(), 0);
  EXPECT_TRUE(life().wants_help(0));
  EXPECT_TRUE(life().sleepers().is_claimed(1));
  lifecycle_probe::end_watch(life(), 1);
  wakes(1);
  EXPECT_TRUE(lifecycle_probe::may_stand_by(life(), 1)) << "its turns are short";
  turns.note(10'000'000, 3);
  lifecycle_probe::stand_by(life(), 1);
  lifecycle_probe::ask_for_help(life(), 0);
  lifecycle_probe::end_watch(life(), 1);
  EXPECT_FALSE(lifecycle_probe::may_stand_by(life(), 1)) << "its turns are long";
  time.still_at_ns += 30'000'000;
  EXPECT_TRUE(lifecycle_probe::may_stand_by(life(), 1));
  life().help_has_come();
  EXPECT_FALSE(life().wants_help(0));
}

// Who has slept searches, and is not to be taken for the other one.
TEST_F(two_at_rest, a_long_line_after_a_sleep_calls_who_stands_by_if_its_turns_are_long) {
  const std::vector<strand> line = line_at_worker_0(100);
  detail::pace& turns = life().at(0).turn_pace;
  lifecycle_probe::stand_by(life(), 1);
  sleeps(1);
  life().sleepers().search();
  turns.begin(1'000, 0);
  turns.note(1'000 + 24'999, 1);  // a line of 2.5 ms
  lifecycle_probe::ask_for_help(life(), 0, true);
  EXPECT_FALSE(life().wants_help(0)) << "it will soon be served";
  turns.begin(1'000, 1);
  turns.note(1'000 + 1'000'000, 2);
  life().sleepers().pause();
  lifecycle_probe::ask_for_help(life(), 0, true);
  EXPECT_FALSE(life().wants_help(0)) << "nobody is woken between runs";
  life().sleepers().resume();
  lifecycle_probe::ask_for_help(life(), 0, true);
  EXPECT_TRUE(life().wants_help(0));
  EXPECT_TRUE(life().sleepers().is_claimed(1));
  lifecycle_probe::ask_for_help(life(), 0, true);
  EXPECT_FALSE(life().wants_help(0)) << "it comes already";
  lifecycle_probe::end_watch(life(), 1);
  EXPECT_FALSE(lifecycle_probe::may_stand_by(life(), 1));
  wakes(1);
}

TEST(two_with_a_pinned_color, call_nobody_for_that_alone) {
  noted_poller time;
  time.still_at_ns = 1'000'000'000;
  options with = two_workers(time);
  with.pin_default_color = true;
  runtime rt{with};
  const tcp::listener door = tcp::listen(rt, "127.0.0.1:0");
  detail::lifecycle& life = rt.state().life();
  const auto let_wait = [&](color where) {
    rt.state().policy().submit(where, *detail::make_event(rt.state(), [] {}, std::source_location::current()), &life.at(0));
  };
  life.sleepers().resume();
  lifecycle_probe::stand_by(life, 1);
  life.sleepers().search();
  life.sleepers().rest(1);
  life.at(0).turn_pace.begin(1'000, 0);
  life.at(0).turn_pace.note(1'000 + 1'000'000, 1);
  let_wait(color{});
  ASSERT_EQ(rt.state().policy().waiting(0), 1u);
  lifecycle_probe::ask_for_help(life, 0);
  EXPECT_FALSE(life.sleepers().is_claimed(1)) << "it may not run that";
  let_wait(color{1});
  lifecycle_probe::ask_for_help(life, 0);
  EXPECT_TRUE(life.sleepers().is_claimed(1));
  lifecycle_probe::end_watch(life, 1);
  (void)life.sleepers().cancel(1);
  (void)life.sleepers().end_search();
  life.sleepers().pause();
}

TEST(standing_by_of_others, is_for_two_workers_of_the_default_scheduler_with_descriptors) {
  const auto may = [](unsigned workers, const char* scheduler, bool listens) {
    noted_poller time;
    options with = two_workers(time);
    with.workers = workers;
    with.scheduler = scheduler;
    runtime rt{with};
    std::optional<tcp::listener> door;
    if (listens) door.emplace(tcp::listen(rt, "127.0.0.1:0"));
    rt.state().life().sleepers().resume();
    const bool could = lifecycle_probe::may_stand_by(rt.state().life(), 1);
    rt.state().life().sleepers().pause();
    return could;
  };
  EXPECT_TRUE(may(2, "default", true));
  EXPECT_FALSE(may(2, "default", false));
  EXPECT_FALSE(may(3, "default", true));
  EXPECT_FALSE(may(2, "color_queues", true));
}

}  // namespace
}  // namespace tartan
