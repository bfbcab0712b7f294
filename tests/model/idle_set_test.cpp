// No wake-up is lost: posters against workers that search, rest and sleep; docs/design/sleeping.md.

#include "core/sleep/idle_set.h"

#include <gtest/gtest.h>

#include <string>

#include "model_memory.h"
#include "program.h"
#include "sleepers.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

using enum begins;

template <class Memory>
result one_worker(const options& bounds) {
  using workers = sleepers<Memory, 1>;
  return explore(bounds, [](program& p) {
    auto* const s = p.make<workers>(std::array{searching});
    p.thread("poster", [=] { s->post(0), s->post(0); });
    p.thread("worker", [=] { s->work(0); });
    p.finally([=] { s->check_covered(); });
  });
}

TEST(idle_set, loses_no_wake_up_of_one_worker) {
  const result found = one_worker<model_memory>({.name = "one_worker"});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(idle_set, loses_no_wake_up_where_membarrier_is_refused) {
  const result found = one_worker<model_memory>({.name = "one_worker_fences", .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(idle_set, needs_a_full_barrier_on_both_sides_of_one_worker) {
  EXPECT_FALSE(one_worker<without_full_barrier>({.name = "one_worker_no_barrier"}).passed);
}

// Two posts at once while both workers sleep: one claims its owner, the other leaves its work to that one, or wakes too.
template <class Memory>
result two_posters(const options& bounds) {
  using workers = sleepers<Memory, 2>;
  return explore(bounds, [](program& p) {
    auto* const s = p.make<workers>(std::array{asleep, asleep});
    p.thread("poster", [=] { s->post(0); });
    p.thread("second poster", [=] { s->post(1); });
    p.thread("worker", [=] { s->work(0); });
    p.thread("second worker", [=] { s->work(1); });
    p.finally([=] { s->check_covered(); });
  });
}

TEST(idle_set, loses_no_wake_up_of_two_posters_at_once) {
  const result found = two_posters<model_memory>({.name = "two_posters", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = two_posters<model_memory>({.name = "two_posters_membarrier", .preemption_bound = 2});
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
}

// A poster leaves its work to a searcher, which finds other work or goes to rest: somebody looks again.
template <class Memory>
result left_to_a_searcher(const options& bounds) {
  using workers = sleepers<Memory, 2>;
  return explore(bounds, [](program& p) {
    auto* const s = p.make<workers>(std::array{searching, asleep});
    s->publish(0);
    p.thread("poster", [=] { s->post(1); });
    p.thread("searcher", [=] { s->work(0, [=](unsigned) { s->wait_for_others(1); }); });
    p.thread("sleeper", [=] { s->work(1); });
    p.finally([=] { s->check_covered(); });
  });
}

TEST(idle_set, covers_what_was_left_to_a_searcher_that_found_other_work) {
  const result found = left_to_a_searcher<model_memory>({.name = "left_to_a_searcher", .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = left_to_a_searcher<model_memory>({.name = "left_to_a_searcher_membarrier", .preemption_bound = 2});
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
}

TEST(idle_set, needs_the_full_barriers_of_who_is_alone_awake_and_of_foreign_threads) {
  EXPECT_FALSE(left_to_a_searcher<without_full_barrier>({.name = "left_to_a_searcher_no_full"}).passed);
}

// The same, left by a worker that is awake: its barrier is the searcher's business.
template <class Memory>
result left_by_a_worker(const options& bounds) {
  using workers = sleepers<Memory, 3>;
  return explore(bounds, [](program& p) {
    auto* const s = p.make<workers>(std::array{running, searching, asleep});
    s->publish(1);
    p.thread("victim", [=] {
      s->publish(0);
      s->after_local();
      s->wait_for_others(1);
    });
    p.thread("searcher", [=] { s->work(1, [=](unsigned) { s->wait_for_others(1); }); });
    p.thread("sleeper", [=] { s->work(2); });
    p.finally([=] { s->check_covered(); });
  });
}

TEST(idle_set, covers_what_an_awake_worker_left_to_a_searcher) {
  const result found = left_by_a_worker<model_memory>({.name = "left_by_a_worker", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = left_by_a_worker<model_memory>({.name = "left_by_a_worker_membarrier", .preemption_bound = 2});
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
}

// As left_to_a_searcher, but the only sleeper gets up for other work: if nobody sleeps when the last search ends there is nobody to wake, and who rests
// later finds what was left.
template <class Memory>
result left_while_nobody_sleeps(const options& bounds) {
  using workers = sleepers<Memory, 3>;
  return explore(bounds, [](program& p) {
    auto* const s = p.make<workers>(std::array{running, searching, asleep});
    s->publish(0), s->publish(1);
    p.thread("poster", [=] { s->post(2), s->post(0); });
    p.thread("stuck", [=] { s->work(0, [=](unsigned) { s->wait_for_others(3); }); });
    p.thread("searcher", [=] { s->work(1); });
    p.thread("sleeper", [=] { s->work(2); });
    p.finally([=] { s->check_covered(); });
  });
}

TEST(idle_set, leaves_it_to_who_rests_later_if_nobody_sleeps_when_the_last_search_ends) {
  const result found = left_while_nobody_sleeps<model_memory>({.name = "nobody_sleeps", .preemption_bound = 1, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

// Who goes to rest as the last one has no barrier run in the others, which sleep. One of them is woken, and posts to it.
template <class Memory>
result woken_worker_posts(const options& bounds) {
  using workers = sleepers<Memory, 2>;
  return explore(bounds, [](program& p) {
    auto* const s = p.make<workers>(std::array{searching, asleep});
    p.thread("poster", [=] { s->post(1); });
    for (const unsigned n : {0u, 1u}) {
      p.thread("worker " + std::to_string(n), [=] {
        s->work(n, [=](unsigned here) {
          if (s->chained != 0) return;
          s->chained = 1;
          s->post_by_worker(1 - here);
          s->wait_for_others(1);
        });
      });
    }
    p.finally([=] { s->check_covered(); });
  });
}

TEST(idle_set, is_seen_asleep_by_who_wakes_later_also_without_a_heavy_barrier) {
  const result found = woken_worker_posts<model_memory>({.name = "woken_worker_posts", .preemption_bound = 3, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = woken_worker_posts<model_memory>({.name = "woken_worker_posts_membarrier", .preemption_bound = 3});
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
}

// With three, one of which posts and rests again while the last one goes to rest.
template <class Memory>
result woken_worker_posts_and_rests(const options& bounds) {
  using workers = sleepers<Memory, 3>;
  return explore(bounds, [](program& p) {
    auto* const s = p.make<workers>(std::array{searching, asleep, asleep});
    p.thread("poster", [=] { s->post(1); });
    for (const unsigned n : {0u, 1u, 2u}) {
      p.thread("worker " + std::to_string(n), [=] {
        s->work(n, [=](unsigned here) {
          if (s->chained != 0) return;
          s->chained = 1;
          s->post_by_worker((here + 2) % 3);
        });
      });
    }
    p.finally([=] { s->check_covered(); });
  });
}

TEST(idle_set, is_seen_asleep_also_by_who_rests_again) {
  const result found = woken_worker_posts_and_rests<model_memory>({.name = "woken_and_rests", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = woken_worker_posts_and_rests<model_memory>({.name = "woken_and_rests_membarrier", .preemption_bound = 2});
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
}

// Two pieces of work for one worker that searches: it runs the first, a long one, and somebody must come for the second.
template <class Memory>
result more_than_one_worker_needs(const options& bounds) {
  using workers = sleepers<Memory, 2>;
  return explore(bounds, [](program& p) {
    auto* const s = p.make<workers>(std::array{searching, asleep});
    s->publish(0);
    p.thread("poster", [=] { s->post(0); });
    p.thread("searcher", [=] { s->work(0, [=](unsigned) { s->wait_for_company(2); }); });
    p.thread("sleeper", [=] { s->work(1, [=](unsigned) { s->wait_for_company(2); }); });
    p.finally([=] { s->check_covered(); });
  });
}

TEST(idle_set, has_its_last_searcher_look_again_before_a_long_event) {
  const result found = more_than_one_worker_needs<model_memory>({.name = "last_searcher_looks", .preemption_bound = 3, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

// Two searchers, two pieces of work: whoever is the last to find some covers the rest.
template <class Memory>
result two_searchers(const options& bounds) {
  using workers = sleepers<Memory, 3>;
  return explore(bounds, [](program& p) {
    auto* const s = p.make<workers>(std::array{searching, searching, asleep});
    s->publish(0), s->publish(0), s->publish(0);
    for (const unsigned n : {0u, 1u, 2u}) {
      p.thread("worker " + std::to_string(n), [=] { s->work(n, [=](unsigned) { s->wait_for_company(3); }); });
    }
    p.finally([=] { s->check_covered(); });
  });
}

TEST(idle_set, has_the_last_of_two_searchers_look_again) {
  const result found = two_searchers<model_memory>({.name = "two_searchers", .preemption_bound = 3, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

// Trap 13: the thief declined a small backlog and slept; the victim is in a long event, and nobody posts again.
template <class Memory>
result declined_and_stuck(const options& bounds, bool watchers_wake) {
  using workers = sleepers<Memory, 3>;
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<workers>(std::array{running, searching, searching});
    s->declines = true;
    s->watchers_wake = watchers_wake;
    s->publish(0);
    p.thread("victim", [=] { s->wait_for_others(1); });
    for (const unsigned n : {1u, 2u}) {
      p.thread("thief " + std::to_string(n), [=] { s->work(n); });
    }
    p.finally([=] { s->check_covered(); });
  });
}

TEST(idle_set, keeps_a_watcher_for_declined_work) {
  const result found = declined_and_stuck<model_memory>({.name = "declined_and_stuck", .symmetric_barriers = true}, true);
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(idle_set, needs_a_watcher_whose_time_runs_out) {
  EXPECT_FALSE(declined_and_stuck<model_memory>({.name = "declined_no_timeout", .symmetric_barriers = true}, false).passed);
}

// An event makes another color runnable and goes on for long: a sleeper comes, or a watcher, or a searcher.
template <class Memory>
result local_work_left_behind(const options& bounds) {
  using workers = sleepers<Memory, 2>;
  return explore(bounds, [](program& p) {
    auto* const s = p.make<workers>(std::array{running, searching});
    s->declines = true;
    p.thread("victim", [=] {
      s->publish(0);
      s->after_local();
      s->wait_for_others(1);
    });
    p.thread("thief", [=] { s->work(1); });
    p.finally([=] { s->check_covered(); });
  });
}

TEST(idle_set, has_somebody_come_for_what_a_long_event_leaves_behind) {
  const result found = local_work_left_behind<model_memory>({.name = "local_work_left_behind"});
  EXPECT_TRUE(found.proved()) << found.report;
  const result symmetric = local_work_left_behind<model_memory>({.name = "local_work_left_behind_fences", .symmetric_barriers = true});
  EXPECT_TRUE(symmetric.proved()) << symmetric.report;
}

TEST(idle_set, needs_the_light_barrier_of_workers_and_the_heavy_one_while_another_is_awake) {
  EXPECT_FALSE(local_work_left_behind<without_heavy_barrier>({.name = "rest_no_heavy"}).passed);
  EXPECT_FALSE(local_work_left_behind<without_light_barrier>({.name = "rest_no_light", .symmetric_barriers = true}).passed);
  EXPECT_FALSE(left_by_a_worker<without_heavy_barrier>({.name = "end_search_no_heavy"}).passed);
  EXPECT_FALSE(left_by_a_worker<without_light_barrier>({.name = "end_search_no_light", .symmetric_barriers = true}).passed);
}

// The watcher is woken for other work, a long event: then it watches no more, and must see to it that somebody does.
template <class Memory>
result watcher_called_away(const options& bounds) {
  using workers = sleepers<Memory, 3>;
  return explore(bounds, [](program& p) {
    auto* const s = p.make<workers>(std::array{running, searching, asleep});
    s->declines = true;
    s->publish(0);
    p.thread("victim", [=] { s->wait_for_others(1); });
    p.thread("watcher", [=] {
      s->work(1, [=](unsigned) { s->wait_for_company(2); });
    });
    p.thread("sleeper", [=] { s->work(2, [=](unsigned) { s->wait_for_company(2); }); });
    p.thread("poster", [=] { s->post(1); });
    p.finally([=] { s->check_covered(); });
  });
}

TEST(idle_set, replaces_a_watcher_that_is_called_away) {
  const result found = watcher_called_away<model_memory>(
      {.name = "watcher_called_away", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

// run_until_idle: an event posts to the other worker and ends; who asks meanwhile must not be told that all is over.
template <class Memory>
result ends_when_all_sleep(const options& bounds) {
  using workers = sleepers<Memory, 2>;
  return explore(bounds, [](program& p) {
    auto* const s = p.make<workers>(std::array{searching, asleep});
    s->asks = true;
    s->publish(0);
    p.thread("worker", [=] {
      s->work(0, [=](unsigned) {
        if (s->chained == 0) {
          s->chained = 1;
          s->post_by_worker(1);
        }
      });
    });
    p.thread("second worker", [=] { s->work(1); });
    p.finally([=] { s->check_covered(); });
  });
}

TEST(idle_set, lets_a_run_until_idle_end_only_when_nobody_runs) {
  const result found = ends_when_all_sleep<model_memory>({.name = "ends_when_all_sleep"});
  EXPECT_TRUE(found.proved()) << found.report;
}

}  // namespace
}  // namespace tartan::model
