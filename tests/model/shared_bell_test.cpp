// Workers that sleep all in one place, where a call wakes one of them and the kernel picks which; docs/design/idle-set.md.

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "core/sleep/idle_set.h"
#include "model_memory.h"
#include "program.h"
#include "waiting.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

using enum std::memory_order;

// What may be left out, to see that it is needed.
struct ways {
  bool summons_who_was_woken = true;  // come-yourself
  bool passes_on = true;              // calls again for whom nobody came
  bool keeps_away = true;             // called-until-come
};

// As lifecycle_sleep.cpp, with work that any worker can do and work that only one can.
template <class Memory, unsigned Workers>
class bell_sleepers {
 public:
  using idle_set = detail::idle_set<Memory>;

  explicit bell_sleepers(ways how) : how_{how} {
    for (unsigned n = 0; n < Workers; ++n) {
      called_again_[n] = idle_set::nobody;
      idle.search();
      idle.rest(n);
    }
  }

  idle_set idle{Workers};
  token bell{"bell"};
  typename Memory::template atomic<int> common{0, "common work"};
  std::array<typename Memory::template atomic<int>, Workers> own;
  ghost<int> pending{0, "work that nobody has run"};

  void post() {
    pending = pending + 1;
    common.fetch_add(1, release);
    const detail::idle_view seen = idle.view_after_publish();
    if (seen.quiet() || seen.searching() != 0) return;
    wake_any();
  }
  // As default_policy::after_link with only_owner.
  void post_to(unsigned worker) {
    pending = pending + 1;
    own[worker].fetch_add(1, release);
    if (idle.view_after_publish().quiet()) return;
    const bool call = how_.summons_who_was_woken ? idle.summon(worker) : idle.is_asleep(worker) && idle.claim(worker);
    if (call) bell.signal();
  }
  // An awake worker's look in between, as lifecycle::harvest.
  void look(unsigned worker, bool searching) {
    if (how_.keeps_away && waits_for_called(worker)) return;
    if (bell.wait_for(timeout::any_time)) pass_on_call(worker, searching);
  }

  // A worker's life until nothing happens any more; begins asleep. `in_event` is called in each event.
  template <class InEvent>
  void work(unsigned worker, bool looks, InEvent in_event) {
    if (!sleep(worker)) return;
    for (bool searching = true;;) {
      forget(mix(searching, called_again_[worker]));
      if (searching && looks) look(worker, true);
      if (take(own[worker]) || take(common)) {
        if (searching && idle.end_search()) cover();
        searching = false;
        in_event();
        pending = pending - 1;
        continue;
      }
      if (!searching) idle.search();
      searching = true;
      if (how_.keeps_away) {
        while (waits_for_called(worker)) Memory::pause();
      }
      idle.rest(worker);
      if (own[worker].load(relaxed) != 0 || common.load(relaxed) != 0) {
        idle.cancel(worker);
        continue;
      }
      if (!sleep(worker)) return;
    }
  }
  void work(unsigned worker, bool looks = false) {
    work(worker, looks, [] {});
  }

  void check_end() {
    check(pending == 0, "covered: no work is left while all sleep");
    check(idle.view().searching_or_owed() == 0, "counted: nobody searches");
    for (unsigned n = 0; n < Workers; ++n) check(!idle.is_claimed(n), "called-until-come: who was claimed has come");
  }

 private:
  void wake_any() {
    if (idle.claim_any() != idle_set::nobody) bell.signal();
  }
  void cover() {
    if (common.load(relaxed) != 0) wake_any();
  }
  bool take(typename Memory::template atomic<int>& work) {
    int count = work.load(relaxed);
    while (count > 0) {
      if (work.compare_exchange_strong(count, count - 1, acquire, relaxed)) return true;
    }
    return false;
  }
  // As lifecycle::sleep. False: nothing happens any more.
  bool sleep(unsigned worker) {
    bool called = false;
    if (idle.token_of(worker).load(acquire) == idle_set::asleep) {
      if (!bell.wait_for(timeout::when_quiet)) return false;
      called = true;
    }
    const bool claimed = idle.cancel(worker);
    if (called) pass_on_call(worker, !claimed);
    return true;
  }
  void pass_on_call(unsigned worker, bool stands_in) {
    const unsigned left = idle.answer_call(worker, stands_in);
    if (left == idle_set::nobody || !how_.passes_on) return;
    called_again_[worker] = left;
    bell.signal();
  }
  bool waits_for_called(unsigned worker) {
    if (called_again_[worker] == idle_set::nobody) return false;
    if (idle.is_claimed(called_again_[worker])) return true;
    called_again_[worker] = idle_set::nobody;
    return false;
  }

  ways how_;
  std::array<unsigned, Workers> called_again_;  // each the worker's own
};

// Two posts at the same time: their calls may become one.
template <class Memory>
result two_posts(const options& bounds, ways how = {}) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<bell_sleepers<Memory, 2>>(how);
    p.thread("poster", [=] { s->post(); });
    p.thread("second poster", [=] { s->post(); });
    for (const unsigned n : {0u, 1u}) p.thread("worker " + std::to_string(n), [=] { s->work(n); });
    p.finally([=] { s->check_end(); });
  });
}

TEST(shared_bell, loses_no_work_of_two_posts_that_ring_at_once) {
  const result found = two_posts<model_memory>({.name = "bell_two_posts", .preemption_bound = 1, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = two_posts<model_memory>({.name = "bell_two_posts_membarrier", .preemption_bound = 1});
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
}

// Work for one worker only, while another post may have woken it for what any can do.
template <class Memory>
result one_must_come(const options& bounds, ways how = {}) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<bell_sleepers<Memory, 2>>(how);
    p.thread("poster", [=] { s->post(), s->post_to(0); });
    for (const unsigned n : {0u, 1u}) p.thread("worker " + std::to_string(n), [=] { s->work(n); });
    p.finally([=] { s->check_end(); });
  });
}

TEST(shared_bell, brings_the_one_who_must_come_himself) {
  const result found = one_must_come<model_memory>({.name = "bell_one_must_come", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(shared_bell, needs_the_summons_of_who_was_woken_already) {
  EXPECT_FALSE(one_must_come<model_memory>({.name = "bell_no_summons", .preemption_bound = 2, .symmetric_barriers = true},
                                           {.summons_who_was_woken = false})
                   .passed);
}

TEST(shared_bell, needs_calls_to_be_passed_on) {
  EXPECT_FALSE(one_must_come<model_memory>({.name = "bell_not_passed_on", .preemption_bound = 2, .symmetric_barriers = true},
                                           {.passes_on = false})
                   .passed);
}

// Two are claimed and the bell is heard once: for what any worker can do, and for what the other must do himself.
template <class Memory>
result rung_once_for_two(const options& bounds, ways how = {}) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<bell_sleepers<Memory, 2>>(how);
    p.thread("poster", [=] { s->post(), s->post_to(1); });
    for (const unsigned n : {0u, 1u}) p.thread("worker " + std::to_string(n), [=] { s->work(n); });
    p.finally([=] { s->check_end(); });
  });
}

TEST(shared_bell, is_rung_again_if_two_were_meant) {
  const result found = rung_once_for_two<model_memory>({.name = "bell_rung_once", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  EXPECT_FALSE(rung_once_for_two<model_memory>({.name = "bell_rung_once_only", .preemption_bound = 2, .symmetric_barriers = true},
                                               {.passes_on = false})
                   .passed);
}

// A worker that is awake, and runs events, takes a call when it looks outside.
template <class Memory>
result taken_by_one_awake(const options& bounds, ways how = {}) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<bell_sleepers<Memory, 2>>(how);
    p.thread("poster to 0", [=] { s->post_to(0); });
    p.thread("worker 0", [=] { s->work(0); });
    p.thread("worker 1", [=] {
      s->idle.cancel(1);
      for (int looks = 0; looks < 3; ++looks) s->look(1, true);
      while (s->idle.is_claimed(0)) Memory::pause();
      (void)s->idle.end_search();
    });
    p.finally([=] { s->check_end(); });
  });
}

TEST(shared_bell, is_rung_again_by_one_who_was_awake) {
  const result found = taken_by_one_awake<model_memory>({.name = "bell_taken_awake", .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(shared_bell, is_lost_if_one_who_was_awake_keeps_it) {
  EXPECT_FALSE(taken_by_one_awake<model_memory>({.name = "bell_kept_awake", .symmetric_barriers = true}, {.passes_on = false}).passed);
}

// Searchers answer what any worker can do themselves, and look after that.
template <class Memory>
result answered_by_a_searcher(const options& bounds) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<bell_sleepers<Memory, 2>>(ways{});
    p.thread("poster", [=] { s->post(), s->post(); });
    for (const unsigned n : {0u, 1u}) p.thread("worker " + std::to_string(n), [=] { s->work(n, true); });
    p.finally([=] { s->check_end(); });
  });
}

TEST(shared_bell, may_be_answered_by_a_searcher) {
  const result found = answered_by_a_searcher<model_memory>({.name = "bell_searcher", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

// called-until-come: whoever is called for another stays awake until that one has come, so that each is called once at most.
template <class Memory>
result three_sleep(const options& bounds, ways how = {}) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<bell_sleepers<Memory, 3>>(how);
    p.thread("poster to 0", [=] { s->post_to(0); });
    for (const unsigned n : {0u, 1u, 2u}) p.thread("worker " + std::to_string(n), [=] { s->work(n); });
    p.finally([=] { s->check_end(); });
  });
}

TEST(shared_bell, reaches_one_of_three) {
  const result found = three_sleep<model_memory>({.name = "bell_three", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

// Without merging of states, a call that goes round is an execution without an end.
TEST(shared_bell, may_go_round_for_ever_among_those_who_do_not_keep_away) {
  const options bounds{.name = "bell_goes_round", .max_executions = 20'000, .max_steps = 400, .preemption_bound = 0, .symmetric_barriers = true,
                       .reorder_stores = false, .merge_states = false};
  EXPECT_FALSE(three_sleep<model_memory>(bounds, {.keeps_away = false}).passed);
  EXPECT_TRUE(three_sleep<model_memory>(bounds).passed);
}

// known-seat, as futex_poller and lifecycle::seat_sleepers: a source is plugged in while a worker goes to rest, and another is slow to
// call whom it has claimed.
template <class Memory>
class seats {
 public:
  seats(bool looks_again, bool wakes, bool alone) : looks_again_{looks_again}, wakes_{wakes} {
    idle.search();
    idle.search();
    if (alone) idle.rest(1);  // then who sleeps is the last one, and passes no heavy barrier
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
      idle.rest(0);
      if (work_.load(relaxed) != 0 || (looks_again_ && seat.load(relaxed) != source.load(acquire))) {
        idle.cancel(0);
        continue;
      }
      if (idle.token_of(0).load(acquire) == detail::idle_set<Memory>::asleep) {
        token& here = seat.load(relaxed) != 0 ? bell : futex;
        if (!here.wait_for(timeout::when_quiet)) return;
      }
      idle.cancel(0);
    }
  }
  void check_end() {
    check(pending == 0, "known-seat: who was claimed was called where it sleeps");
    check(seat.load(relaxed) == 1, "known-seat: who sleeps when there is a source sleeps in it");
  }

 private:
  void call() {
    if (!idle.summon(0)) return;
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
    auto* const s = p.make<seats<Memory>>(looks_again, wakes, alone);
    p.thread("opener", [=] { s->plug_in(); });
    p.thread("poster", [=] { s->post(); });
    p.thread("worker", [=] { s->work(); });
    p.finally([=] { s->check_end(); });
  });
}

TEST(known_seat, is_where_who_claims_a_sleeper_calls_it_although_a_source_is_plugged_in) {
  const result found = plugged_in<model_memory>({.name = "seat", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = plugged_in<model_memory>({.name = "seat_membarrier", .preemption_bound = 2}, true, true, false);
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
}

TEST(known_seat, needs_a_second_look_at_the_source_and_a_call_to_who_sleeps) {
  EXPECT_FALSE(plugged_in<model_memory>({.name = "seat_one_look", .symmetric_barriers = true}, false, true).passed);
  EXPECT_FALSE(plugged_in<model_memory>({.name = "seat_no_call", .symmetric_barriers = true}, true, false).passed);
  EXPECT_FALSE(plugged_in<without_full_barrier>({.name = "seat_no_full"}).passed);
}

}  // namespace
}  // namespace tartan::model
