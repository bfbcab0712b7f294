// What happens when there is no memory: at a post an exception, if there is still somebody who can be told; else a last message.

#include <gtest/gtest.h>

#include <chrono>
#include <new>
#include <set>
#include <tartan/core/event_batch.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <tartan/time/post_after.h>
#include <tartan/time/sleep.h>
#include <tartan/time/timer.h>
#include <utility>

#include "core/line_pool.h"
#include "core/runtime_state.h"
#include "tests/promises/allocations.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class without_memory : public test::on_workers {};

constexpr unsigned many = 20'000;  // more than lie ready in a block

/// A line is freed where nobody can be told that there is no memory.
TEST(a_pool_of_lines_without_memory, takes_lines_back_and_hands_them_out_again) {
  if (!test::refuses_operator_new) return;
  detail::line_pool pool{nullptr};
  detail::line_cache maker;
  detail::line_cache freer;
  std::set<void*> lines;
  for (unsigned n = 0; n < 1000; ++n) lines.insert(pool.allocate(maker));
  for (void* line : lines) {
    const test::no_memory none;
    pool.release(freer, line);
  }
  EXPECT_FALSE(detail::line_pool::is_reserved(freer));
  std::set<void*> again;
  for (unsigned n = 0; n < 1000; ++n) again.insert(pool.allocate(freer));
  EXPECT_EQ(again, lines);
}

/// Memory for so many events is free afterwards, and none for color queues.
void warm_up_events(runtime& rt) {
  event_batch batch{rt};
  for (unsigned n = 0; n < 2 * many; ++n) batch.add(color{1}, [] {});
  batch.clear();
}

TEST_P(without_memory, a_post_throws_and_leaves_everything_as_it_was) {
  runtime rt{settings()};
  unsigned ran = 0;
  rt.post(color{1}, [&ran] { ++ran; });
  unsigned posted = 1;
  const auto post_until_it_throws = [&] {
    const test::no_memory none;
    for (; posted < many; ++posted) rt.post(color{1}, [&ran] { ++ran; });
  };
  EXPECT_THROW(post_until_it_throws(), std::bad_alloc);
  EXPECT_LT(posted, many);
  rt.post(color{1}, [&ran] { ++ran; });  // there is some again
  rt.run_until_idle();
  EXPECT_EQ(ran, posted + 1);
}

TEST_P(without_memory, a_post_to_a_new_color_ends_the_program_and_names_color_and_place) {
  runtime rt{settings()};
  rt.post(color{7'777'777}, [] {});
  warm_up_events(rt);
  const auto post_to_new_colors = [&rt] {
    const test::no_memory none;
    for (unsigned n = 0; n < many; ++n) rt.post(color{5'000'000 + n}, [] {});
  };
  EXPECT_DEATH(post_to_new_colors(), "tartan: out of memory for the queue of color 50[0-9]+, posted to at .*memory_test.cpp:[0-9]+");
  const auto post_batch = [&rt] {
    event_batch batch{rt};
    for (unsigned n = 0; n < many; ++n) batch.add(color::unordered, [] {});
    const test::no_memory none;
    rt.post(std::move(batch));
  };
  EXPECT_DEATH(post_batch(), "tartan: out of memory for the queue of color unordered, posted to at .*memory_test.cpp");
  rt.run_until_idle();
}

TEST_P(without_memory, a_first_timer_throws_and_is_not_set) {
  if (!test::refuses_operator_new) return;
  runtime rt{settings()};
  timer t{rt, color{1}};
  const auto set = [&] {
    const test::no_memory none;
    t.set(1ms, [] {});
  };
  EXPECT_THROW(set(), std::bad_alloc);
  EXPECT_FALSE(t.pending());
  const auto set_later = [&] {
    const test::no_memory none;
    post_after(rt, 1ms, [] {});
  };
  EXPECT_THROW(set_later(), std::bad_alloc);
  EXPECT_EQ(rt.state().timers(), nullptr);
}

TEST_P(without_memory, a_strand_whose_name_cannot_be_stored_throws_and_leaves_none) {
  if (!test::refuses_operator_new) return;
  runtime rt{settings()};  // ends the program if a strand outlives it
  const strand first{rt};
  const auto open = [&] {
    const test::no_memory none;
    const strand named{rt, "a name that is too long to lie in the string itself"};
  };
  EXPECT_THROW(open(), std::bad_alloc);
  rt.post([&] { EXPECT_THROW(open(), std::bad_alloc); });
  rt.post([] { const strand here; });
  rt.post([&] { EXPECT_THROW(open(), std::bad_alloc); });
  rt.run_until_idle();
}

TEST_P(without_memory, a_first_sleep_ends_the_program) {
  if (!test::refuses_operator_new) return;
  const auto first_sleep = [] {
    runtime rt{settings()};
    rt.spawn([]() -> task<> {
      const test::no_memory none;  // this coroutine goes on on this worker, or not at all
      static_cast<void>(co_await sleep(1ms));
    });
    rt.run_until_idle();
  };
  EXPECT_DEATH(first_sleep(), "tartan: out of memory for the timers of a runtime");
}

INSTANTIATE_TEST_SUITE_P(workers, without_memory, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
