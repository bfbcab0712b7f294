#include <gtest/gtest.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/time/post_after.h>

#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "tests/virtual_time.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

options one_worker(test::virtual_poller& clock) {
  options with;
  with.workers = 1;
  with.poller = &clock;
  return with;
}

class post_later : public ::testing::Test {
 protected:
  test::virtual_poller clock;
  runtime rt{one_worker(clock)};
};

TEST_F(post_later, runs_in_the_default_color_if_none_is_given_and_in_the_one_given_else) {
  std::vector<color> seen;
  const auto note = [&] { seen.push_back(current_color()); };
  rt.post(color{7}, [&] {
    post_after(1ms, note);
    post_after(color{8}, 2ms, note);
    post_at(rt.now() + 3ms, note);
    post_at(color{9}, rt.now() + 4ms, note);
  });
  post_after(rt, 5ms, note);
  post_after(rt, color{10}, 6ms, note);
  post_at(rt, rt.now() + 7ms, note);
  post_at(rt, color{11}, rt.now() + 8ms, note);
  rt.run_until_idle();
  EXPECT_EQ(seen, (std::vector<color>{color{}, color{8}, color{}, color{9}, color{}, color{10}, color{}, color{11}}));
}

TEST_F(post_later, waits_as_long_as_told_and_at_most_a_millisecond_longer) {
  const auto begin = rt.now();
  for (const auto after : {0ns, 1ns, 1'000'000ns, 131'072ns, 3'600'000'000'000ns, 400'000'000'000'000'000ns}) {
    post_after(rt, color{1}, after, [&, after](result<void> outcome) {
      EXPECT_TRUE(outcome);
      EXPECT_GT(rt.now(), begin + after);
      EXPECT_LE(rt.now(), begin + after + 1ms);
    });
  }
  rt.run_until_idle();
  EXPECT_EQ(rt.counters().events, 6u);
}

TEST_F(post_later, saturates_a_duration_that_is_too_long) {
  bool canceled = false;
  post_after(rt, std::chrono::hours::max(),
             [&](result<void> outcome) { canceled = outcome.error() == errc::canceled; });
  post_after(rt, 1h, [&] { rt.stop(); });
  rt.run();
  EXPECT_TRUE(canceled);
}

TEST_F(post_later, takes_a_past_time_for_now) {
  std::string order;
  post_at(rt, rt.now() - 1ms, [&] { order += "first "; });
  post_at(rt, rt.now() - 500ms, [&] { order += "second "; });
  post_after(rt, 0ms, [&] { order += "third"; });
  rt.run_until_idle();
  EXPECT_EQ(order, "first second third");
}

TEST_F(post_later, is_refused_to_foreign_threads_after_stop_and_destroys_the_callable_there) {
  const auto kept = std::make_shared<int>();
  rt.stop();
  EXPECT_FALSE(post_after(rt, 1ms, [kept] { FAIL(); }));
  EXPECT_FALSE(post_at(rt, color{3}, rt.now(), [kept](result<void>) { FAIL(); }));
  EXPECT_EQ(kept.use_count(), 1);
}

/// A callable that calls a function when it is copied: in the middle of post_after, between its look at stop() and the timer.
template <class F>
struct interrupting {
  F between;
  std::shared_ptr<int> kept;
  std::error_code* outcome;

  interrupting(F f, std::shared_ptr<int> k, std::error_code& o) : between{f}, kept{std::move(k)}, outcome{&o} {}
  interrupting(interrupting&&) noexcept = default;
  interrupting(const interrupting& other) : between{other.between}, kept{other.kept}, outcome{other.outcome} { between(); }
  void operator()(result<void> given) const { *outcome = given.error(); }
};

TEST_F(post_later, is_refused_if_the_runtime_ends_in_the_middle_of_the_call) {
  const auto kept = std::make_shared<int>();
  std::error_code outcome;
  const interrupting callable{[this] { EXPECT_TRUE(rt.drain(0ns).complete); }, kept, outcome};
  EXPECT_FALSE(post_after(rt, color{3}, 1ms, callable));
  EXPECT_EQ(kept.use_count(), 2) << "ours, and that of the callable that was copied";
  EXPECT_FALSE(outcome);
}

TEST_F(post_later, is_refused_if_the_runtime_ends_in_the_middle_of_the_call_with_a_point_in_time) {
  const auto kept = std::make_shared<int>();
  std::error_code outcome;
  const interrupting callable{[this] { EXPECT_TRUE(rt.drain(0ns).complete); }, kept, outcome};
  EXPECT_FALSE(post_at(rt, color{3}, rt.now() + 1ms, callable));
  EXPECT_EQ(kept.use_count(), 2);
}

TEST_F(post_later, is_called_as_canceled_if_stop_comes_in_the_middle_of_the_call) {
  const auto kept = std::make_shared<int>();
  std::error_code outcome;
  {
    const interrupting callable{[this] { rt.stop(); }, kept, outcome};
    EXPECT_TRUE(post_after(rt, color{3}, 1ms, callable));
  }
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(outcome, errc::canceled);
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(post_later, completes_as_canceled_after_stop) {
  const auto kept = std::make_shared<int>();
  std::vector<std::error_code> errors;
  post_after(rt, 1h, [&](result<void> outcome) { errors.push_back(outcome.error()); });
  post_after(rt, 1h, [kept] { FAIL(); });
  rt.post([&] {
    rt.stop();
    EXPECT_TRUE(post_after(1h, [&](result<void> outcome) { errors.push_back(outcome.error()); }));
    EXPECT_TRUE(post_after(1h, [kept] { FAIL(); }));
  });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(errors, (std::vector<std::error_code>{errc::canceled, errc::canceled}));
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(post_later, leaves_nothing_behind_if_the_runtime_never_runs) {
  const auto kept = std::make_shared<int>();
  {
    test::virtual_poller still;
    runtime unused{one_worker(still)};
    for (int n = 0; n < 5000; ++n) post_after(unused, color{n % 10}, std::chrono::milliseconds{n}, [kept] { FAIL(); });
  }
  EXPECT_EQ(kept.use_count(), 1);
}

struct throws_when_copied {
  throws_when_copied() = default;
  throws_when_copied(const throws_when_copied&) { throw std::bad_alloc{}; }
  void operator()() const {}
};

TEST_F(post_later, posts_nothing_if_the_callable_cannot_be_copied) {
  const throws_when_copied bad;
  EXPECT_THROW(post_after(rt, 1ms, bad), std::bad_alloc);
  rt.run_until_idle();
  EXPECT_EQ(rt.counters().events, 0u);
}

using post_later_death = post_later;

TEST_F(post_later_death, needs_a_color_that_orders) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(post_after(rt, color::unordered, 1ms, [] {}), "unordered.*post_after_test.cpp");
}

TEST_F(post_later_death, needs_a_runtime_outside_of_events) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(post_after(1ms, [] {}), "tartan::post_after");
  EXPECT_DEATH(post_at(rt.now(), [] {}), "tartan::post_at");
}

}  // namespace
}  // namespace tartan
