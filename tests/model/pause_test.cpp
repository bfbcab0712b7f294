// Pausing all workers against posts and wake-ups that are under way; docs/design/sleeping.md.

#include <gtest/gtest.h>

#include "core/sleep/idle_set.h"
#include "model_memory.h"
#include "program.h"
#include "waiting.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

using enum std::memory_order;

// One worker besides the caller, as in lifecycle.cpp and lifecycle_sleep.cpp: number 1 works, number 0 is the caller.
template <class Memory>
class pausing {
 public:
  pausing() {
    idle.search();
    idle.rest(1);
  }

  void post() {
    pending = pending + 1;
    posted.fetch_add(1, release);
    const detail::idle_view seen = idle.view_after_publish();
    if (seen.quiet() || seen.paused()) return;
    if (idle.is_asleep(1) && seen.searching() == 0) wake();
  }

  // As worker_thread, starting asleep.
  void work() {
    for (bool searching = true;;) {
      if (!alarm.wait_for(timeout::when_quiet)) return;
      idle.cancel(1);
      while (!leave.load(acquire) && take()) {
        if (searching) (void)idle.end_search();  // there is no other worker to wake
        searching = false;
        run();
      }
      if (!searching) idle.search();
      searching = true;
      idle.rest(1);
      if (idle.view().paused()) all_rest.signal();
      if (!leave.load(acquire) && posted.load(relaxed) != 0) alarm.signal();  // found: round again
    }
  }

  // The caller: pauses, uses what the events used, and lets the worker go on.
  void pause_and_resume() {
    idle.pause();
    leave.store(true, release);
    while (!idle.confirm_asleep(1)) all_rest.wait();
    check(running == 0, "paused: nobody runs");
    data = data + 100;
    leave.store(false, release);
    idle.resume();
    Memory::full_barrier();  // as the caller's own rest, before it sleeps, if the other one does
    if (posted.load(relaxed) != 0) wake();
  }

  void check_end() {
    check(pending == 0, "covered: no work is left while all sleep");
    check(data == 100 + ran, "visibility: events and the caller see what the others did");
  }

 private:
  void wake() {
    if (idle.claim(1)) alarm.signal();
  }
  bool take() {
    int count = posted.load(relaxed);
    while (count > 0) {
      if (posted.compare_exchange_strong(count, count - 1, acquire, relaxed)) return true;
    }
    return false;
  }
  void run() {
    running = 1;
    const int seen = data;
    yield_point();
    data = seen + 1;
    running = 0;
    ran = ran + 1;
    pending = pending - 1;
  }

  detail::idle_set<Memory> idle{2};
  typename Memory::template atomic<int> posted{0, "posted"};
  typename Memory::template atomic<bool> leave{false, "leave"};
  token alarm{"alarm"};
  token all_rest{"all rest"};
  model_plain<int> data{0, "data of events and caller"};
  ghost<int> running{0, "events that run"};
  ghost<int> ran{0, "events that have run"};
  ghost<int> pending{0, "work that nobody has run"};
};

template <class Memory>
result pause_against_post(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* const s = p.make<pausing<Memory>>();
    p.thread("poster", [=] { s->post(); });
    p.thread("worker", [=] { s->work(); });
    p.thread("caller", [=] { s->pause_and_resume(); });
    p.finally([=] { s->check_end(); });
  });
}

TEST(pause, waits_for_a_worker_that_is_being_woken) {
  const result found = pause_against_post<model_memory>({.name = "pause_against_post", .symmetric_barriers = true});
  EXPECT_TRUE(found.proved()) << found.report;
  const result asymmetric = pause_against_post<model_memory>({.name = "pause_against_post_membarrier"});
  EXPECT_TRUE(asymmetric.proved()) << asymmetric.report;
}

TEST(pause, needs_its_orders_and_barriers) {
  EXPECT_FALSE(pause_against_post<without_order>({.name = "pause_relaxed", .symmetric_barriers = true}).passed);
  EXPECT_FALSE(pause_against_post<without_full_barrier>({.name = "pause_no_full"}).passed);
}

}  // namespace
}  // namespace tartan::model
