// What a thread sees of a worker's core queue without its lock: before it sleeps it must see what waits, or be seen by the
// worker that makes it wait; docs/design/color-queue.md, section 7.

#include "core/sched/core_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>

#include "model_memory.h"
#include "program.h"

namespace tartan::model {
namespace {

struct item {};

/// A worker's line, and another worker that goes to sleep.
struct line_and_sleeper {
  detail::core_queue<model_memory, item, 4> line;
  std::array<item, 3> items;
  model_atomic<bool> sleeps{false, "the other one sleeps"};
  ghost<int> seen_by_owner{0, "the owner has seen the sleeper"};
  ghost<int> seen_by_sleeper{0, "the sleeper has seen that something waits"};

  /// Before the last push both counters have moved, one of them back as well: the sleeper may load either old or new.
  void push_pop_give_and_push() {
    line.push(items[0]);
    check(line.pop() == items.data(), "what waits is popped");
    line.push(items[1]);
    std::array<item*, 1> room{};
    check(line.take_last(room, [](const item&) { return true; }) == 1, "what waits is given away");
    line.push(items[2]);
    model_memory::light_barrier();
    seen_by_owner = sleeps.load(std::memory_order_relaxed) ? 1 : 0;
  }
  void go_to_sleep(bool with_barrier) {
    sleeps.store(true, std::memory_order_relaxed);
    if (with_barrier) model_memory::heavy_barrier();
    seen_by_sleeper = line.size() != 0 ? 1 : 0;
  }
};

result pushed_while_one_goes_to_sleep(const options& bounds, bool with_barrier) {
  return explore(bounds, [=](program& p) {
    auto* const s = p.make<line_and_sleeper>();
    p.thread("owner", [=] { s->push_pop_give_and_push(); });
    p.thread("sleeper", [=] { s->go_to_sleep(with_barrier); });
    p.finally([=] { check(s->seen_by_owner == 1 || s->seen_by_sleeper == 1, "no wake-up is lost"); });
  });
}

TEST(core_queue_size, shows_a_sleeper_what_waits_unless_the_owner_sees_the_sleeper) {
  const result found = pushed_while_one_goes_to_sleep({.name = "core_queue_size"}, true);
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(core_queue_size, needs_the_sleepers_barrier) {
  EXPECT_FALSE(pushed_while_one_goes_to_sleep({.name = "core_queue_size_without_barrier", .print = false}, false).passed);
}

}  // namespace
}  // namespace tartan::model
