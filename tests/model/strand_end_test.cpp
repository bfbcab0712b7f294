// The end of a strand: closing its color queue against running it, and posts that come too late; docs/design/color-queue.md.

#include <gtest/gtest.h>

#include "model_memory.h"
#include "program.h"
#include "small_policy.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

using enum std::memory_order;

template <class Memory, unsigned Workers>
struct scene {
  using policy = small_policy<Memory, Workers>;
  using color = typename policy::color;

  explicit scene(program& p) : s{p.make<policy>()}, c{p.make<color>(*p.make<small_ledger>())} {}

  policy* s;
  color* c;
};

// The runner sees the end while the closer may still have to link: who frees, and when?
template <class Memory>
result closed_from_outside(const options& bounds) {
  return explore(bounds, [](program& p) {
    const scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.c;
    auto* const before = p.make<small_event>(3, 1);
    s->post_as(0, *c, *before);
    p.thread("closer", [=, e = p.make<small_event>(0, 1)] {
      s->post(*c, *e);
      s->close(*c);
    });
    p.thread("owner", [=] { s->work(0, 2); });
    p.thread("thief", [=] {
      if (s->steal(1, 0)) s->work(1, 1);
    });
    p.finally([=] {
      s->settle();
      check(c->generation == 1, "no-leftover: a closed strand is freed, once");
      check(c->ledger->ran == 2, "what was posted before the end still runs");
    });
  });
}

TEST(strand_end, by_a_foreign_thread_frees_the_color_queue_once_and_untouched) {
  const result found = closed_from_outside<model_memory>({.name = "closed_from_outside"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// The end waits for events that the runner has in its list already, and those need several turns.
template <class Memory>
result closed_behind_events(const options& bounds) {
  return explore(bounds, [](program& p) {
    const scene<Memory, 1> t{p};
    auto* const s = t.s;
    auto* const c = t.c;
    p.thread("closer", [=, a = p.make<small_event>(0, 1), b = p.make<small_event>(0, 2)] {
      s->post(*c, *a);
      s->post(*c, *b);
      s->close(*c);
    });
    p.thread("owner", [=] { s->work(0, 3); });
    p.finally([=] {
      s->settle();
      check(c->generation == 1, "no-leftover: a closed strand is freed, once");
      check(c->ledger->ran == 2, "what was posted before the end still runs");
    });
  });
}

TEST(strand_end, comes_after_every_event_that_was_posted_before) {
  const result found = closed_behind_events<model_memory>({.name = "closed_behind_events"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// A thief may unlink the closed color queue while it runs: then nobody but its runner can still see to its end.
template <class Memory>
result closed_while_running(const options& bounds) {
  return explore(bounds, [](program& p) {
    const scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.c;
    s->post_as(0, *c, *p.make<small_event>(3, 1));
    p.thread("owner", [=] { s->work(0, 1); });
    p.thread("closer", [=] { s->close(*c); });
    p.thread("thief", [=] { s->steal(1, 0); });
    p.finally([=] {
      s->settle();
      check(c->generation == 1, "no-leftover: a closed strand is freed, once");
    });
  });
}

TEST(strand_end, is_not_forgotten_if_a_thief_unlinks_it_while_it_runs) {
  const result found = closed_while_running<model_memory>({.name = "closed_while_running"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// The last handle is dropped by an event of the owner, while another thread's post is on its way.
template <class Memory>
result closed_by_owner(const options& bounds) {
  return explore(bounds, [](program& p) {
    const scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.c;
    auto* const flag = p.make<model_atomic<int>>(0, "flag");
    s->post_as(0, *c, *p.make<small_event>(3, 1));
    p.thread("poster", [=, e = p.make<small_event>(0, 1)] {
      s->post(*c, *e);
      flag->store(1, release);
    });
    p.thread("owner", [=] {
      s->work(0, 1);
      if (flag->load(acquire) == 1) s->close_as(0, *c);  // the poster has told us that it is done with the handle
      s->work(0, 1);
    });
    p.thread("thief", [=] { s->steal(1, 0); });
    p.finally([=] {
      s->settle();
      check(c->ledger->ran == 2, "what was posted before the end still runs");
      if (c->generation == 0) {
        s->close(*c);
        s->settle();
      }
      check(c->generation == 1, "no-leftover: a closed strand is freed, once");
    });
  });
}

TEST(strand_end, by_its_owner_waits_for_what_others_have_posted) {
  const result found = closed_by_owner<model_memory>({.name = "closed_by_owner"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// A post by the strand's color value, by a thread without a handle: it runs in that strand, or is refused.
template <class Memory>
result late_post(const options& bounds) {
  return explore(bounds, [](program& p) {
    const scene<Memory, 1> t{p};
    auto* const s = t.s;
    auto* const c = t.c;
    s->poisons = false;
    auto* const accepted = p.make<ghost<int>>(0, "late posts accepted");
    auto* const refused = p.make<model_plain<int>>(0, "seen after a refusal");
    s->post_as(0, *c, *p.make<small_event>(3, 1));
    p.thread("late poster", [=, e = p.make<small_event>(0, 1)] {
      if (s->post_late(9, *c, 0, *e)) {
        *accepted = 1;
      } else {
        *refused = c->ledger->data.get();  // goes elsewhere, after all that the strand did
      }
    });
    p.thread("closer", [=] { s->close(*c); });
    p.thread("owner", [=] { s->work(0, 2); });
    p.finally([=] {
      s->settle();
      check(c->generation == 1, "no-leftover: a closed strand is freed, once");
      check(c->ledger->ran == 1 + *accepted, "a post runs if it was accepted, and only then");
    });
  });
}

TEST(strand_end, accepts_or_refuses_a_late_post_by_value) {
  const result found = late_post<model_memory>({.name = "late_post"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// The color queue is taken for another strand at once, by another worker, and given to the late poster's.
template <class Memory>
result late_post_to_recycled(const options& bounds) {
  return explore(bounds, [](program& p) {
    const scene<Memory, 2> t{p};
    auto* const s = t.s;
    auto* const c = t.c;
    s->poisons = false;
    c->queue.owner.store(1, relaxed);
    s->post_as(1, *c, *p.make<small_event>(3, 1));
    p.thread("first owner", [=] {
      s->work(1, 1);
      if (s->close_as(1, *c)) s->reopen(*c, 0);
    });
    p.thread("late poster", [=, e = p.make<small_event>(0, 1)] { s->post_late(0, *c, 0, *e), s->work(0, 1); });
    p.finally([=] { s->settle(); });
  });
}

TEST(strand_end, keeps_late_posts_out_of_the_strand_that_comes_next_on_the_same_line) {
  const result found = late_post_to_recycled<model_memory>({.name = "late_post_to_recycled"});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(strand_end, needs_its_orders) {
  EXPECT_FALSE(closed_from_outside<without_order>({.name = "closed_from_outside_relaxed"}).passed);
  EXPECT_FALSE(late_post<without_order>({.name = "late_post_relaxed"}).passed);
}

}  // namespace
}  // namespace tartan::model
