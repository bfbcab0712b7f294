// Contract 5: which color runs what.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <system_error>
#include <tartan/core/in.h>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <tartan/core/yield.h>
#include <tartan/io/pipe.h>
#include <tartan/time/post_after.h>
#include <tartan/time/timer.h>
#include <tartan/time/with_timeout.h>
#include <utility>
#include <vector>

#include "tests/virtual_time.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class which_color : public test::on_workers {};

TEST_P(which_color, a_post_without_a_color_uses_the_default_color_whatever_color_runs) {
  runtime rt{settings()};
  color first{99};
  color second{99};
  color third{99};
  rt.post(color{7}, [&] {
    post([&] { first = current_color(); });
    rt.post([&] { second = current_color(); });
    dispatch(color{}, [&] { third = current_color(); });
    EXPECT_EQ(current_color(), color{7});
  });
  rt.run_until_idle();
  EXPECT_EQ(first, color{});
  EXPECT_EQ(second, color{});
  EXPECT_EQ(third, color{});
}

TEST_P(which_color, a_callback_made_by_bind_brings_its_own_color_and_wins) {
  runtime rt{settings()};
  std::vector<color> ran;
  const auto callback = bind(color{5}, [&ran] { ran.push_back(current_color()); });
  EXPECT_EQ(callback.where(), color{5});
  rt.post(color{7}, callback);  // a module that knows nothing of colors calls it from wherever it is
  rt.post(callback);
  rt.post(color{5}, callback);
  rt.run_until_idle();
  EXPECT_EQ(ran, (std::vector<color>{color{5}, color{5}, color{5}}));
}

TEST_P(which_color, every_event_runs_in_the_color_that_it_was_posted_to) {
  runtime rt{settings()};
  strand owned{rt, "owned"};
  std::vector<char> wrong(200, 0);
  for (unsigned n = 0; n < 100; ++n) {
    const color by_value{n + 1};
    rt.post(by_value, [&wrong, n, by_value] { wrong[n] = current_color() != by_value; });
    owned.post([&wrong, &owned, n] { wrong[100 + n] = current_color() != owned.value(); });
  }
  rt.run_until_idle();
  for (const char each : wrong) EXPECT_EQ(each, 0);
}

TEST_P(which_color, unordered_events_see_their_color_and_may_post_to_any) {
  runtime rt{settings()};
  color seen{};
  color after{};
  rt.post(color::unordered, [&] {
    seen = current_color();
    post(color{3}, [&] { after = current_color(); });
  });
  rt.run_until_idle();
  EXPECT_EQ(seen, color::unordered);
  EXPECT_EQ(after, color{3});
}

TEST_P(which_color, a_timer_fires_in_its_own_color_and_in_the_default_color_if_it_has_none) {
  test::virtual_poller clock;
  options with = settings();
  with.poller = &clock;
  runtime rt{with};
  std::vector<color> ran;
  const auto note = [&] { post(color{1}, [&ran, c = current_color()] { ran.push_back(c); }); };
  timer colored{rt, color{6}};
  rt.post(color{6}, [&] { colored.set(1h, note); });
  rt.post(color{7}, [&] {
    post_after(2h, note);
    post_after(color{8}, 3h, note);
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, (std::vector<color>{color{6}, color{}, color{8}}));
}

TEST_P(which_color, a_coroutine_starts_where_it_is_told_goes_where_it_likes_and_its_awaiter_stays) {
  runtime rt{settings()};
  std::vector<color> ran;  // one coroutine after the other
  const auto note = [&] { ran.push_back(current_color()); };
  const auto wanderer = [&]() -> task<> {
    note();  // a task that is awaited: in its awaiter's color
    co_await on(color{3});
    note();
    co_await in(color{4}, note);
    note();
  };
  rt.spawn_in(color{2}, [&]() -> task<> {
    co_await wanderer();
    note();
    join_handle<> bare = spawn([&]() -> task<> {
      note();  // without a color: the default one
      co_return;
    });
    co_await bare.join();
    note();
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, (std::vector<color>{color{2}, color{3}, color{4}, color{3}, color{2}, color{}, color{2}}));
}

class which_color_DeathTest : public test::on_workers {};

TEST_P(which_color_DeathTest, the_operations_of_a_timer_start_in_its_color_and_nowhere_else) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto set_elsewhere = [] {
    runtime rt{settings()};
    timer t{rt, color{6}};
    rt.post(color{7}, [&] { t.set(1h, [] {}); });
    rt.run_until_idle();
  };
  EXPECT_DEATH(set_elsewhere(), "a timer of color 6 is set or canceled at .*which_color_test.cpp:[0-9]+.*but color 7 runs");
}

TEST_P(which_color_DeathTest, the_operations_of_a_stream_start_in_its_color_and_nowhere_else) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto read_elsewhere = [] {
    runtime rt{settings()};
    auto ends = pipe::open(rt, color{6}, color{8});
    rt.spawn_in(color{7}, [&]() -> task<> {
      std::array<std::byte, 1> one{};
      (void)co_await ends->read.read_some(one);
    });
    rt.run_until_idle();
  };
  EXPECT_DEATH(read_elsewhere(), "an operation on a descriptor of color 6 was begun in color 7");
}

TEST_P(which_color, what_a_stream_completes_runs_in_its_color_also_what_is_canceled_closed_or_takes_too_long) {
  runtime rt{settings()};
  auto ends = pipe::open(rt, color{6}, color{8});
  ASSERT_TRUE(ends);
  std::vector<std::error_code> ended;
  rt.spawn_in(color{6}, [&]() -> task<> {
    std::array<std::byte, 1> room{};
    const auto note = [&](result<std::size_t> outcome) {
      EXPECT_EQ(current_color(), color{6});
      ended.push_back(outcome.error());
    };
    ends->read.read_some(room, note);
    co_await in(color{8}, [&]() -> task<> {
      const auto written = co_await ends->write.write("x");
      EXPECT_TRUE(written);
    });
    while (ended.size() != 1) co_await yield();
    ends->read.read_some(room, note);
    ends->read.cancel();
    while (ended.size() != 2) co_await yield();
    const auto late = co_await with_timeout(0ns, ends->read.read_some(room));
    note(late);
    ends->read.read_some(room, note);
    ends->read.close();
  });
  rt.run_until_idle();
  EXPECT_EQ(ended, (std::vector<std::error_code>{{}, errc::canceled, errc::timed_out, errc::closed}));
}

INSTANTIATE_TEST_SUITE_P(workers, which_color_DeathTest, testing::Values(1u), test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, which_color, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
