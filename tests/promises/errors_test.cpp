// Contract 15 and 17: blocking work, exceptions.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <tartan/core/await_blocking.h>
#include <tartan/core/blocking.h>
#include <tartan/core/in.h>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <thread>
#include <utility>
#include <vector>

#include "tests/workers.h"

namespace tartan {
namespace {

class an_exception_that_leaves_an_event : public test::on_workers {};
class an_exception_in_a_coroutine : public test::on_workers {};
class blocking_work : public test::on_workers {};

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

INSTANTIATE_TEST_SUITE_P(workers, an_exception_that_leaves_an_event, testing::ValuesIn(test::worker_counts()),
                         test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, an_exception_in_a_coroutine, testing::ValuesIn(test::worker_counts()), test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, blocking_work, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
