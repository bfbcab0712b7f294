// One worker sleeps where readiness wakes it, and one is the guard, whoever goes to rest or is woken meanwhile;
// docs/design/sleeping.md.

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "core/sleep/idle_set.h"
#include "model_memory.h"
#include "pollers.h"
#include "program.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

using detail::bed;

// Three workers go to rest at once, and something becomes ready.
template <class Memory, unsigned Workers = 3>
result all_go_to_rest(const options& bounds, polling_ways how = {}) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<pollers<Memory, Workers>>(1, 1, false, how);
    p.thread("outside", [=] { s->becomes_ready(); });
    for (unsigned n = 0; n < Workers; ++n) p.thread("worker " + std::to_string(n), [=] { s->work(n, false); });
    p.finally([=] { s->check_end(); });
  });
}

TEST(polling, is_done_by_one_of_three_that_go_to_rest_at_once) {
  const result found = all_go_to_rest<model_memory>({.name = "rest_at_once", .preemption_bound = 1, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = all_go_to_rest<model_memory>({.name = "rest_at_once_membarrier", .preemption_bound = 1});
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
}

TEST(polling, is_done_by_one_of_two_that_go_to_rest_at_once) {
  const result found = all_go_to_rest<model_memory, 2>({.name = "two_rest_at_once", .preemption_bound = 3, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(polling, needs_the_last_one_to_look_whether_anybody_polls) {
  EXPECT_FALSE((all_go_to_rest<model_memory, 2>({.name = "rest_no_look", .symmetric_barriers = true}, {.looks_who_polls = false}).passed));
  EXPECT_FALSE((all_go_to_rest<model_memory, 2>({.name = "rest_older_view", .symmetric_barriers = true}, {.takes_last_view = false}).passed));
}

// Two that rest and get up in step see each other awake each time, in a loop without an end.
TEST(polling, needs_one_that_has_seen_nobody_poll_to_do_so_whoever_is_awake) {
  EXPECT_FALSE((all_go_to_rest<model_memory, 2>({.name = "rest_in_step", .max_steps = 250, .symmetric_barriers = true, .reorder_stores = false}, 
                   {.polls_next = false}).passed));
}

// A foreign post wakes the worker that polls, before something becomes ready, or at the same time.
template <class Memory>
result poller_is_called(const options& bounds) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<pollers<Memory, 2>>(std::array{bed::source, bed::token}, 2, 1, true);
    p.thread("outside", [=] { s->becomes_ready(); });
    p.thread("poster", [=] { s->post(0); });
    for (const unsigned n : {0u, 1u}) p.thread("worker " + std::to_string(n), [=] { s->work(n, true); });
    p.finally([=] { s->check_end(); });
  });
}

TEST(polling, goes_on_after_a_post_that_wakes_the_poller) {
  const result found = poller_is_called<model_memory>({.name = "poller_is_called", .preemption_bound = 1, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = poller_is_called<model_memory>({.name = "poller_is_called_membarrier", .preemption_bound = 1});
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
}

// Both the poller and the guard are called away for events that do not end before what becomes ready is run: the third one comes.
template <class Memory>
result both_are_called_away(const options& bounds, polling_ways how = {}) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<pollers<Memory, 3>>(std::array{bed::source, bed::guard, bed::token}, 3, 3, true, how);
    p.thread("poster", [=] { s->post(0), s->post(1); });
    p.thread("outside", [=] { s->becomes_ready(); });
    for (const unsigned n : {0u, 1u, 2u}) p.thread("worker " + std::to_string(n), [=] { s->work(n, true); });
    p.finally([=] { s->check_end(); });
  });
}

TEST(polling, or_a_guard_is_left_if_both_are_called_away) {
  const result found = both_are_called_away<model_memory>({.name = "both_called_away", .preemption_bound = 1, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(polling, needs_the_last_searcher_to_hand_on) {
  EXPECT_FALSE(both_are_called_away<model_memory>({.name = "hands_on_to_nobody", .preemption_bound = 1, .symmetric_barriers = true}, 
                   {.hands_on = false}).passed);
}

// A worker goes to rest while the guard gets up for what is ready, and two others are in events that last: it was counted as a searcher, so the guard
// hands on to nobody.
template <class Memory>
result guard_gets_up(const options& bounds, polling_ways how = {}) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<pollers<Memory, 3>>(std::array{bed::token, bed::guard, bed::token}, 3, 3, false, how);
    auto* const first_runs = p.make<token>("first runs");
    for (const unsigned n : {0u, 2u}) (void)s->idle.cancel(n);
    (void)s->idle.end_search();
    s->ready = 1;
    p.thread("in an event", [=] {
      s->pending = s->pending - 1;
      s->event();
    });
    p.thread("outside", [=] {
      first_runs->wait();
      s->becomes_ready();
    });
    p.thread("guard", [=] {
      s->idle.end_watch();
      (void)s->idle.cancel(1);
      s->ready = 0;
      s->pending = s->pending - 1;
      s->end_search(true);
      first_runs->signal();
      s->event();
    });
    p.thread("goes to rest", [=] { s->rest_and_work(2); });
    p.finally([=] { check(s->pending == 0, "attended: somebody is left for what becomes ready"); });
  });
}

TEST(polling, has_a_worker_that_counted_on_the_guard_take_its_place) {
  const result found = guard_gets_up<model_memory>({.name = "guard_gets_up", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = guard_gets_up<model_memory>({.name = "guard_gets_up_membarrier", .preemption_bound = 1});
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
  EXPECT_FALSE(guard_gets_up<model_memory>({.name = "guard_is_counted_on", .preemption_bound = 2, .symmetric_barriers = true}, 
                   {.looks_who_guards = false}).passed);
}

// The guard has declined what waits behind a long event, and lies down where readiness comes: it comes back for that.
template <class Memory>
result declined_by_the_poller(const options& bounds, polling_ways how = {}) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<pollers<Memory, 2>>(std::array{bed::token, bed::token}, 2, 2, true, how);
    for (const unsigned n : {0u, 1u}) (void)s->idle.cancel(n);
    (void)s->idle.end_search();
    s->posted[0].store(1, std::memory_order_relaxed);
    s->declines[1] = 2;
    p.thread("in an event", [=] {
      s->pending = s->pending - 1;
      s->event();
      s->work(0, false, false);
    });
    p.thread("declines", [=] { s->work(1, false); });
    p.finally([=] { s->check_end(); });
  });
}

TEST(polling, leaves_nothing_that_was_declined_behind_a_long_event) {
  const result found = declined_by_the_poller<model_memory>({.name = "declined_by_poller", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  EXPECT_FALSE(declined_by_the_poller<model_memory>({.name = "declined_without_watch", .preemption_bound = 2, .symmetric_barriers = true}, 
                   {.watches_at_source = false}).passed);
}

}  // namespace
}  // namespace tartan::model
