// What a line costs, by who has it: two pairs of neighbors.

#include "simulation/caches.h"

#include <gtest/gtest.h>

#include "simulation/machine.h"

namespace {

using simulation::caches;
using simulation::delay;
using simulation::picoseconds;
using simulation::touch_kind;

constexpr picoseconds near_cache = 10'000;
constexpr picoseconds near_stream = 1'000;
constexpr picoseconds near_core = 30'000;
constexpr picoseconds far = 90'000;
constexpr picoseconds from_memory = 200'000;
constexpr picoseconds memory_stream = 5'000;
constexpr picoseconds near_store = 3'000;
constexpr picoseconds far_store = 8'000;

simulation::machine two_pairs() {
  simulation::machine on;
  on.cores = 4;
  on.cores_per_group = 2;
  on.own_lines = 4;
  on.group_lines = 16;
  on.near_cache_load = near_cache;
  on.near_cache_stream = near_stream;
  on.near_core_load = near_core;
  on.far_load = far;
  on.memory_load = from_memory;
  on.memory_stream = memory_stream;
  on.near_store = near_store;
  on.far_store = far_store;
  return on;
}

class lines : public ::testing::Test {
 protected:
  /// How long the core waits.
  picoseconds touch(unsigned core, std::size_t line, touch_kind how) { return all_.hits(core, line, how) ? 0 : all_.fetch(core, line, how).core; }
  picoseconds load(unsigned core, std::size_t line) { return touch(core, line, touch_kind::load); }
  picoseconds store(unsigned core, std::size_t line) { return touch(core, line, touch_kind::store); }
  picoseconds rmw(unsigned core, std::size_t line) { return touch(core, line, touch_kind::rmw); }

  caches all_{two_pairs(), 4096};
};

TEST_F(lines, come_from_memory_once) {
  EXPECT_EQ(load(0, 100), from_memory);
  EXPECT_EQ(load(0, 100), 0);
  EXPECT_EQ(load(1, 100), near_cache) << "its neighbor has brought it into the cache that both share";
  EXPECT_EQ(load(2, 100), far);
}

TEST_F(lines, are_cheap_one_after_the_other) {
  EXPECT_EQ(load(0, 100), from_memory);
  EXPECT_EQ(load(0, 101), memory_stream);
  EXPECT_EQ(load(0, 102), memory_stream);
  EXPECT_EQ(load(0, 300), from_memory);
}

TEST_F(lines, that_a_core_has_written_come_from_it) {
  (void)store(0, 100);
  EXPECT_EQ(load(1, 100), near_core);
  (void)store(0, 200);
  EXPECT_EQ(load(2, 200), far);
  EXPECT_EQ(load(0, 100), 0) << "who has written keeps it, too";
}

TEST_F(lines, are_taken_from_all_others_by_a_write) {
  (void)load(0, 100);
  (void)load(1, 100);
  EXPECT_EQ(store(0, 100), near_store);
  EXPECT_EQ(store(0, 100), 0);
  EXPECT_EQ(load(1, 100), near_core);
  (void)load(2, 100);
  EXPECT_EQ(store(0, 100), far_store);
}

TEST_F(lines, are_waited_for_by_an_atomic_change) {
  (void)store(0, 100);
  EXPECT_EQ(rmw(1, 100), near_core);
  EXPECT_EQ(rmw(2, 100), far);
  EXPECT_EQ(rmw(2, 100), 0);
}

TEST_F(lines, are_the_readers_alone_if_nobody_else_has_them) {
  (void)load(0, 100);
  EXPECT_EQ(store(0, 100), 0);
}

TEST_F(lines, are_dropped_when_others_have_come) {
  (void)load(0, 100);
  for (std::size_t line = 200; line < 240; line += 10) (void)load(0, line);
  EXPECT_EQ(load(0, 100), near_cache) << "four others fill the core's own cache";
  for (std::size_t line = 300; line < 500; line += 10) (void)load(0, line);
  EXPECT_EQ(load(0, 100), from_memory) << "twenty others fill the shared one";
}

TEST_F(lines, that_move_from_core_to_core_are_nobodys_meanwhile) {
  (void)store(0, 100);
  ASSERT_FALSE(all_.hits(1, 100, touch_kind::rmw));
  const delay waits = all_.fetch(1, 100, touch_kind::rmw);
  EXPECT_EQ(waits.line, near_core);
  ASSERT_FALSE(all_.hits(0, 500, touch_kind::load));
  EXPECT_EQ(all_.fetch(0, 500, touch_kind::load).line, 0) << "memory has it as often as it is asked";
}

}  // namespace
