// The biased lock: one owner, several thieves; docs/design/biased-lock.md.

#include "core/sched/biased_lock.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "model_memory.h"
#include "program.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

constexpr int patience = 1;
constexpr std::uint32_t last_ticket = 0xffffffff;  // so that the second one is 1, the first of all

enum class asks : bool { by_barrier, for_an_answer };

// The lock, what it guards, and how often somebody was inside.
template <class Memory>
struct guarded {
  detail::biased_lock<Memory, patience, patience, last_ticket> lock;
  model_plain<int> entries{0, "entries"};
  ghost<int> inside{0, "who is inside"};
  ghost<int> expected{0, "entries so far"};

  void work() {
    check(inside == 0, "apart: one at a time");
    inside = 1;
    const int seen = entries;
    yield_point();
    entries = seen + 1;
    expected = expected + 1;
    inside = 0;
  }
  void own(int times) {
    for (int n = 0; n < times; ++n) {
      lock.enter();
      work();
      lock.leave();
    }
  }
  // As post_by_value, which does not wait while it holds a bucket.
  void own_if_free() {
    if (lock.try_enter()) {
      work();
      lock.leave();
    }
  }
  // As serve_backlog, which stays away for long.
  void answer_twice_and_own() {
    lock.answer();
    own(1);
    lock.answer();
  }
  void rob(asks how) {
    if (lock.try_enter_as_thief(how == asks::for_an_answer) != detail::thief_entry::refused) {
      work();
      lock.leave_as_thief();
    }
  }
};

template <class Memory>
result one_thief(const options& bounds, asks how = asks::by_barrier) {
  return explore(bounds, [how](program& p) {
    auto* g = p.make<guarded<Memory>>();
    p.thread("owner", [=] { g->own(2); });
    p.thread("thief", [=] { g->rob(how), g->rob(how); });
    p.finally([=] { check(g->entries == g->expected, "nothing done inside is lost"); });
  });
}

template <class Memory>
result two_thieves(const options& bounds, asks how = asks::by_barrier) {
  return explore(bounds, [how](program& p) {
    auto* g = p.make<guarded<Memory>>();
    p.thread("owner", [=] { g->own(1); });
    p.thread("thief", [=] { g->rob(how); });
    p.thread("second thief", [=] { g->rob(asks::for_an_answer); });
    p.finally([=] { check(g->entries == g->expected, "nothing done inside is lost"); });
  });
}

TEST(biased_lock, keeps_owner_and_thief_apart) {
  const result found = one_thief<model_memory>({.name = "biased_lock"});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(biased_lock, keeps_owner_and_thief_apart_where_membarrier_is_refused) {
  const result found = one_thief<model_memory>({.name = "biased_lock_fences", .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(biased_lock, keeps_apart_who_asks_for_an_answer) {
  const result found = one_thief<model_memory>({.name = "biased_lock_answer"}, asks::for_an_answer);
  EXPECT_TRUE(found.proved()) << found.report;
  const result two = two_thieves<model_memory>({.name = "biased_lock_two_answers"}, asks::for_an_answer);
  EXPECT_TRUE(two.proved()) << two.report;
}

TEST(biased_lock, keeps_apart_who_asks_for_an_answer_where_membarrier_is_refused) {
  const result found = one_thief<model_memory>({.name = "biased_lock_answer_fences", .symmetric_barriers = true}, asks::for_an_answer);
  EXPECT_TRUE(found.proved()) << found.report;
  const result two = two_thieves<model_memory>({.name = "biased_lock_two_answers_fences", .symmetric_barriers = true}, asks::for_an_answer);
  EXPECT_TRUE(two.proved()) << two.report;
}

TEST(biased_lock, keeps_apart_who_is_answered_while_the_owner_is_away) {
  const result found = explore({.name = "biased_lock_answer_away"}, [](program& p) {
    auto* g = p.make<guarded<model_memory>>();
    p.thread("owner", [=] { g->answer_twice_and_own(); });
    p.thread("thief", [=] { g->rob(asks::for_an_answer), g->rob(asks::for_an_answer); });
    p.finally([=] { check(g->entries == g->expected, "nothing done inside is lost"); });
  });
  EXPECT_TRUE(found.proved()) << found.report;
}

// An answer may reach the word after its thief has gone and another has come.
TEST(biased_lock, keeps_apart_two_who_ask_an_owner_that_is_away) {
  for (const bool fences : {false, true}) {
    const result found = explore({.name = fences ? "biased_lock_away_two_fences" : "biased_lock_away_two", .symmetric_barriers = fences}, [](program& p) {
      auto* g = p.make<guarded<model_memory>>();
      p.thread("owner", [=] { g->lock.answer(), g->own(1); });
      p.thread("thief", [=] { g->rob(asks::for_an_answer); });
      p.thread("second thief", [=] { g->rob(asks::for_an_answer); });
      p.finally([=] { check(g->entries == g->expected, "nothing done inside is lost"); });
    });
    EXPECT_TRUE(found.proved()) << found.report;
  }
}

TEST(biased_lock, keeps_two_thieves_and_the_owner_apart) {
  const result found = two_thieves<model_memory>({.name = "biased_lock_two_thieves"});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(biased_lock, keeps_two_thieves_and_the_owner_apart_where_membarrier_is_refused) {
  const result found =
      two_thieves<model_memory>({.name = "biased_lock_two_thieves_fences", .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(biased_lock, lets_an_owner_that_does_not_wait_go_on_without_it) {
  const result found = explore({.name = "biased_lock_try"}, [](program& p) {
    auto* g = p.make<guarded<model_memory>>();
    p.thread("owner", [=] { g->own_if_free(), g->own(1); });
    p.thread("thief", [=] { g->rob(asks::for_an_answer); });
    p.finally([=] { check(g->entries == g->expected, "nothing done inside is lost"); });
  });
  EXPECT_TRUE(found.proved()) << found.report;
}

// Nobody starves for ever: the owner comes in once the thieves have left, however often they come back.
TEST(biased_lock, lets_the_owner_in_at_last) {
  const result found = explore({.name = "biased_lock_owner_waits"}, [](program& p) {
    auto* g = p.make<guarded<model_memory>>();
    p.thread("owner", [=] { g->own(1); });
    for (const char* name : {"thief", "second thief"}) {
      p.thread(name, [=] { g->rob(asks::for_an_answer); });
    }
    p.finally([=] { check(g->expected >= 1, "the owner was inside"); });
  });
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(biased_lock, needs_both_barriers) {
  EXPECT_FALSE(one_thief<without_heavy_barrier>({.name = "biased_lock_no_heavy"}).passed);
  EXPECT_FALSE(one_thief<with_fences_for_heavy_barriers>({.name = "biased_lock_fence_for_heavy"}).passed);
  const options fences{.name = "biased_lock_no_light", .symmetric_barriers = true};
  EXPECT_FALSE(one_thief<without_light_barrier>(fences).passed);
}

TEST(biased_lock, needs_its_orders) {
  EXPECT_FALSE(one_thief<without_order>({.name = "biased_lock_relaxed"}).passed);
}

}  // namespace
}  // namespace tartan::model
