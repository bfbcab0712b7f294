// Posting to a color against running it, going idle and being robbed of it; docs/design/color-queue.md.

#include <gtest/gtest.h>

#include "model_memory.h"
#include "program.h"
#include "scene.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

using enum std::memory_order;

template <class Memory>
result foreign_posts(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 1> t{p};
    auto* const s = t.s;
    auto* const c = t.add_color();
    p.thread("poster", [=, a = t.event(0, 1), b = t.event(0, 2), d = t.event(0, 3)] {
      s->post(*c, *a), s->post(*c, *b), s->post(*c, *d);
    });
    p.thread("owner", [=] { s->work(0, 3); });
    p.finally([=] { t.all_ran(s, c, 3); });
  });
}

TEST(color_queue, runs_every_foreign_post_once_and_in_order) {
  const result found = foreign_posts<model_memory>({.name = "foreign_posts"});
  EXPECT_TRUE(found.proved()) << found.report;
}

template <class Memory>
result two_posters(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 1> t{p};
    auto* const s = t.s;
    auto* const c = t.add_color();
    p.thread("poster", [=, a = t.event(0, 1)] { s->post(*c, *a); });
    p.thread("second poster", [=, a = t.event(1, 1)] { s->post(*c, *a); });
    p.thread("owner", [=] { s->work(0, 2); });
    p.finally([=] { t.all_ran(s, c, 2); });
  });
}

TEST(color_queue, runs_what_two_threads_post_at_once) {
  const result found = two_posters<model_memory>({.name = "two_foreign_posters"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// A was posted by another thread, then a flag was set, then B is posted by the owner that saw the flag: A runs first.
template <class Memory>
result local_after_foreign(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.add_color();
    auto* const flag = p.make<model_atomic<int>>(0, "flag");
    auto* const first = t.event(0, 1);
    auto* const second = t.event(1, 1);
    p.thread("poster", [=] {
      s->post(*c, *first);
      flag->store(1, release);
    });
    p.thread("owner", [=] {
      s->work(0, 1);
      if (flag->load(acquire) == 1) second->after = first;
      s->post_as(0, *c, *second);
    });
    p.thread("thief", [=] { s->steal(1, 0); });
    p.finally([=] { t.all_ran(s, c, 2); });
  });
}

TEST(color_queue, runs_a_local_post_after_the_foreign_one_that_happened_before_it) {
  const result found = local_after_foreign<model_memory>({.name = "local_after_foreign"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// The same from an event of the color itself.
template <class Memory>
result own_after_foreign(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 1> t{p};
    auto* const s = t.s;
    auto* const c = t.add_waiting_color();
    auto* const flag = p.make<model_atomic<int>>(0, "flag");
    auto* const first = t.event(0, 1);
    auto* const second = t.event(1, 1);
    p.thread("poster", [=] {
      s->post(*c, *first);
      flag->store(1, release);
    });
    p.thread("owner", [=] {
      s->work(0, 3, [=](auto& running) {
        if (second->content == 1) return;
        if (flag->load(acquire) == 1) second->after = first;
        s->post_as(0, running, *second);
      });
    });
    p.finally([=] { t.all_ran(s, c, 3); });
  });
}

TEST(color_queue, runs_a_post_to_the_running_color_after_the_foreign_one_that_happened_before_it) {
  const result found = own_after_foreign<model_memory>({.name = "own_after_foreign"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// One worker posts twice, while another takes the color away: the second post may go another way than the first.
template <class Memory>
result posts_by_robbed_owner(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.add_waiting_color();
    p.thread("owner", [=, a = t.event(0, 1), b = t.event(0, 2)] {
      s->post_as(0, *c, *a);
      s->post_as(0, *c, *b);
      s->work(0, 1);
    });
    p.thread("thief", [=] {
      if (s->steal(1, 0)) s->work(1, 2);
    });
    p.finally([=] { t.all_ran(s, c, 3); });
  });
}

TEST(color_queue, keeps_the_order_of_a_worker_that_is_robbed_between_two_posts) {
  const result found = posts_by_robbed_owner<model_memory>({.name = "robbed_between_posts"});
  EXPECT_TRUE(found.proved()) << found.report;
}

/// What an event leads to is its contents.
struct looking_traits : small_traits {
  static constexpr unsigned last_step_ahead = 0;
  static void ask_ahead(small_event& first, unsigned /*step*/) { check(first.content == 1, "looked-at: it has been posted, and waits"); }
};

// The owner looks ahead at two colors, of which a thief takes one, while another thread posts.
template <class Memory>
result looks_ahead_and_is_robbed(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 2, looking_traits> t{p};
    auto* const s = t.s;
    auto* const c = t.add_waiting_color();
    auto* const d = t.add_waiting_color();
    p.thread("poster", [=, a = t.event(0, 1)] { s->post(*c, *a); });
    p.thread("owner", [=] {
      s->homes[0].look_ahead();
      s->work(0, 1);
    });
    p.thread("thief", [=] {
      if (s->steal(1, 0)) s->work(1, 2);
    });
    p.finally([=] { t.all_ran(s, c, 2), check(d->ledger->data == 1, "no-orphan"); });
  });
}

TEST(color_queue, is_looked_at_before_its_turn_while_a_thief_and_a_poster_come) {
  const result found = looks_ahead_and_is_robbed<model_memory>({.name = "looks_ahead_and_is_robbed"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// The color queue changes hands while others push, link and take the chain: strays go on to the new owner.
template <class Memory, class Traits = small_traits>
result robbed_while_posted_to(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 2, Traits> t{p};
    auto* const s = t.s;
    auto* const c = t.add_waiting_color();
    p.thread("poster", [=, a = t.event(0, 1), b = t.event(0, 2)] { s->post(*c, *a), s->post(*c, *b); });
    p.thread("owner", [=] { s->work(0, 1); });
    p.thread("thief", [=] {
      s->steal(1, 0);
      s->work(1, 1);
    });
    p.finally([=] { t.all_ran(s, c, 3); });
  });
}

TEST(color_queue, forwards_what_was_linked_to_a_worker_that_was_robbed) {
  const result found = robbed_while_posted_to<model_memory>({.name = "robbed_while_posted_to"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// Two colors in one chain, taken by a thief while the owner runs: it leaves one behind.
template <class Memory>
result chain_taken_by_thief(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.add_color();
    auto* const d = t.add_color();
    p.thread("poster", [=, a = t.event(0, 1), b = t.event(0, 1)] { s->post(*c, *a), s->post(*d, *b); });
    p.thread("owner", [=] { s->work(0, 2); });
    p.thread("thief", [=] {
      if (s->steal(1, 0)) s->work(1, 1);
    });
    p.finally([=] {
      t.all_ran(s, c, 1);
      t.all_ran(s, d, 1);
    });
  });
}

TEST(color_queue, survives_a_thief_that_takes_the_incoming_chain) {
  const result found = chain_taken_by_thief<model_memory>({.name = "chain_taken_by_thief"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// Stolen, and stolen back.
template <class Memory>
result two_thieves(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 3> t{p};
    auto* const s = t.s;
    auto* const c = t.add_waiting_color();
    p.thread("owner", [=] { s->work(0, 1); });
    p.thread("thief", [=] { s->steal(1, 0); });
    p.thread("second thief", [=] {
      if (!s->steal(2, 0)) s->steal(2, 1);
      s->work(2, 1);
    });
    p.finally([=] { t.all_ran(s, c, 1); });
  });
}

TEST(color_queue, has_one_place_however_many_steal) {
  const result found = two_thieves<model_memory>({.name = "stolen_twice"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// Several at once from the inbox, then one more at home: it goes behind them.
template <class Memory>
result home_post_behind_inbox(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 1> t{p};
    auto* const s = t.s;
    auto* const c = t.add_color();
    auto* const second = t.event(0, 2);
    auto* const own = t.event(1, 1);
    s->post(*c, *t.event(0, 1));
    s->post(*c, *second);
    own->after = second;
    p.thread("poster", [=, a = t.event(2, 1)] { s->post(*c, *a); });
    p.thread("owner", [=] {
      s->work(0, 1);
      s->post_as(0, *c, *own);
    });
    p.finally([=] { t.all_ran(s, c, 4); });
  });
}

TEST(color_queue, runs_a_local_post_after_all_that_came_by_the_inbox_before) {
  const result found = home_post_behind_inbox<model_memory>({.name = "home_post_behind_inbox"});
  EXPECT_TRUE(found.proved()) << found.report;
}

/// From a worker of a lower number.
template <class Color>
std::uint8_t visits_but_one(const Color& c) {
  return static_cast<std::uint8_t>(c.queue.visits_to_move(true) - 1);
}

// An idle color queue goes to the worker whose short visits it gets, while others link it to where it was.
template <class Memory>
result moves_to_its_visitor(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.add_color();
    c->queue.owner.store(1, relaxed);
    c->queue.visits = visits_but_one(*c);  // the next one moves it
    p.thread("visitor", [=, a = t.event(0, 1), b = t.event(0, 2)] {
      s->post_as(0, *c, *a);
      s->post_as(0, *c, *b);
      s->work(0, 1);
    });
    p.thread("owner", [=] { s->work(1, 1); });
    p.thread("poster", [=, a = t.event(1, 1)] { s->post(*c, *a); });
    p.finally([=] { t.all_ran(s, c, 3); });
  });
}

TEST(color_queue, may_move_to_its_visitor_while_it_is_posted_to) {
  const result found = moves_to_its_visitor<model_memory>({.name = "moves_to_its_visitor"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// It moves only when it is idle: with events left it stays where it is queued.
template <class Memory>
result stays_with_events(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.add_color();
    c->queue.owner.store(1, relaxed);
    c->queue.visits = visits_but_one(*c);
    s->post_as(0, *c, *t.event(0, 1));
    p.thread("visitor", [=, a = t.event(0, 2), b = t.event(0, 3)] {
      s->post_as(0, *c, *a);
      s->post_as(0, *c, *b);
      s->work(0, 1);
    });
    p.thread("owner", [=] { s->work(1, 3); });
    p.finally([=] { t.all_ran(s, c, 3); });
  });
}

TEST(color_queue, does_not_move_while_it_has_events) {
  const result found = stays_with_events<model_memory>({.name = "stays_with_events"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// A worker gives it away while others post to it, link it to where it was, and the other one runs it and posts to it at home.
template <class Memory>
result given_away(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.add_waiting_color();
    p.thread("giver", [=, a = t.event(0, 1)] {
      s->give(0, 1);
      s->post_as(0, *c, *a);
    });
    p.thread("taker", [=, a = t.event(1, 1)] {
      s->post_as(1, *c, *a);
      s->work(1, 2);
    });
    p.thread("poster", [=, a = t.event(2, 1)] { s->post(*c, *a); });
    p.finally([=] { t.all_ran(s, c, 4); });
  });
}

TEST(color_queue, may_be_given_away_while_it_is_posted_to) {
  const result found = given_away<model_memory>({.name = "given_away"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// Placed elsewhere by who found it at home on a worker that it has left since, and come back to.
template <class Memory>
result placed_when_it_is_back(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 3> t{p};
    auto* const s = t.s;
    auto* const c = t.add_waiting_color();
    p.thread("placer", [=, a = t.event(1, 1)] {
      s->place(*c, 2);
      s->post_as(2, *c, *a);
      s->work(2, 1);
    });
    p.thread("mover", [=, a = t.event(0, 1)] {
      s->steal(1, 0);
      s->work(1, 1);
      s->post_as(1, *c, *a);
      s->give(1, 0);
    });
    p.finally([=] { t.all_ran(s, c, 3); });
  });
}

TEST(color_queue, may_be_placed_when_it_has_come_back) {
  const result found = placed_when_it_is_back<model_memory>({.name = "placed_when_it_is_back"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// Given away, with its strand's end under way: who runs it last may free it at once.
template <class Memory>
result given_away_at_its_end(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.add_waiting_color();
    p.thread("giver", [=] { s->give(0, 1); });
    p.thread("taker", [=] { s->work(1, 2); });
    p.thread("closer", [=] { s->close(*c); });
    p.finally([=] {
      s->settle();
      check(c->generation == 1, "the strand ends once");
    });
  });
}

TEST(color_queue, ends_where_it_was_given_to) {
  const result found = given_away_at_its_end<model_memory>({.name = "given_away_at_its_end"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// Given away by the one while a thief takes from it, and from whom it is given to.
template <class Memory>
result given_away_and_stolen(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 3> t{p};
    auto* const s = t.s;
    auto* const c = t.add_waiting_color();
    p.thread("giver", [=] {
      s->give(0, 1);
      s->work(0, 1);
    });
    p.thread("poster", [=, a = t.event(0, 1)] { s->post(*c, *a); });
    p.thread("thief", [=] {
      if (!s->steal(2, 0)) s->steal(2, 1);
      s->work(2, 1);
    });
    p.finally([=] { t.all_ran(s, c, 2); });
  });
}

TEST(color_queue, has_one_place_if_it_is_stolen_and_given_away) {
  const result found = given_away_and_stolen<model_memory>({.name = "given_away_and_stolen"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// A thief has it in hand, and another takes the chain of that thief: nothing but the owner's word orders the two.
template <class Memory>
result on_its_way(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 3> t{p};
    auto* const s = t.s;
    auto* const c = t.add_waiting_color();
    s->post_as(0, *c, *t.event(3, 2));
    p.thread("owner", [=] { s->work(0, 1); });  // leaves the second event behind
    p.thread("poster", [=, a = t.event(0, 1)] { s->post(*c, *a); });
    p.thread("thief", [=] { s->steal(1, 0); });
    p.thread("second thief", [=] { s->steal(2, 1); });
    p.finally([=] { t.all_ran(s, c, 3); });
  });
}

TEST(color_queue, may_be_posted_to_while_a_thief_has_it_in_hand) {
  const result found = on_its_way<model_memory>({.name = "on_its_way"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// A batch, as default_poster::submit_from_outside posts it: two events of one color in one push, and the links of both colors in another.
template <class Memory>
result batch_with_one_link(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.add_color();
    auto* const d = t.add_color();
    p.thread("batch poster", [=, a = t.event(0, 1), b = t.event(0, 2), e = t.event(0, 1)] {
      detail::owed_links<typename decltype(t)::policy::home> owed;
      for (small_event* const each : {a, b, e}) each->content = 1;
      b->next = a;
      if (c->queue.in.push(*b, *a) == detail::pushed::owes_link) owed.add(c->queue, 0);
      if (d->queue.in.push(*e, *e) == detail::pushed::owes_link) owed.add(d->queue, 0);
      if (!owed.empty()) owed.pay(s->homes.data());
    });
    p.thread("second poster", [=, a = t.event(1, 1)] { s->post(*c, *a); });
    p.thread("owner", [=] { s->work(0, 2); });
    p.finally([=] {
      t.all_ran(s, c, 3);
      t.all_ran(s, d, 1);
    });
  });
}

TEST(color_queue, runs_a_batch_whose_links_are_paid_together) {
  const result found = batch_with_one_link<model_memory>({.name = "batch_with_one_link"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// The same with a thief that takes one of the two while its events are pushed, so that the chain holds a stray.
template <class Memory>
result batch_to_a_robbed_owner(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.add_waiting_color();
    auto* const d = t.add_color();
    p.thread("batch poster", [=, a = t.event(0, 1), b = t.event(0, 2), e = t.event(0, 1)] {
      detail::owed_links<typename decltype(t)::policy::home> owed;
      for (small_event* const each : {a, b, e}) each->content = 1;
      b->next = a;
      if (c->queue.in.push(*b, *a) == detail::pushed::owes_link) owed.add(c->queue, 0);
      if (d->queue.in.push(*e, *e) == detail::pushed::owes_link) owed.add(d->queue, 0);
      if (!owed.empty()) owed.pay(s->homes.data());
    });
    p.thread("owner", [=] { s->work(0, 1); });
    p.thread("thief", [=] {
      if (s->steal(1, 0)) s->work(1, 1);
    });
    p.finally([=] {
      t.all_ran(s, c, 3);
      t.all_ran(s, d, 1);
    });
  });
}

TEST(color_queue, forwards_the_strays_of_a_batch) {
  const result found = batch_to_a_robbed_owner<model_memory>({.name = "batch_to_a_robbed_owner"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// With the real lock under it; bounded, because it is proved on its own and the product of both is large.
struct real_lock_traits : small_traits {
  template <class Memory>
  using lock = detail::biased_lock<Memory, 1, 1>;
};

TEST(color_queue, forwards_strays_under_the_biased_lock_too) {
  const result found = robbed_while_posted_to<model_memory, real_lock_traits>(
      {.name = "robbed_under_biased_lock", .preemption_bound = 2});
  EXPECT_TRUE(found.proved()) << found.report;
}

// What would be missing if every access were relaxed.
TEST(color_queue, needs_its_orders) {
  EXPECT_FALSE(foreign_posts<without_order>({.name = "foreign_posts_relaxed"}).passed);
  EXPECT_FALSE(local_after_foreign<without_order>({.name = "local_after_foreign_relaxed"}).passed);
  EXPECT_FALSE(robbed_while_posted_to<without_order>({.name = "robbed_while_posted_to_relaxed"}).passed);
}

}  // namespace
}  // namespace tartan::model
