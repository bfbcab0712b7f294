#include "core/waiting_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <tartan/core/await_blocking.h>
#include <tartan/core/broadcast.h>
#include <tartan/core/channel.h>
#include <tartan/core/post.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/shutdown.h>
#include <tartan/core/spawn.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/task_group.h>
#include <tartan/core/watch.h>
#include <tartan/core/when_all.h>
#include <tartan/core/when_any.h>
#include <vector>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class coroutines_that_wait : public test::coroutines {
 protected:
  coroutines_that_wait() { expect_suspended = true; }

  /// What they wait for, sorted.
  std::vector<std::string> waits() {
    std::vector<std::string> texts;
    for (const waiting_coroutine& each : rt().waiting()) texts.push_back(each.waits_for);
    std::sort(texts.begin(), texts.end());
    return texts;
  }

  channel<int> silent{capacity{1}};
  semaphore none{0};
};
INSTANTIATE_TEST_SUITE_P(on, coroutines_that_wait, testing::ValuesIn(test::worker_counts()), test::worker_name);

using texts = std::vector<std::string>;

TEST_P(coroutines_that_wait, are_listed_with_place_color_and_what_for) {
  rt().name(color{7}, "pages");
  const unsigned line = __LINE__ + 1;
  rt().spawn_in(color{7}, [&]() -> task<> { static_cast<void>(co_await none.acquire()); }).detach();
  run();
  const std::vector<waiting_coroutine> all = rt().waiting();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].spawned_at.line(), line);
  EXPECT_EQ(all[0].in, color{7});
  EXPECT_EQ(all[0].name, "pages");
  EXPECT_EQ(all[0].waits_for, "a semaphore");
}

TEST_P(coroutines_that_wait, are_told_apart_by_what_they_wait_for) {
  channel<int> full{capacity{1}};
  EXPECT_TRUE(full.try_send(1));
  rt().spawn_in(color{1}, [&]() -> task<> { static_cast<void>(co_await silent.receive()); }).detach();
  rt().spawn_in(color{2}, [&]() -> task<> { static_cast<void>(co_await full.send(2)); }).detach();
  rt().spawn_in(color{3}, []() -> task<> { co_await stop_requested(); }).detach();
  rt().spawn_in(color{4}, []() -> task<> { static_cast<void>(co_await shutdown_begun()); }).detach();
  run();
  EXPECT_EQ(waits(), (texts{"a request to end", "a shutdown", "a value from a channel", "room in a channel"}));
  end_runtime();
}

TEST_P(coroutines_that_wait, are_readers_of_a_watch_or_receivers_of_a_broadcast) {
  watch<int> level{0};
  broadcast<int> news{capacity{1}};
  rt().spawn_in(color{1}, [mine = level.subscribe()]() mutable -> task<> {
    static_cast<void>(co_await mine.next());
    static_cast<void>(co_await mine.next());
  }).detach();
  rt().spawn_in(color{2}, [mine = news.subscribe()]() mutable -> task<> {
    static_cast<void>(co_await mine.receive());
  }).detach();
  run();
  EXPECT_EQ(waits(), (texts{"a change of a watch", "a value from a broadcast"}));
  end_runtime();
}

TEST_P(coroutines_that_wait, name_the_coroutine_that_they_wait_for) {
  const unsigned line = __LINE__ + 1;
  auto first = rt().spawn_in(color{1}, [&]() -> task<> { static_cast<void>(co_await none.acquire()); });
  rt().spawn_in(color{2}, [&]() -> task<> { co_await first.join(); }).detach();
  run();
  const texts all = waits();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], "a semaphore");
  EXPECT_NE(all[1].find("the end of a coroutine ("), std::string::npos) << all[1];
  EXPECT_NE(all[1].find("waiting_report_test.cpp:" + std::to_string(line)), std::string::npos) << all[1];
  first.detach();
}

TEST_P(coroutines_that_wait, name_the_group_that_they_wait_for) {
  const unsigned line = __LINE__ + 2;
  rt().spawn_in(color{2}, [&]() -> task<> {
    task_group group;
    group.spawn_in(color{1}, [&]() -> task<> { static_cast<void>(co_await none.acquire()); });
    co_await group.join();
  }).detach();
  run();
  const texts all = waits();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_NE(all[1].find("the end of a task group ("), std::string::npos) << all[1];
  EXPECT_NE(all[1].find("waiting_report_test.cpp:" + std::to_string(line)), std::string::npos) << all[1];
}

TEST_P(coroutines_that_wait, are_one_however_many_branches_they_have) {
  rt().spawn_in(color{1}, [&]() -> task<> {
    static_cast<void>(co_await when_all(none.acquire(), when_any(silent.receive(), until_shutdown(none.acquire()))));
  }).detach();
  run();
  EXPECT_EQ(waits(), (texts{"when_all (a semaphore, when_any (a value from a channel, until_shutdown (a semaphore)))"}));
}

TEST_P(coroutines_that_wait, leave_the_list_when_they_go_on) {
  rt().spawn_in(color{1}, [&]() -> task<> { static_cast<void>(co_await silent.receive()); }).detach();
  run();
  EXPECT_EQ(waits().size(), 1u);
  EXPECT_TRUE(silent.try_send(1));
  EXPECT_EQ(waits(), texts{}) << "about to run";
  run();
  EXPECT_EQ(waits(), texts{});
}

TEST_P(coroutines_that_wait, may_wait_for_a_blocking_job_between_two_runs) {
  std::atomic<bool> begun{false}, open{false};
  rt().spawn_in(color{1}, [&]() -> task<> {
    auto job = [&] {
      begun = true;
      test::spin_until([&] { return open.load(); });
    };
    co_await blocking(job);
    static_cast<void>(co_await none.acquire());
  }).detach();
  rt().run_for(0ns);
  test::spin_until([&] { return begun.load(); });
  EXPECT_EQ(waits(), texts{"a blocking job"});
  open = true;
  run();
  EXPECT_EQ(waits(), texts{"a semaphore"});
}

TEST_P(coroutines_that_wait, are_back_from_a_blocking_job_when_they_are_about_to_run) {
  rt().spawn_in(color{1}, [&]() -> task<> {
    auto job = [] {};
    co_await blocking(job);
    static_cast<void>(co_await silent.receive());
    static_cast<void>(co_await none.acquire());
  }).detach();
  run();
  EXPECT_TRUE(silent.try_send(1));
  EXPECT_EQ(waits(), texts{});
}

TEST_P(coroutines_that_wait, are_told_of_when_the_run_returns_if_that_is_wanted) {
  with.report_waiting = true;
  rt().name(color{7}, "pages");
  for (int n = 0; n < 3; ++n) rt().spawn_in(color{7}, [&]() -> task<> { static_cast<void>(co_await none.acquire()); }).detach();
  testing::internal::CaptureStderr();
  run();
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(told.find("tartan: run_until_idle() returns, but 3 coroutines wait for a semaphore; spawned at "), 0u) << told;
  EXPECT_NE(told.find("waiting_report_test.cpp"), std::string::npos) << told;
  EXPECT_NE(told.find(", the first in color 7 \"pages\"\n"), std::string::npos) << told;
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1);
}

TEST_P(coroutines_that_wait, are_not_told_of_otherwise) {
  rt().spawn_in(color{7}, [&]() -> task<> { static_cast<void>(co_await none.acquire()); }).detach();
  testing::internal::CaptureStderr();
  run();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(coroutines_that_wait_DeathTest, cannot_be_asked_about_in_an_event) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto asks = [] {
    options with;
    with.workers = 1;
    runtime rt{with};
    rt.post([&] { static_cast<void>(rt.waiting()); });
    rt.run_until_idle();
  };
  EXPECT_DEATH(asks(), "runtime::waiting was called from an event of the runtime, at .*waiting_report_test.cpp:[0-9]+");
}

}  // namespace
}  // namespace tartan
