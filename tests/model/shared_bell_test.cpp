// A worker that sleeps at the source is called by a bell that stays until it is silenced: by the sleeper, or by a look while nobody sleeps there;
// docs/design/sleeping.md.

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "core/sleep/idle_set.h"
#include "model_memory.h"
#include "pollers.h"
#include "program.h"
#include "waiting.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

using detail::bed;
using enum std::memory_order;

// Work for the one that polls, while another worker is awake and looks at the source.
template <class Memory>
result called_while_another_looks(const options& bounds, polling_ways how = {}) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<pollers<Memory, 2>>(std::array{bed::source, bed::token}, 1, 1, true, how);
    (void)s->idle.cancel(1);
    (void)s->idle.end_search();
    p.thread("poster", [=] { s->post_to(0); });
    p.thread("worker 0", [=] { s->work(0, true); });
    p.thread("worker 1", [=] {
      for (int looks = 0; looks < 2; ++looks) s->look(1, false);
    });
    p.finally([=] { s->check_end(); });
  });
}

TEST(bell, reaches_the_one_that_polls_although_another_one_looks) {
  const result found = called_while_another_looks<model_memory>({.name = "bell_and_look", .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = called_while_another_looks<model_memory>({.name = "bell_and_look_membarrier"});
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
}

TEST(bell, is_lost_if_a_look_forgets_it_while_one_polls) {
  EXPECT_FALSE(called_while_another_looks<model_memory>({.name = "bell_forgotten", .symmetric_barriers = true}, {.asks_before_forget = false}).passed);
}

// The caller is slow: whom it calls gets up for what is ready, and sleeps there again, or another one does.
template <class Memory>
result slow_call(const options& bounds) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<pollers<Memory, 2>>(std::array{bed::source, bed::guard}, 2, 1, true);
    p.thread("poster", [=] { s->post(0); });
    p.thread("outside", [=] { s->becomes_ready(); });
    for (const unsigned n : {0u, 1u}) p.thread("worker " + std::to_string(n), [=] { s->work(n, true); });
    p.finally([=] { s->check_end(); });
  });
}

TEST(bell, may_ring_late) {
  const result found = slow_call<model_memory>({.name = "bell_late", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

// A ring is left that nobody was meant by. A look forgets it, and holds the polling bit for that, while the last searcher finds work, and hands on to
// nobody for that bit. Both then run long events.
template <class Memory>
result forgets_while_another_hands_on(const options& bounds, polling_ways how = {}) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<pollers<Memory, 3>>(std::array{bed::token, bed::token, bed::token}, 3, 3, false, how);
    auto* const both_run = p.make<std::array<token, 2>>();
    for (const unsigned n : {0u, 1u}) (void)s->idle.cancel(n);
    (void)s->idle.end_search();
    s->ring();
    p.thread("looks", [=] {
      s->look(0, false);
      s->pending = s->pending - 1;
      (*both_run)[0].signal();
      s->event();
    });
    p.thread("last searcher", [=] {
      s->end_search(true);
      s->pending = s->pending - 1;
      (*both_run)[1].signal();
      s->event();
    });
    p.thread("outside", [=] {
      for (token& each : *both_run) each.wait();
      s->becomes_ready();
    });
    p.thread("sleeper", [=] { s->work(2, true); });
    p.finally([=] { check(s->pending == 0, "attended: somebody is left for what becomes ready"); });
  });
}

TEST(bell, is_forgotten_by_a_look_that_hands_on) {
  const result found = forgets_while_another_hands_on<model_memory>({.name = "bell_forget_hands_on", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = forgets_while_another_hands_on<model_memory>({.name = "bell_forget_hands_on_membarrier", .preemption_bound = 1});
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
  EXPECT_FALSE(
      forgets_while_another_hands_on<model_memory>({.name = "bell_forget_only", .symmetric_barriers = true}, {.hands_on_after_look = false}).passed);
}

// known-bed, as futex_poller and lifecycle::seat_sleepers: a source is plugged in while a worker goes to rest, and another is slow to
// call whom it has claimed.
template <class Memory>
class beds_of_one {
 public:
  beds_of_one(bool looks_again, bool wakes, bool alone) : looks_again_{looks_again}, wakes_{wakes} {
    idle.search();
    idle.search();
    if (alone) (void)idle.rest(1);  // then who sleeps is the last one, and passes no heavy barrier
  }

  void plug_in() {
    source.store(1, release);
    if (!wakes_) return;
    Memory::full_barrier();
    if (idle.is_asleep(0) && seat.load(relaxed) != source.load(acquire)) call();
  }
  // A post for worker 0.
  void post() {
    pending = pending + 1;
    work_.fetch_add(1, release);
    if (!idle.view_after_publish().quiet()) call();
  }
  void work() {
    for (;;) {
      forget(0);
      if (take()) {
        pending = pending - 1;
        continue;
      }
      seat.store(source.load(acquire), relaxed);
      (void)idle.rest(0);
      if (work_.load(relaxed) != 0 || (looks_again_ && seat.load(relaxed) != source.load(acquire))) {
        (void)idle.cancel(0);
        continue;
      }
      if (idle.token_of(0).load(acquire) == detail::idle_set<Memory>::asleep) {
        token& here = seat.load(relaxed) != 0 ? bell : futex;
        if (!here.wait_for(timeout::when_quiet)) return;
      }
      (void)idle.cancel(0);
    }
  }
  void check_end() {
    check(pending == 0, "known-bed: who was claimed was called where it sleeps");
    check(seat.load(relaxed) == 1, "known-bed: who sleeps when there is a source sleeps in it");
  }

 private:
  void call() {
    if (!idle.claim(0)) return;
    (seat.load(relaxed) != 0 ? bell : futex).signal();
  }
  bool take() {
    int count = work_.load(relaxed);
    while (count > 0) {
      if (work_.compare_exchange_strong(count, count - 1, acquire, relaxed)) return true;
    }
    return false;
  }

  bool looks_again_;
  bool wakes_;
  detail::idle_set<Memory> idle{2};
  typename Memory::template atomic<int> source{0, "source"};
  typename Memory::template atomic<int> seat{0, "seat"};
  typename Memory::template atomic<int> work_{0, "work"};
  token bell{"bell"};
  token futex{"futex"};
  ghost<int> pending{0, "work that nobody has run"};
};

template <class Memory>
result plugged_in(const options& bounds, bool looks_again = true, bool wakes = true, bool alone = true) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<beds_of_one<Memory>>(looks_again, wakes, alone);
    p.thread("opener", [=] { s->plug_in(); });
    p.thread("poster", [=] { s->post(); });
    p.thread("worker", [=] { s->work(); });
    p.finally([=] { s->check_end(); });
  });
}

TEST(known_bed, is_where_who_claims_a_sleeper_calls_it_although_a_source_is_plugged_in) {
  const result found = plugged_in<model_memory>({.name = "seat", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = plugged_in<model_memory>({.name = "seat_membarrier", .preemption_bound = 2}, true, true, false);
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
}

TEST(known_bed, needs_a_second_look_at_the_source_and_a_call_to_who_sleeps) {
  EXPECT_FALSE(plugged_in<model_memory>({.name = "seat_one_look", .symmetric_barriers = true}, false, true).passed);
  EXPECT_FALSE(plugged_in<model_memory>({.name = "seat_no_call", .symmetric_barriers = true}, true, false).passed);
  EXPECT_FALSE(plugged_in<without_full_barrier>({.name = "seat_no_full"}).passed);
}

}  // namespace
}  // namespace tartan::model
