#include "core/destroyed_list.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <tartan/core/blocking.h>
#include <tartan/core/channel.h>
#include <tartan/core/post.h>
#include <tartan/core/spawn.h>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class a_run_that_destroys_what_is_left : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, a_run_that_destroys_what_is_left, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(a_run_that_destroys_what_is_left, tells_kinds_and_places) {
  with.drain_within = 0ns;
  std::optional<drained> told;
  with.on_destroyed = [&](const drained& end) { told = end; };
  expect_suspended = true;
  channel<int> silent{capacity{1}};
  for (int n = 0; n < 3; ++n) rt().spawn_in(color{n + 1}, [&]() -> task<> { static_cast<void>(co_await silent.receive()); }).detach();
  rt().run_for(0ns);
  rt().post([] {});
  rt().stop();
  rt().post([] {});  // refused
  EXPECT_EQ(rt().run(), 1);
  ASSERT_TRUE(told);
  EXPECT_FALSE(told->complete);
  EXPECT_EQ(told->destroyed, 4u);
  ASSERT_EQ(told->what.size(), 2u);
  EXPECT_EQ(told->what[0].kind, work_kind::event);
  EXPECT_EQ(told->what[0].count, 1u);
  EXPECT_EQ(told->what[1].kind, work_kind::coroutine);
  EXPECT_EQ(told->what[1].count, 3u);
  EXPECT_EQ(told->what[1].waits_for, "a value from a channel");
}

TEST_P(a_run_that_destroys_what_is_left, says_so_in_one_line_if_nobody_else_does) {
  with.drain_within = 0ns;
  for (int n = 0; n < 5; ++n) rt().post(color{n}, [] {});
  rt().stop();
  testing::internal::CaptureStderr();
  EXPECT_EQ(rt().run(), 1);
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(testing::internal::RE::FullMatch(
      line, "tartan: run\\(\\) destroyed what had not ended 0 ms after the stop: 5 events \\(5 posted at .*destroyed_list_test.cpp:[0-9]+.*\\)\n"))
      << line;
}

TEST_P(a_run_that_destroys_what_is_left, is_silent_when_nothing_was) {
  rt().post([this] { rt().stop(); });
  testing::internal::CaptureStderr();
  EXPECT_EQ(rt().run(), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_P(a_run_that_destroys_what_is_left, leaves_the_report_to_who_drains) {
  rt().post([] {});
  testing::internal::CaptureStderr();
  const drained end = rt().drain(0ns);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_EQ(end.what.size(), 1u);
  EXPECT_EQ(end.what[0].kind, work_kind::event);
  EXPECT_EQ(end.what[0].count, 1u);
}

TEST_P(a_run_that_destroys_what_is_left, counts_blocking_jobs_that_have_not_begun) {
  for (int n = 0; n < 2; ++n) blocking(rt(), color{1}, [] {}, [](result<>) {});
  const drained end = rt().drain(0ns);
  EXPECT_EQ(end.destroyed, 2u);
  ASSERT_EQ(end.what.size(), 1u);
  EXPECT_EQ(end.what[0].kind, work_kind::blocking_job);
  EXPECT_EQ(end.what[0].count, 2u);
}

TEST(a_list_of_what_was_destroyed, is_in_order_of_kinds_and_joins_equal_places) {
  detail::destroyed_list list;
  const auto site = std::source_location::current();
  const auto other = std::source_location::current();
  list.add(work_kind::coroutine, site);
  list.add(work_kind::event, other);
  list.add(work_kind::coroutine, other);
  list.add(work_kind::event, other);
  const std::vector<destroyed_work> what = list.take();
  ASSERT_EQ(what.size(), 3u);
  EXPECT_EQ(what[0].kind, work_kind::event);
  EXPECT_EQ(what[0].count, 2u);
  EXPECT_EQ(what[1].site.line(), site.line());
  EXPECT_EQ(what[2].site.line(), other.line());
  EXPECT_TRUE(list.take().empty());
}

TEST(a_list_of_what_was_destroyed, has_an_end) {
  detail::destroyed_list list;
  const auto here = [](std::source_location at = std::source_location::current()) { return at; };
  // Each call is a place of its own, by its column.
  const std::source_location eight[] = {here(), here(), here(), here(), here(), here(), here(), here()};
  for (const std::source_location& each : eight) {
    for (unsigned kind = 0; kind < 5; ++kind) list.add(static_cast<work_kind>(kind), each);
  }
  const std::source_location others[] = {here(), here(), here(), here(), here(), here(), here(), here()};
  for (const std::source_location& each : others) {
    for (unsigned kind = 0; kind < 5; ++kind) list.add(static_cast<work_kind>(kind), each);
  }
  const std::vector<destroyed_work> what = list.take();
  std::size_t count = 0;
  std::size_t elsewhere = 0;
  for (const destroyed_work& each : what) {
    count += each.count;
    elsewhere += each.site.line() == 0 ? each.count : 0;
  }
  EXPECT_EQ(count, 80u);
  EXPECT_EQ(elsewhere, 80u - detail::destroyed_list::most_places);
  EXPECT_LE(what.size(), detail::destroyed_list::most_places + 5);
}

TEST(a_list_of_what_was_destroyed, reads_as_one_line) {
  drained end;
  end.complete = false;
  const auto site = std::source_location::current();
  end.destroyed = 7;
  end.what = {{work_kind::event, 1, site}, {work_kind::timer, 2, site}, {work_kind::coroutine, 3, site, "a time"}, {work_kind::coroutine, 1, {}}};
  const std::string at = "destroyed_list_test.cpp:" + std::to_string(site.line());
  const std::string text = detail::destroyed_text(end);
  EXPECT_EQ(text.find("1 event (1 posted at "), 0u) << text;
  EXPECT_NE(text.find("), 2 timers (2 set at "), std::string::npos) << text;
  EXPECT_NE(text.find("), 4 coroutines (3 spawned at "), std::string::npos) << text;
  EXPECT_NE(text.find(at), std::string::npos) << text;
  EXPECT_NE(text.find(", waiting for a time; 1 elsewhere"), std::string::npos) << text;
  EXPECT_EQ(text.find("; 1 elsewhere)"), text.size() - std::string{"; 1 elsewhere)"}.size()) << text;
}

}  // namespace
}  // namespace tartan
