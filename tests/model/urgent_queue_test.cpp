// Colors of several levels: posted to, robbed, given away and slept on; docs/design/color-queue.md. What is told of an event is found by the
// code of home.h; two picks instead of 16 are between those that pass the urgent ones by.

#include <gtest/gtest.h>

#include <array>

#include "core/sleep/idle_set.h"
#include "model_memory.h"
#include "program.h"
#include "scene.h"
#include "waiting.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

struct urgent_traits : small_traits {
  static bool annotates() { return true; }
  template <class Queue>
  static detail::annotation told_of(const Queue& q) {
    return detail::home_traits::told_of(q);
  }
};

template <class Memory, unsigned Workers>
using urgent_scene = scene<Memory, Workers, urgent_traits>;

// Two levels, posted from outside, while the owner runs them and a thief takes half of each.
template <class Memory>
result posted_and_robbed(const options& bounds) {
  return explore(bounds, [](program& p) {
    urgent_scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.add_waiting_color(2);
    auto* const d = t.add_color();
    p.thread("poster", [=, a = t.event(0, 1, 0), b = t.event(0, 1, 3)] {
      s->post(*c, *a);
      s->post(*d, *b);
    });
    p.thread("owner", [=] { s->work(0, 2); });
    p.thread("thief", [=] {
      if (s->steal(1, 0)) s->work(1, 1);
    });
    p.finally([=] {
      t.all_ran(s, c, 2);
      t.all_ran(s, d, 1);
    });
  });
}

TEST(urgent_colors, run_once_and_in_order_while_they_are_posted_to_and_robbed) {
  const result found = posted_and_robbed<model_memory>({.name = "urgent_posted_and_robbed", .preemption_bound = 2});
  EXPECT_TRUE(found.proved()) << found.report;
}

// Its events are of one level after the other: it goes from line to line, and a thief may come at any time.
template <class Memory>
result changing_levels(const options& bounds) {
  return explore(bounds, [](program& p) {
    urgent_scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.add_waiting_color(3);
    s->post_as(0, *c, *t.event(3, 2, 0));
    p.thread("poster", [=, a = t.event(0, 1, 1)] { s->post(*c, *a); });
    p.thread("owner", [=, b = t.event(3, 3, 2)] {
      s->work(0, 1);
      s->post_as(0, *c, *b);
    });
    p.thread("thief", [=] {
      if (s->steal(1, 0)) s->work(1, 2);
    });
    p.finally([=] { t.all_ran(s, c, 4); });
  });
}

TEST(urgent_colors, keep_their_order_when_their_level_changes) {
  const result found = changing_levels<model_memory>({.name = "changing_levels", .preemption_bound = 2});
  EXPECT_TRUE(found.proved()) << found.report;
}

// One of level 0 is given away while something urgent is posted to it, and another, urgent, stays and is robbed.
template <class Memory>
result given_away_and_raised(const options& bounds) {
  return explore(bounds, [](program& p) {
    urgent_scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.add_waiting_color(0);
    auto* const d = t.add_waiting_color(2);
    p.thread("giver", [=] {
      s->give(0, 1);
      s->work(0, 1);
    });
    p.thread("poster", [=, a = t.event(0, 1, 3)] { s->post(*c, *a); });
    p.thread("taker and thief", [=] {
      s->work(1, 1);
      if (s->steal(1, 0)) s->work(1, 1);
    });
    p.finally([=] {
      t.all_ran(s, c, 2);
      t.all_ran(s, d, 1);
    });
  });
}

TEST(urgent_colors, have_one_place_if_they_are_given_away_and_raised_at_once) {
  const result found = given_away_and_raised<model_memory>({.name = "given_away_and_raised", .preemption_bound = 2});
  EXPECT_TRUE(found.proved()) << found.report;
}

// Two colors have always something to do, one at the top and one at the bottom. Who waits between them has one pick in six: one in two passes
// the top by, and three levels take turns at that.
template <class Memory>
result bypass(const options& bounds) {
  return explore(bounds, [](program& p) {
    constexpr int picks = 6;
    urgent_scene<Memory, 1> t{p};
    auto* const s = t.s;
    std::array<typename urgent_scene<Memory, 1>::color*, 2> busy{t.add_color(), t.add_color()};
    for (int n = 1; n <= picks; ++n) {
      s->post_as(0, *busy[0], *t.event(3, n, 3));
      s->post_as(0, *busy[1], *t.event(3, n, 0));
    }
    auto* const between = t.add_waiting_color(1);
    auto* const coming = t.add_color();
    p.thread("poster", [=, a = t.event(0, 1, 2)] { s->post(*coming, *a); });
    p.thread("owner", [=] {
      s->work(0, picks);
      check(between->ledger->data == 1, "bounded bypass: whoever waits is picked although others are more urgent");
      check(busy[0]->ledger->data >= picks / 2 - 1, "priority: the other picks are those of the most urgent");
    });
    p.finally([=] {
      t.all_ran(s, coming, 1);
      for (auto* const each : busy) t.all_ran(s, each, picks);
    });
  });
}

TEST(urgent_colors, pass_by_nobody_for_ever) {
  const result found = bypass<model_memory>({.name = "urgent_bypass"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// Two workers, of which the first one sleeps and the second one looks for work. Everything is posted to the first one; the second takes half.
class owner_and_thief {
 public:
  using policy = urgent_scene<model_memory, 2>::policy;

  explicit owner_and_thief(policy* s) : s_{s} {
    idle_.search();
    idle_.rest(0);
    idle_.search();
  }

  // As default_poster::deliver for both, and after_link.
  void post(policy::color& c, small_event& e, policy::color& d, small_event& f) {
    s_->post(c, e);
    s_->post(d, f);
    const detail::idle_view seen = idle_.view_after_publish();
    if (seen.quiet() || seen.searching() != 0) return;
    if (idle_.claim(0)) alarms_[0].signal();
  }
  // As a worker's loop: a turn, or a steal, or a rest with a look at everything, or a sleep.
  void work(unsigned worker) {
    if (worker == 0 && !sleep(0)) return;
    for (bool searching = true;;) {
      s_->past[worker] = searching ? 1 : 2;
      if (s_->work(worker, 1) != 0) {
        if (searching && idle_set::owes_cover(idle_.end_search())) cover();
        searching = false;
        continue;
      }
      if (!searching) idle_.search();
      searching = true;
      if (worker == 1 && s_->homes[0].has_loot() && s_->steal(1, 0)) continue;
      idle_.rest(worker);
      if (!finds_work(worker)) {
        if (!sleep(worker)) return;
      } else {
        idle_.cancel(worker);
      }
    }
  }

 private:
  bool sleep(unsigned worker) {
    const bool woken = alarms_[worker].wait_for(timeout::when_quiet);
    if (woken) idle_.cancel(worker);
    return woken;
  }
  // As default_thief::sources: what an awake owner has is declined.
  bool finds_work(unsigned worker) { return s_->homes[0].has_work() && (worker == 0 || idle_.is_asleep(0)); }
  void cover() {
    if (!s_->homes[0].has_work()) return;
    if (const unsigned claimed = idle_.claim_any(); claimed != idle_set::nobody) alarms_[claimed].signal();
  }

  using idle_set = detail::idle_set<model_memory>;
  policy* s_;
  idle_set idle_{2};
  std::array<token, 2> alarms_;
};

result left_by_a_thief(const options& bounds) {
  return explore(bounds, [](program& p) {
    urgent_scene<model_memory, 2> t{p};
    auto* const c = t.add_color();
    auto* const d = t.add_color();
    auto* const both = p.make<owner_and_thief>(t.s);
    p.thread("poster", [=, a = t.event(0, 1, 2), b = t.event(0, 1, 2)] { both->post(*c, *a, *d, *b); });
    p.thread("owner", [=] { both->work(0); });
    p.thread("thief", [=] { both->work(1); });
    p.finally([=] {
      for (auto* const each : {c, d}) check(each->ledger->data == 1, "covered: no event is left while all sleep");
    });
  });
}

TEST(urgent_colors, are_not_left_while_all_sleep) {
  const result found = left_by_a_thief({.name = "urgent_left_by_a_thief", .preemption_bound = 2});
  EXPECT_TRUE(found.proved()) << found.report;
}

// What would be missing if every access were relaxed.
TEST(urgent_colors, need_the_orders_of_their_queues) {
  EXPECT_FALSE(posted_and_robbed<without_order>({.name = "urgent_relaxed", .preemption_bound = 2}).passed);
}

}  // namespace
}  // namespace tartan::model
