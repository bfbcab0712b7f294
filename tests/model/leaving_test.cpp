// Workers that leave while others post to them (gone-or-found): the poster sees that the worker is gone and moves what it has posted to one that
// stays, or the leaving worker finds it at its last look; docs/design/sleeping.md.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

#include "core/sleep/idle_set.h"
#include "model_memory.h"
#include "program.h"
#include "small_policy.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

/// One step that can be left out, to show that it is needed.
enum class step_left_out : std::uint8_t { none, last_look, look_for_the_gone, look_after_handing_over };

/// Worker 0 stays and never sleeps; the others may leave. Work is a number on its owner's chain.
template <class Memory, unsigned Workers>
class leavers {
 public:
  explicit leavers(step_left_out missing) : missing_{missing} {}

  // As default_policy::link and after_link, by a foreign thread and by a worker.
  void post(unsigned owner) {
    chain_[owner].fetch_add(1, std::memory_order_release);
    after_link(owner, idle_.view_after_publish(), step_left_out::look_for_the_gone);
  }
  void post_by_worker(unsigned owner) {
    chain_[owner].fetch_add(1, std::memory_order_release);
    after_link(owner, idle_.view_by_worker(), step_left_out::look_for_the_gone);
  }
  // As lifecycle::resign. `beside`: to whom it hands over if that one is there still.
  void leave(unsigned worker, unsigned beside = 0) {
    idle_.search();
    hand_over(worker, beside);
    idle_.leave(worker, true);
    if (missing_ != step_left_out::last_look) hand_over(worker, beside);
  }
  // At the end, when nothing happens any more.
  void check_end(int posted) {
    for (unsigned n = 1; n < Workers; ++n) {
      check(chain_[n].load(std::memory_order_relaxed) == 0, "gone-or-found: nothing is left with a worker that is gone");
    }
    check(chain_[0].load(std::memory_order_relaxed) == posted, "what was posted to it is with the one that stays");
    check(idle_.view().awake() == 1 && idle_.view().searching_or_owed() == 0, "counted: workers that have left do not count");
  }

 private:
  // As default_policy::hand_over.
  void hand_over(unsigned worker, unsigned beside) {
    if (chain_[worker].load(std::memory_order_relaxed) == 0) return;
    const unsigned to = beside == worker || idle_.is_gone(beside) ? 0 : beside;
    const int count = chain_[worker].exchange(0, std::memory_order_acq_rel);
    if (count == 0) return;
    chain_[to].fetch_add(count, std::memory_order_release);
    after_link(to, idle_.view_after_publish(), step_left_out::look_after_handing_over);
  }
  void after_link(unsigned owner, detail::idle_view seen, step_left_out look) {
    if (missing_ != look && seen.some_left() && idle_.is_gone(owner)) hand_over(owner, 0);
  }

  step_left_out missing_;
  detail::idle_set<Memory> idle_{Workers};
  std::array<typename Memory::template atomic<int>, Workers> chain_;
};

template <class Memory>
result foreign_post(const options& bounds, step_left_out missing = step_left_out::none) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<leavers<Memory, 2>>(missing);
    p.thread("poster", [=] { s->post(1), s->post(1); });
    p.thread("leaving worker", [=] { s->leave(1); });
    p.finally([=] { s->check_end(2); });
  });
}

template <class Memory>
result post_by_a_worker(const options& bounds, step_left_out missing = step_left_out::none) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<leavers<Memory, 2>>(missing);
    p.thread("worker 0", [=] { s->post_by_worker(1), s->post_by_worker(1); });
    p.thread("leaving worker", [=] { s->leave(1); });
    p.finally([=] { s->check_end(2); });
  });
}

// Both of two posters may come to move what is there.
template <class Memory>
result two_posters(const options& bounds) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<leavers<Memory, 2>>(step_left_out::none);
    p.thread("poster", [=] { s->post(1); });
    p.thread("worker 0", [=] { s->post_by_worker(1); });
    p.thread("leaving worker", [=] { s->leave(1); });
    p.finally([=] { s->check_end(2); });
  });
}

TEST(a_leaving_worker, is_seen_to_be_gone_or_finds_what_was_posted) {
  for (const bool symmetric : {false, true}) {
    const std::string suffix = symmetric ? "_fences" : "";
    const result foreign = foreign_post<model_memory>({.name = "leaving_foreign" + suffix, .symmetric_barriers = symmetric});
    EXPECT_TRUE(foreign.proved()) << foreign.report;
    const result local = post_by_a_worker<model_memory>({.name = "leaving_by_worker" + suffix, .symmetric_barriers = symmetric});
    EXPECT_TRUE(local.proved()) << local.report;
    const result both = two_posters<model_memory>({.name = "leaving_two_posters" + suffix, .preemption_bound = 3, .symmetric_barriers = symmetric});
    EXPECT_TRUE(both.proved()) << both.report;
  }
}

// A membarrier runs one in foreign threads too; where the kernel refuses it, these need their own.
TEST(a_leaving_worker, needs_a_barrier_on_both_sides) {
  EXPECT_FALSE(foreign_post<without_full_barrier>({.name = "leaving_no_full", .symmetric_barriers = true}).passed);
  EXPECT_FALSE(foreign_post<without_heavy_barrier>({.name = "leaving_no_heavy"}).passed);
  EXPECT_FALSE(post_by_a_worker<without_light_barrier>({.name = "leaving_no_light", .symmetric_barriers = true}).passed);
  EXPECT_FALSE(post_by_a_worker<without_heavy_barrier>({.name = "leaving_by_worker_no_heavy"}).passed);
}

// Against a worker that posts, a fence of the leaving one alone is not enough: the light barrier is none of the processor's.
TEST(a_leaving_worker, needs_a_heavy_barrier_against_other_workers) {
  EXPECT_FALSE(post_by_a_worker<with_fences_for_heavy_barriers>({.name = "leaving_by_worker_fence"}).passed);
}

TEST(a_leaving_worker, needs_its_last_look_and_that_of_the_poster) {
  EXPECT_FALSE(foreign_post<model_memory>({.name = "leaving_no_last_look"}, step_left_out::last_look).passed);
  EXPECT_FALSE(foreign_post<model_memory>({.name = "leaving_no_look_for_gone"}, step_left_out::look_for_the_gone).passed);
}

// Two leave at once, and the first hands over to the second: whether that one is gone is looked at before and after.
template <class Memory>
result two_leave(const options& bounds, step_left_out missing = step_left_out::none) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<leavers<Memory, 3>>(missing);
    p.thread("poster", [=] { s->post(2); });
    p.thread("leaving worker", [=] { s->leave(2, 1); });
    p.thread("worker that leaves as well", [=] { s->leave(1); });
    p.finally([=] { s->check_end(1); });
  });
}

TEST(a_leaving_worker, may_hand_over_to_one_that_leaves_as_well) {
  for (const bool symmetric : {false, true}) {
    const result found =
        two_leave<model_memory>({.name = symmetric ? "two_leave_fences" : "two_leave", .preemption_bound = 3, .symmetric_barriers = symmetric});
    EXPECT_TRUE(found.proved()) << found.report;
  }
}

TEST(a_leaving_worker, has_to_look_again_at_the_one_that_it_has_handed_over_to) {
  EXPECT_FALSE(two_leave<model_memory>({.name = "two_leave_no_look"}, step_left_out::look_after_handing_over).passed);
  EXPECT_FALSE(two_leave<without_full_barrier>({.name = "two_leave_no_full", .symmetric_barriers = true}).passed);
}

/// The real homes: a color moves whole, and its events run once and in order, whoever hands it over.
class leaving_home {
 public:
  using policy = small_policy<model_memory, 2>;
  using color = policy::color;

  explicit leaving_home(color& c) : c_{&c} { c.queue.owner.store(1, std::memory_order_relaxed); }

  void post(small_event& e) {
    s_.post(*c_, e);
    if (idle_.view_after_publish().some_left() && idle_.is_gone(1)) hand_over();
  }
  void work(unsigned worker, int turns) { s_.work(worker, turns); }
  void leave() {
    s_.work(1, 1);
    idle_.search();
    hand_over();
    idle_.leave(1, true);
    hand_over();
  }
  void check_end(int posted) {
    for (int round = 0; round < 4; ++round) s_.work(0, 4);
    check(!s_.homes[1].has_work(), "gone-or-found: nothing is left with a worker that is gone");
    check(!s_.homes[0].has_work(), "what is left runs to an end");
    check(c_->ledger->data == posted, "no-orphan: every event that was posted runs");
  }

 private:
  // As default_policy::hand_over, to worker 0.
  void hand_over() {
    while (s_.homes[1].has_loot()) {
      std::array<policy::color_queue*, 2> room{};
      const policy::home::evicted got = s_.homes[1].evict(0, room);
      if (!got.entered) {
        model_memory::pause();
        continue;
      }
      s_.forward(got.strays);
      if (got.owed == 0) continue;
      detail::owed_links<policy::home> links;
      for (std::size_t n = 0; n < got.owed; ++n) links.add(*room[n], 0);
      links.pay(s_.homes.data());
    }
  }

  policy s_;
  color* c_;
  detail::idle_set<model_memory> idle_{2};
};

TEST(a_leaving_worker, leaves_colors_whole_and_in_order) {
  const auto in_order = [](const options& bounds) {
    return explore(bounds, [](program& p) {
      auto* const s = p.make<leaving_home>(*p.make<leaving_home::color>(*p.make<small_ledger>()));
      s->post(*p.make<small_event>(3, 1));
      p.thread("poster", [=, a = p.make<small_event>(0, 1)] { s->post(*a); });
      p.thread("worker 0", [=] { s->work(0, 1); });
      p.thread("leaving worker", [=] { s->leave(); });
      p.finally([=] { s->check_end(2); });
    });
  };
  const result found = in_order({.name = "leaving_home", .preemption_bound = 2, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
}

}  // namespace
}  // namespace tartan::model
