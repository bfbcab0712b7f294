// Costs that users may count on: how many atomic read-modify-writes and system calls a post takes, and that a steal takes as many steps
// however many events are pending. Counted in what the processor runs, of the library as it was compiled.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <vector>

#include "core/sched/default_policy.h"
#include "tests/promises/instructions.h"

#if TARTAN_COUNTS_INSTRUCTIONS

namespace tartan {
namespace {

using test::count_work;
using test::work_done;

struct of_40_bytes {
  std::array<char, 40> data{};
  void operator()() const {}
};

/// Counted twice, for the first time fills lists of lines and resolves symbols.
template <class F>
work_done count_second(F f) {
  (void)count_work(f);
  return count_work(f);
}

class steps : public ::testing::Test {
 protected:
  static options one_worker() {
    options with;
    with.workers = 1;
    with.stall_after = {};
    return with;
  }

  /// What f does in an event of color 1, on the only worker, so that nobody sleeps.
  template <class F>
  work_done in_event(F f) {
    work_done done;
    rt.post(color{1}, [&] { done = count_second(f); });
    rt.run_until_idle();
    return done;
  }
  /// What f does on a foreign thread, while the only worker is in an event.
  template <class F>
  work_done outside(F f) {
    work_done done;
    rt.post(color{1}, [&] { std::thread{[&] { done = count_second(f); }}.join(); });
    rt.run_until_idle();
    return done;
  }

  runtime rt{one_worker()};
};

void expect_free(const work_done& done) {
  EXPECT_GT(done.instructions, 10u);
  EXPECT_EQ(done.read_modify_writes, 0u);
  EXPECT_EQ(done.system_calls, 0u);
}

TEST_F(steps, of_a_post_to_the_running_color_are_neither_read_modify_writes_nor_system_calls) {
  expect_free(in_event([] { post(color{1}, of_40_bytes{}); }));
  work_done done;
  strand s{rt};
  s.post([&] { done = count_second([&s] { s.post(of_40_bytes{}); }); });
  rt.run_until_idle();
  expect_free(done);
  rt.post([&] { done = count_second([] { post(of_40_bytes{}); }); });
  rt.run_until_idle();
  expect_free(done);
}

TEST_F(steps, of_a_post_from_outside_to_a_strand_are_one_read_modify_write_if_it_is_active_and_two_if_it_was_idle) {
  strand s{rt};
  const work_done active = outside([&s] { s.post(of_40_bytes{}); });  // the second time it has events
  EXPECT_EQ(active.read_modify_writes, 1u);
  EXPECT_EQ(active.system_calls, 0u) << "nobody sleeps";
  std::vector<strand> idle;
  for (int n = 0; n < 2; ++n) idle.emplace_back(rt);
  const work_done first = outside([&idle, n = 0u]() mutable { idle[n++].post(of_40_bytes{}); });
  EXPECT_EQ(first.read_modify_writes, 2u);
  EXPECT_EQ(first.system_calls, 0u);
}

TEST_F(steps, of_a_post_from_an_event_to_another_strand_of_its_worker_are_no_more) {
  strand s{rt};
  const work_done active = in_event([&s] { s.post(of_40_bytes{}); });
  EXPECT_LE(active.read_modify_writes, 1u);
  EXPECT_EQ(active.system_calls, 0u);
  std::vector<strand> idle;
  for (int n = 0; n < 2; ++n) idle.emplace_back(rt);
  const work_done first = in_event([&idle, n = 0u]() mutable { idle[n++].post(of_40_bytes{}); });
  EXPECT_LE(first.read_modify_writes, 2u);
  EXPECT_EQ(first.system_calls, 0u);
}

TEST_F(steps, of_a_post_by_value_are_at_most_two_read_modify_writes_more_than_through_a_strand) {
  const work_done active = outside([this] { rt.post(color{7}, of_40_bytes{}); });
  EXPECT_LE(active.read_modify_writes, 1u + 2u);
  EXPECT_EQ(active.system_calls, 0u);
  const work_done idle = outside([this, n = 0]() mutable { rt.post(color{100 + n++}, of_40_bytes{}); });
  EXPECT_LE(idle.read_modify_writes, 2u + 2u);
  EXPECT_EQ(idle.system_calls, 0u);
  const work_done from_event = in_event([n = 0]() mutable { post(color{200 + n++}, of_40_bytes{}); });
  EXPECT_LE(from_event.read_modify_writes, 2u + 2u);
  EXPECT_EQ(from_event.system_calls, 0u);
}

/// Steals one color of two that wait, with so many events in its list, and so many in its inbox.
work_done steal_with(std::size_t listed, std::size_t posted) {
  struct nothing : detail::event {
    nothing() { ops = &detail::callable_ops<void (*)()>::ops; }
  };
  std::vector<detail::home> homes(2);
  std::array<detail::color_queue, 2> colors;
  std::vector<nothing> events(2 * (listed + posted));
  auto next = events.begin();
  for (unsigned n = 0; n < homes.size(); ++n) homes[n].index = n;
  for (detail::color_queue& q : colors) {
    q.kind = detail::queue_kind::strand;
    q.linked_by = detail::no_worker;
    q.sender = detail::no_worker;
    for (std::size_t n = 0; n < listed; ++n) (void)homes[0].post(q, *next++);
    for (std::size_t n = 0; n < posted; ++n) {
      if (q.in.push(*next, *next) == detail::pushed::owes_link) (void)link_to_owner(homes.data(), q);
      ++next;
    }
  }
  detail::color_queue thiefs;
  thiefs.owner.store(1, std::memory_order_relaxed);
  nothing first;
  (void)homes[1].post(thiefs, first);  // its list has memory
  std::array<detail::color_queue*, 61> room{};
  std::size_t stolen = 0;
  const work_done done = count_work([&] {
    stolen = homes[0].rob(1, room, [] {}, false).count;
    homes[1].receive({room.data(), stolen});
  });
  EXPECT_EQ(stolen, 1u);
  return done;
}

TEST(steps_of_a_steal, are_the_same_however_many_events_are_pending) {
  (void)steal_with(1, 0);
  const work_done of_one = steal_with(1, 0);
  EXPECT_GT(of_one.instructions, 50u);
  EXPECT_EQ(steal_with(10'000, 0).instructions, of_one.instructions);
  const work_done with_one_outside = steal_with(1, 1);
  EXPECT_EQ(steal_with(1, 10'000).instructions, with_one_outside.instructions);
  EXPECT_EQ(steal_with(10'000, 10'000).instructions, with_one_outside.instructions);
}

}  // namespace
}  // namespace tartan

#endif
