// Foreign threads in the middle of posts, against the end of a runtime and of threads; docs/design/posting-gates.md.

#include "core/posting_gates.h"

#include <gtest/gtest.h>

#include "model_memory.h"
#include "program.h"
#include "waiting.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

using enum std::memory_order;

template <class Memory>
struct gate : detail::posting_gate<Memory> {
  model_plain<gate*> next{nullptr, "next"};
  model_plain<int> lines{0, "lines"};  // as a guest's caches: its thread's
};

// A runtime, as far as its end is concerned: what refuses posts, and what they reach.
template <class Memory>
struct host {
  detail::posting_gates<Memory, gate<Memory>> gates;
  typename Memory::template atomic<bool> over{false, "over"};
  typename Memory::template atomic<int> first_half{0, "first half of a post"};
  model_plain<int> arrived{0, "what has arrived"};
  ghost<int> admitted{0, "posts that were admitted"};
  ghost<int> destroyed{0, "gates that were destroyed"};

  // Becomes a gate of the calling thread.
  gate<Memory>* enroll() {
    gate<Memory>* mine = gates.claim();
    if (mine == nullptr) {
      mine = make<gate<Memory>>();
      gates.add(*mine);
    }
    return mine;
  }

  // The pushes of several threads meet in one word, but what one thread has yet to link is its own: `arrived` has one writer here.
  void post(gate<Memory>& g) {
    g.enter();
    if (!over.load(acquire)) {
      admitted = admitted + 1;
      arrived = arrived + 1;
    }
    g.leave();
  }

  // As spawn: a list first, and then a post, which has a gate of its own.
  void spawn(gate<Memory>& g) {
    g.enter();
    if (!over.load(acquire)) {
      admitted = admitted + 1;
      g.enter();
      g.leave();
      arrived = arrived + 1;
    }
    g.leave();
  }

  // As post, by a thread that has no gate of its own.
  void post_by_common() {
    gates.enter_common();
    if (!over.load(acquire)) {
      admitted = admitted + 1;
      gates.enter_common();
      gates.leave_common();
      arrived = arrived + 1;
    }
    gates.leave_common();
  }

  void end() {
    over.store(true, release);
    gates.pass();
    check(arrived == admitted, "seen-or-refused: what was admitted has arrived");
    arrived = -1;  // a race, if anybody is still inside
  }

  void retire(gate<Memory>* g) {
    destroyed = destroyed + 1;
    destroy(g);
  }
};

template <class Memory>
result end_against_posts(const options& bounds, int posts) {
  return explore(bounds, [=](program& p) {
    auto* h = p.make<host<Memory>>();
    p.thread("poster", [=] {
      gate<Memory>* const mine = h->enroll();
      for (int n = 0; n < posts; ++n) h->post(*mine);
    });
    p.thread("end", [=] { h->end(); });
    p.finally([=] { check(h->arrived == -1, "nothing arrives after the end"); });
  });
}

TEST(posting_gates, let_what_was_admitted_arrive_before_the_end_and_refuse_the_rest) {
  const result found = end_against_posts<model_memory>({.name = "posting_gates"}, 2);
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(posting_gates, let_what_was_admitted_arrive_where_membarrier_is_refused) {
  const result found =
      end_against_posts<model_memory>({.name = "posting_gates_fences", .symmetric_barriers = true}, 2);
  EXPECT_TRUE(found.proved()) << found.report;
}

template <class Memory>
result end_against_a_spawn(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* h = p.make<host<Memory>>();
    p.thread("spawner", [=] { h->spawn(*h->enroll()); });
    p.thread("end", [=] { h->end(); });
    p.finally([=] { check(h->arrived == -1, "nothing arrives after the end"); });
  });
}

TEST(posting_gates, keep_a_thread_inside_until_it_has_left_as_often_as_it_has_entered) {
  const result found = end_against_a_spawn<model_memory>({.name = "posting_gates_nested"});
  EXPECT_TRUE(found.proved()) << found.report;
}

template <class Memory>
result end_against_common(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* h = p.make<host<Memory>>();
    p.thread("poster", [=] { h->post_by_common(); });
    p.thread("end", [=] { h->end(); });
    p.finally([=] { check(h->arrived == -1, "nothing arrives after the end"); });
  });
}

TEST(posting_gates, have_one_in_common_for_threads_without) {
  const result found = end_against_common<model_memory>({.name = "posting_gates_common"});
  EXPECT_TRUE(found.proved()) << found.report;
  EXPECT_FALSE(end_against_common<without_heavy_barrier>({.name = "posting_gates_common_no_heavy"}).passed);
  EXPECT_FALSE(end_against_common<without_order>({.name = "posting_gates_common_relaxed"}).passed);
}

// The end of a run: nothing refuses posts, but one that has returned must be found although it has left its link to one that has not.
// `gated` false: the first one is in no gate, as one that ends a strand must not be: its CLOSING comes with LINKED.
template <class Memory>
result idle_against_posts(const options& bounds, bool gated = true) {
  return explore(bounds, [=](program& p) {
    auto* h = p.make<host<Memory>>();
    auto* returned = p.make<model_atomic<bool>>(false, "second post returned");
    p.thread("poster", [=] {
      gate<Memory>* const mine = h->enroll();
      if (gated) mine->enter();
      if (h->first_half.fetch_add(1, acq_rel) == 0) h->arrived = 1;  // owes the link
      if (gated) mine->leave();
    });
    p.thread("second poster", [=] {
      gate<Memory>* const mine = h->enroll();
      mine->enter();
      const bool owes = h->first_half.fetch_add(1, acq_rel) == 0;
      if (owes) h->arrived = 1;
      mine->leave();
      returned->store(!owes, release);
    });
    p.thread("worker", [=] {
      if (!returned->load(acquire)) return;
      Memory::heavy_barrier();  // as idle_set::view_and_fence
      h->gates.await_left();
      check(h->arrived == 1, "what has returned has arrived");
    });
  });
}

TEST(posting_gates, let_nobody_conclude_that_nothing_is_left_while_a_link_is_owed) {
  const result found = idle_against_posts<model_memory>({.name = "posting_gates_idle"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// A thread ends, another takes its gate over, the runtime ends: in any order that a program may bring about.
template <class Memory>
result ends_in_any_order(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* h = p.make<host<Memory>>();
    auto* made = p.make<ghost<int>>(0, "gates that were made");
    const auto visit = [=] {
      gate<Memory>* mine = h->gates.claim();
      if (mine == nullptr) {
        mine = make<gate<Memory>>();
        *made = *made + 1;
        h->gates.add(*mine);
      }
      mine->lines = mine->lines + 1;
      mine->enter();
      mine->leave();
      return mine;
    };
    auto* posts = p.make<model_atomic<int>>(0, "threads that have posted");
    for (const char* name : {"thread", "second thread"}) {
      p.thread(name, [=] {
        gate<Memory>* const mine = visit();
        posts->fetch_add(1, acq_rel);
        mine->lines = mine->lines + 1;  // its runtime may be gone, the thread's part of it is not
        if (!mine->is_owned() || mine->vacate()) h->retire(mine);
      });
    }
    p.thread("end", [=] {
      wait_until(*posts, acquire, [](int n) { return n == 2; });
      h->gates.pass();
      h->gates.end([=](gate<Memory>& g) { h->retire(&g); });
    });
    p.finally([=] { check(h->destroyed == *made, "one-destroyer: each gate once, and none is left"); });
  });
}

TEST(posting_gates, are_destroyed_once_whether_the_thread_or_the_runtime_ends_first) {
  const result found = ends_in_any_order<model_memory>({.name = "posting_gates_ends"});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(posting_gates, are_needed_by_everybody_who_may_owe_a_link) {
  EXPECT_FALSE(idle_against_posts<model_memory>({.name = "posting_gates_ungated"}, false).passed);
}

TEST(posting_gates, need_both_barriers) {
  EXPECT_FALSE(end_against_posts<without_heavy_barrier>({.name = "posting_gates_no_heavy"}, 1).passed);
  EXPECT_FALSE(end_against_posts<with_fences_for_heavy_barriers>({.name = "posting_gates_fence_for_heavy"}, 1).passed);
  const options fences{.name = "posting_gates_no_light", .symmetric_barriers = true};
  EXPECT_FALSE(end_against_posts<without_light_barrier>(fences, 1).passed);
}

TEST(posting_gates, need_their_orders) {
  EXPECT_FALSE(end_against_posts<without_order>({.name = "posting_gates_relaxed"}, 1).passed);
  EXPECT_FALSE(ends_in_any_order<without_order>({.name = "posting_gates_ends_relaxed"}).passed);
}

}  // namespace
}  // namespace tartan::model
