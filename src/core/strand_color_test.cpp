#include "core/strand_color.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <tartan/core/blocking.h>
#include <tartan/core/event_batch.h>
#include <tartan/core/in.h>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <tartan/core/task_group.h>
#include <vector>

#include "core/runtime_state.h"
#include "tests/workers.h"

namespace tartan {
namespace {

options settings() {
  options with;
  with.workers = 1;
  return with;
}

/// Two runtimes, and a strand of the second one.
class two_runtimes : public testing::Test {
 protected:
  static constexpr const char* message =
      "tartan: an event was posted in strand [0-9]+ of another runtime, at .*strand_color_test.cpp.*; it was meant for "
      "the runtime that was made at .*strand_color_test";

  /// In an event of the first one.
  template <class F>
  void in_the_first(F f) {
    first.post(f);
    first.run_until_idle();
  }
  /// In a coroutine of the first one.
  template <class F>
  void by_a_coroutine_of_the_first(F f) {
    spawn(first, f);
    first.run_until_idle();
  }

  runtime first{settings()};
  runtime second{settings()};
  strand of_second{second};
};

using two_runtimes_DeathTest = two_runtimes;

TEST_F(two_runtimes_DeathTest, do_not_post_to_each_others_strands_by_color) {
  EXPECT_DEATH(first.post(of_second, [] {}), message);
  EXPECT_DEATH(first.post(of_second.value(), [] {}), message);
  EXPECT_DEATH(in_the_first([&] { post(of_second, [] {}); }), message);
  EXPECT_DEATH(in_the_first([&] { dispatch(of_second, [] {}); }), message);
  EXPECT_DEATH(bind(first, of_second, [](int) {})(1), message);
}

TEST_F(two_runtimes_DeathTest, do_not_post_batches_to_each_others_strands) {
  const auto post_many = [&] {
    event_batch many{first};
    many.add(of_second, [] {});
    first.post(std::move(many));
  };
  EXPECT_DEATH(post_many(), message);
  EXPECT_DEATH(in_the_first(post_many), message);
}

TEST_F(two_runtimes_DeathTest, do_not_take_coroutines_to_each_others_strands) {
  EXPECT_DEATH(spawn_in(first, of_second, []() -> task<> { co_return; }), message);
  EXPECT_DEATH(in_the_first([&] { spawn_in(of_second, []() -> task<> { co_return; }); }), message);
  EXPECT_DEATH(by_a_coroutine_of_the_first([&]() -> task<> { co_await on(of_second); }), message);
  EXPECT_DEATH(by_a_coroutine_of_the_first([&]() -> task<> { co_await in(of_second, [] {}); }), message);
}

TEST_F(two_runtimes_DeathTest, do_not_complete_blocking_calls_in_each_others_strands) {
  const auto call = [&] {
    blocking(first, of_second, [] {}, [](const result<>&) {});
    first.run_until_idle();
  };
  EXPECT_DEATH(call(), message);
}

TEST_F(two_runtimes, post_to_each_other_through_the_handle_of_a_strand) {
  bool ran = false;
  in_the_first([&] { of_second.post([&] { ran = of_second.value() == current_color(); }); });
  second.run_until_idle();
  EXPECT_TRUE(ran);
}

TEST_F(two_runtimes, have_strands_of_their_own_marks) {
  const strand of_first{first};
  EXPECT_NE(of_first.value(), of_second.value());
  EXPECT_FALSE(detail::strand_color::is_foreign(of_first, first.state()));
  EXPECT_TRUE(detail::strand_color::is_foreign(of_first, second.state()));
}

TEST(the_colors_that_no_strand_has, are_not_foreign_anywhere) {
  runtime rt{settings()};
  for (const color each : {color{}, color{1}, color::of("key"), color::unordered}) {
    EXPECT_FALSE(detail::strand_color::is(each));
  }
  bool ran = false;
  spawn_in(rt, color::unordered, [&]() -> task<> {
    ran = !detail::strand_color::is(current_color());
    co_return;
  });
  rt.run_until_idle();
  EXPECT_TRUE(ran);
}

TEST(a_strand_that_is_gone, leaves_a_color_that_its_own_runtime_still_takes) {
  runtime rt{settings()};
  color left;
  {
    const strand s{rt};
    left = s;
  }
  bool ran = false;
  rt.post(left, [&] { ran = true; });
  rt.run_until_idle();
  EXPECT_TRUE(ran);
}

template <class Object, class... Args>
void outlive(Args... args) {
  std::unique_ptr<Object> object;
  runtime rt{settings()};
  object = std::make_unique<Object>(rt, args...);
}

TEST(an_object_that_outlives_its_runtime_DeathTest, ends_the_program) {
  const char* const message =
      "tartan: a runtime was destroyed before 1 timers, event batches or task groups that belong to it; it was made at "
      ".*strand_color_test";
  EXPECT_DEATH(outlive<event_batch>(), message);
  EXPECT_DEATH(outlive<task_group>(), message);
}

}  // namespace
}  // namespace tartan
