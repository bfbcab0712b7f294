// Contract 15 and 17: blocking work, handlers that block, exceptions and error codes.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tartan/core/await_blocking.h>
#include <tartan/core/blocking.h>
#include <tartan/core/channel.h>
#include <tartan/core/in.h>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <tartan/io/pipe.h>
#include <thread>
#include <utility>
#include <vector>

#include "tests/workers.h"

namespace tartan {
namespace {

class an_exception_that_leaves_an_event : public test::on_workers {};
class an_exception_in_a_coroutine : public test::on_workers {};
class blocking_work : public test::on_workers {};
class a_handler_that_runs_too_long : public test::on_workers {};
class the_end_of_a_stream : public test::on_workers {};

struct report {
  color in;
  std::string name;
  std::string what;
  unsigned line = 0;
  std::thread::id on;
};

std::string text_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "unknown";
  }
}

TEST_P(an_exception_that_leaves_an_event, reaches_the_users_handler_in_the_events_color_with_name_and_post_site) {
  options with = settings();
  std::vector<report> reports;  // of color 7's events, and touched in color 7 only
  with.on_exception = [&](const escaped_exception& e) {
    EXPECT_EQ(current_color(), e.in);
    reports.push_back(
        {e.in, e.name, text_of(e.exception), static_cast<unsigned>(e.post_site.line()), std::this_thread::get_id()});
  };
  runtime rt{with};
  rt.name(color{7}, "seven");
  const unsigned site = __LINE__ + 1;
  rt.post(color{7}, [] { throw std::runtime_error{"no such page"}; });
  rt.run_until_idle();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].in, color{7});
  EXPECT_EQ(reports[0].name, "seven");
  EXPECT_EQ(reports[0].what, "no such page");
  EXPECT_EQ(reports[0].line, site);
}

TEST_P(an_exception_that_leaves_an_event, destroys_just_that_event_and_its_color_goes_on_in_order) {
  options with = settings();
  std::atomic<unsigned> escaped{0};
  with.on_exception = [&](const escaped_exception&) { escaped.fetch_add(1); };
  runtime rt{with};
  const auto held = std::make_shared<int>(1);
  std::vector<unsigned> ran;
  std::vector<unsigned> on_a_strand;
  strand s{rt, "failing"};
  const unsigned count = test::rounds(300);
  for (unsigned n = 0; n < count; ++n) {
    rt.post(color{1}, [&ran, held, n] {
      ran.push_back(n);
      if (n % 3 == 0) throw n;
    });
    s.post([&on_a_strand, n, held, large = std::array<char, 100>{}] {
      on_a_strand.push_back(n);
      if (n % 5 == 0) throw std::string(large.data(), 1);
    });
    rt.post(color::unordered, [held] { throw 1; });
  }
  rt.run_until_idle();
  EXPECT_EQ(escaped.load(), count / 3 + count / 5 + count);
  ASSERT_EQ(ran.size(), count);
  ASSERT_EQ(on_a_strand.size(), count);
  for (unsigned n = 0; n < count; ++n) {
    EXPECT_EQ(ran[n], n);
    EXPECT_EQ(on_a_strand[n], n);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST_P(an_exception_that_leaves_an_event, leaves_the_runtime_fit_for_another_run) {
  options with = settings();
  std::atomic<unsigned> escaped{0};
  with.on_exception = [&](const escaped_exception&) { escaped.fetch_add(1); };
  runtime rt{with};
  rt.post([] { throw 1; });
  rt.run_until_idle();
  bool ran = false;
  rt.post([&] {
    ran = true;
    rt.stop();
    throw 2;
  });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_TRUE(ran);
  EXPECT_EQ(escaped.load(), 2u);
}

TEST_P(an_exception_that_leaves_an_event, may_make_the_handler_post_and_stop) {
  options with = settings();
  runtime* self = nullptr;
  std::atomic<unsigned> ran{0};
  with.on_exception = [&](const escaped_exception& e) {
    post(e.in, [&] { ran.fetch_add(1); });
    self->stop();
  };
  runtime rt{with};
  self = &rt;
  rt.post(color{5}, [] { throw 1; });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(ran.load(), 1u);
}

TEST_P(an_exception_that_leaves_an_event, reaches_the_caller_of_dispatch_if_it_was_called_at_once) {
  runtime rt{settings()};
  bool caught = false;
  rt.post(color{5}, [&] {
    try {
      dispatch(color{5}, [] { throw 1; });
    } catch (int) {
      caught = true;
    }
  });
  rt.run_until_idle();
  EXPECT_TRUE(caught);
}

void run_an_event_that_throws(const options& with) {
  runtime rt{with};
  strand s{rt, "page cache"};
  s.post([] { throw std::runtime_error{"no such page"}; });
  rt.run_until_idle();
}

TEST(an_exception_without_a_handler_DeathTest, ends_the_program_with_color_post_site_and_text) {
  options with;
  with.workers = 1;
  EXPECT_DEATH(run_an_event_that_throws(with),
               "tartan: .*exception left an event of strand \"page cache\".*errors_test.cpp:[0-9]+.*no such page");
  with.on_exception = [](const escaped_exception&) { throw std::logic_error{"and another one"}; };
  EXPECT_DEATH(run_an_event_that_throws(with),
               "on_exception itself threw.*page cache.*errors_test.cpp:[0-9]+.*and another one");
}

TEST_P(blocking_work, runs_off_the_workers_and_its_result_in_the_color) {
  runtime rt{settings()};
  std::thread::id on;
  bool in_no_event = false;
  int got = 0;
  rt.post(color{1}, [&] {
    blocking(
        color{2},
        [&] {
          on = std::this_thread::get_id();
          in_no_event = !in_event();
          return 42;
        },
        [&](result<int> r) {
          color{2}.assert_here();
          EXPECT_NE(std::this_thread::get_id(), on);
          got = r.value();
        });
  });
  rt.run_until_idle();
  EXPECT_EQ(got, 42);
  EXPECT_TRUE(in_no_event);
}

TEST_P(blocking_work, is_waited_for_by_drain_and_never_cut_short) {
  for (unsigned round = 0; round < test::rounds(10); ++round) {
    std::atomic<bool> started{false};
    std::atomic<bool> ended{false};
    const auto held = std::make_shared<int>(1);
    {
      runtime rt{settings()};
      rt.post(color{1}, [&] {
        blocking(
            color{2},
            [&, held] {
              started = true;
              for (unsigned n = 0; n < 100; ++n) std::this_thread::yield();
              ended = *held == 1;
            },
            [held](result<void>) {});
        test::spin_until([&] { return started.load(); });
        rt.stop();
      });
      rt.run_until_idle();
      rt.drain(std::chrono::nanoseconds{0});
      EXPECT_TRUE(ended);
    }
    EXPECT_EQ(held.use_count(), 1);
  }
}

TEST_P(blocking_work, beyond_a_full_pool_is_busy_for_a_callback_and_waits_for_a_coroutine) {
  options with = settings();
  with.blocking_threads = 1;
  with.blocking_queue = 1;
  runtime rt{with};
  std::atomic<bool> refused{false};
  std::atomic<bool> waited{false};
  const auto until_refused = [&] { test::spin_until([&] { return refused.load(); }); };
  std::vector<std::error_code> ended;
  const auto note = [&](result<> outcome) { ended.push_back(outcome.error()); };
  rt.spawn_in(color{1}, [&]() -> task<> {
    EXPECT_TRUE(blocking(color{2}, until_refused, note));  // the thread's
    EXPECT_TRUE(blocking(color{2}, until_refused, note));  // the queue's
    EXPECT_TRUE(blocking(color{2}, [] { FAIL(); }, [&](result<> outcome) {
      EXPECT_EQ(outcome.error(), errc::busy);
      refused = true;
    }));
    co_await blocking([&] { waited = true; });
  });
  rt.run_until_idle();
  EXPECT_TRUE(refused);
  EXPECT_TRUE(waited);
  EXPECT_EQ(ended, (std::vector<std::error_code>{{}, {}}));
}

// It runs until it is reported, however long that takes.
TEST_P(a_handler_that_runs_too_long, is_reported_with_color_name_post_site_and_who_waits) {
  std::mutex lock;
  std::optional<stalled_handler> seen;
  std::atomic<bool> reported{false};
  options with = settings();
  with.stealing = false;  // who waits, waits
  with.stall_after = std::chrono::milliseconds{1};
  with.on_stall = [&](const stalled_handler& what) {
    if (what.in != color{7}) return;
    const std::lock_guard hold{lock};
    seen = what;
    reported = true;
  };
  runtime rt{with};
  rt.name(color{7}, "page cache");
  unsigned line = 0;
  rt.post(color{1}, [&] {
    line = std::source_location::current().line() + 1;
    post(color{7}, [&] { test::spin_until([&] { return reported.load(); }); });
    for (unsigned n = 0; n < 5; ++n) post(color{100 + n}, [] {});
  });
  rt.run_until_idle();
  const std::lock_guard hold{lock};
  EXPECT_EQ(seen->name, "page cache");
  EXPECT_EQ(seen->post_site.line(), line);
  EXPECT_LT(seen->worker, GetParam());
  EXPECT_GE(seen->running_for, with.stall_after);
  EXPECT_EQ(seen->colors_waiting, 5u);
}

TEST_P(an_exception_in_a_coroutine, reaches_the_awaiter_of_a_task_of_a_visit_and_of_blocking_work_in_its_color) {
  runtime rt{settings()};
  std::vector<int> caught;
  const auto fails = [](int what) { throw what; };
  rt.spawn_in(color{1}, [&]() -> task<> {
    const auto failing_task = [&]() -> task<> {
      co_await on(color{3});
      fails(1);
    };
    for (int n = 1; n <= 3; ++n) {
      try {
        if (n == 1) co_await failing_task();
        if (n == 2) co_await in(color{2}, [&] { fails(2); });
        if (n == 3) co_await blocking([&] { fails(3); });
      } catch (int what) {
        color{1}.assert_here();
        caught.push_back(what);
      }
    }
  });
  rt.run_until_idle();
  EXPECT_EQ(caught, (std::vector<int>{1, 2, 3}));
}

TEST_P(an_exception_in_a_coroutine, that_was_spawned_and_is_joined_by_nobody_reaches_the_users_handler) {
  options with = settings();
  std::vector<color> reports;
  with.on_exception = [&](const escaped_exception& e) { reports.push_back(e.in); };
  runtime rt{with};
  rt.spawn_in(color{5}, []() -> task<> {
    co_await on(color{6});
    throw 1;
  });
  rt.run_until_idle();
  EXPECT_EQ(reports, std::vector<color>{color{6}});
}

TEST_P(the_end_of_a_stream, is_an_error_code_of_its_own) {
  runtime rt{settings()};
  channel<int> values{capacity{1}};
  auto ends = pipe::open(rt, color{1}, color{1});
  ASSERT_TRUE(ends);
  bool reached = false;
  rt.spawn_in(color{1}, [&]() -> task<> {
    EXPECT_TRUE(values.try_send(1));
    values.close();
    EXPECT_EQ(*co_await values.receive(), 1);
    EXPECT_EQ((co_await values.receive()).error(), errc::end_of_stream);
    ends->write.close();
    std::array<std::byte, 1> room{};
    const auto got = co_await ends->read.read_some(room);
    EXPECT_EQ(got.error(), errc::end_of_stream);
    reached = true;
  });
  rt.run_until_idle();
  EXPECT_TRUE(reached);
}

INSTANTIATE_TEST_SUITE_P(workers, the_end_of_a_stream, testing::ValuesIn(test::worker_counts()), test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, an_exception_that_leaves_an_event, testing::ValuesIn(test::worker_counts()),
                         test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, an_exception_in_a_coroutine, testing::ValuesIn(test::worker_counts()), test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, a_handler_that_runs_too_long, testing::ValuesIn(test::worker_counts()), test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, blocking_work, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
