// A color that only worker 0 may run, while a thief takes worker 0's incoming chain; docs/design/color-queue.md and sleeping.md.

#include <gtest/gtest.h>

#include "core/sleep/idle_set.h"
#include "model_memory.h"
#include "program.h"
#include "small_policy.h"
#include "waiting.h"

namespace tartan::model {
namespace {

// Worker 0 with its home, its color and its sleep; the thief and the poster are other threads.
class pinned_home {
 public:
  using policy = small_policy<model_memory, 2>;

  explicit pinned_home(policy::color& c) : c_{&c} {
    s_.homes[0].pin = &c.queue;
    idle_.search();
  }

  // As default_poster::deliver and after_link with only_owner.
  void post(small_event& e) {
    s_.post(*c_, e);
    wake_owner(idle_.view_after_publish());
  }
  // As default_thief::steal_from.
  void rob() {
    std::array<policy::color_queue*, 2> room{};
    const policy::home::robbed got = s_.homes[0].rob(1, room, [] {}, false);
    check(got.count == 0, "a pinned color is never stolen");
    check(got.strays == nullptr, "a pinned color never moves");
    if (got.pinned) wake_owner(idle_.view_by_worker());
  }
  // As a worker's loop: a turn, or a rest with a look at everything, or a sleep.
  void work() {
    for (bool searching = true;;) {
      if (s_.work(0, 1) != 0) {
        if (searching) (void)idle_.end_search();  // there is no other worker to wake
        searching = false;
        continue;
      }
      if (!searching) idle_.search();
      searching = true;
      idle_.rest(0);
      if (!s_.homes[0].has_work() && !alarm_.wait_for(timeout::when_quiet)) return;
      idle_.cancel(0);
    }
  }
  void check_end() { check(c_->ledger->ran == 1, "covered: the pinned color runs, whoever took its link"); }

 private:
  void wake_owner(detail::idle_view seen) {
    if (seen.quiet()) return;
    if (idle_.claim(0)) alarm_.signal();
  }

  policy s_;
  policy::color* c_;
  detail::idle_set<model_memory> idle_{2};  // the thief is awake
  token alarm_{"alarm"};
};

result taken_by_thief(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* const home = p.make<pinned_home>(*p.make<pinned_home::policy::color>(*p.make<small_ledger>()));
    p.thread("poster", [=, e = p.make<small_event>(0, 1)] { home->post(*e); });
    p.thread("thief", [=] { home->rob(); });
    p.thread("worker 0", [=] { home->work(); });
    p.finally([=] { home->check_end(); });
  });
}

TEST(pinned_color, is_run_by_its_worker_although_a_thief_took_its_link) {
  const result found = taken_by_thief({.name = "pinned_taken_by_thief", .preemption_bound = 3, .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = taken_by_thief({.name = "pinned_taken_by_thief_membarrier", .preemption_bound = 2});
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
}

}  // namespace
}  // namespace tartan::model
