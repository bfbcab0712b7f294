#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tartan/core/blocking.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <utility>
#include <vector>

#include "tests/virtual_time.h"
#include "tests/workers.h"

namespace tartan {
namespace {

/// Keeps blocking jobs until the test lets them go.
class gate {
 public:
  void open() {
    const std::lock_guard held{lock_};
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock held{lock_};
    ++came_;
    changed_.notify_all();
    changed_.wait(held, [this] { return open_; });
  }
  void wait_for(int visitors) {
    std::unique_lock held{lock_};
    changed_.wait(held, [&] { return came_ >= visitors; });
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  int came_ = 0;
  bool open_ = false;
};

class blocking_calls : public ::testing::TestWithParam<unsigned> {
 protected:
  options with() const {
    options o;
    o.workers = GetParam();
    return o;
  }
};
INSTANTIATE_TEST_SUITE_P(workers, blocking_calls, ::testing::Values(1u, 2u, 4u));

TEST_P(blocking_calls, run_off_the_workers_and_complete_in_the_color) {
  runtime rt{with()};
  int completions = 0;
  rt.post(color{7}, [&] {  // the completion's color: it cannot run before this event has ended
    const auto worker = std::this_thread::get_id();
    EXPECT_TRUE(blocking(
        color{7},
        [worker] {
          EXPECT_FALSE(in_event());
          EXPECT_NE(std::this_thread::get_id(), worker);
          return 42;
        },
        [&](result<int> got) {
          EXPECT_EQ(current_color(), color{7});
          EXPECT_EQ(*got, 42);
          ++completions;
        }));
    EXPECT_EQ(completions, 0);
  });
  rt.run_until_idle();
  EXPECT_EQ(completions, 1);
}

TEST_P(blocking_calls, complete_with_what_the_function_gives) {
  runtime rt{with()};
  int checks = 0;
  const auto check = [&](bool good) { checks += good ? 1 : 1000; };
  rt.post([&] {
    blocking(color{}, [] {}, [&](result<> got) { check(got.has_value()); });
    blocking(
        color{}, [] { return std::make_unique<int>(5); }, [&](result<std::unique_ptr<int>> got) { check(**got == 5); });
    blocking(
        color{}, []() -> result<int> { return errc::closed; },
        [&](result<int> got) { check(got.error() == errc::closed); });
    blocking(color{}, []() -> result<> { return {}; }, [&](const result<>& got) { check(got.has_value()); });
    static const std::string text = "kept elsewhere";
    blocking(
        color{}, []() -> const std::string& { return text; }, [&](result<std::string> got) { check(*got == text); });
    blocking(
        color{}, [moved = std::make_unique<int>(6)]() mutable { return std::move(moved); },
        [&, also = std::make_unique<int>(7)](auto got) { check(**got + *also == 13); });
  });
  rt.run_until_idle();
  EXPECT_EQ(checks, 6);
}

TEST_P(blocking_calls, never_complete_before_they_return) {
  runtime rt{with()};
  bool returned = false;
  int completions = 0;
  const auto done = [&](result<> got) {
    EXPECT_TRUE(returned) << got.error();
    ++completions;
  };
  rt.post(color{3}, [&] {
    blocking(color{3}, [] {}, done);
    rt.stop();
    blocking(color{3}, [] {}, done);  // canceled at once
    returned = true;
  });
  rt.run();
  EXPECT_EQ(completions, 2);
}

TEST_P(blocking_calls, can_be_made_from_outside_and_for_a_strand) {
  runtime rt{with()};
  strand own{rt, "results"};
  int got = 0;
  EXPECT_TRUE(blocking(
      rt, own, [] { return 3; },
      [&](result<int> value) {
        own.assert_here();
        got += *value;
      }));
  rt.post([&] { blocking(own, [] { return 4; }, [&](result<int> value) { got += *value; }); });
  rt.run_until_idle();
  EXPECT_EQ(got, 7);
}

TEST_P(blocking_calls, of_many_colors_keep_each_color_serial) {
  constexpr int colors = 20;
  constexpr int jobs = 50;
  options o = with();
  o.blocking_queue = colors * jobs;
  runtime rt{o};
  int sums[colors] = {};
  for (int c = 0; c < colors; ++c) {
    rt.post(color{c}, [&rt, &sum = sums[c], c] {
      for (int i = 1; i <= jobs; ++i) blocking(color{c}, [i] { return i; }, [&sum](result<int> got) { sum += *got; });
      static_cast<void>(rt);
    });
  }
  rt.run_until_idle();
  for (const int sum : sums) EXPECT_EQ(sum, jobs * (jobs + 1) / 2);
}

TEST_P(blocking_calls, beyond_the_queue_complete_as_busy_without_being_called) {
  options o = with();
  o.blocking_threads = 1;
  o.blocking_queue = 2;
  runtime rt{o};
  gate door;
  std::vector<std::error_code> ended;
  rt.post([&] {
    for (int i = 0; i < 5; ++i) {
      blocking(
          color{}, [&] { door.pass(); },
          [&](result<> got) {
            ended.push_back(got.error());
            if (ended.size() == 2) door.open();  // the two that were refused come first
          });
    }
  });
  rt.run_until_idle();
  ASSERT_EQ(ended.size(), 5u);
  EXPECT_EQ(ended[0], errc::busy);
  EXPECT_EQ(ended[1], errc::busy);
  for (std::size_t i = 2; i < 5; ++i) EXPECT_FALSE(ended[i]) << i;
}

TEST_P(blocking_calls, after_stop_complete_as_canceled_and_those_before_run) {
  runtime rt{with()};
  gate door;
  std::vector<std::error_code> ended;
  const auto done = [&](result<> got) { ended.push_back(got.error()); };
  rt.post(color{1}, [&] {
    blocking(color{2}, [&] { door.pass(); }, done);
    rt.stop();
    blocking(color{2}, [] { ADD_FAILURE(); }, done);
    blocking(
        rt, color{2}, [] { ADD_FAILURE(); },
        [&](result<> got) {
          done(got);
          door.open();
        });
  });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(ended, (std::vector<std::error_code>{errc::canceled, errc::canceled, {}}));
}

TEST_P(blocking_calls, of_foreign_threads_after_stop_complete_as_canceled_too) {
  runtime rt{with()};
  rt.stop();
  std::error_code ended;
  std::thread{[&] {
    EXPECT_TRUE(blocking(rt, color{2}, [] { ADD_FAILURE(); }, [&](result<> got) { ended = got.error(); }));
  }}.join();
  EXPECT_TRUE(rt.drain(std::chrono::hours{1}).complete);
  EXPECT_EQ(ended, errc::canceled);
}

TEST_P(blocking_calls, after_the_end_of_the_runtime_give_false_and_are_destroyed) {
  runtime rt{with()};
  rt.drain(std::chrono::nanoseconds{0});
  const auto token = std::make_shared<int>(0);
  EXPECT_FALSE(blocking(rt, color{2}, [token] { ADD_FAILURE(); }, [token](result<>) { ADD_FAILURE(); }));
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(blocking_calls, that_throw_reach_the_handler_of_exceptions_with_color_and_place) {
  options o = with();
  std::vector<escaped_exception> escaped;
  std::mutex lock;
  o.on_exception = [&](const escaped_exception& e) {
    const std::lock_guard held{lock};
    EXPECT_EQ(current_color(), e.in);
    escaped.push_back(e);
  };
  runtime rt{o};
  rt.name(color{9}, "files");
  unsigned line = 0;
  const auto token = std::make_shared<int>(0);
  rt.post([&, token] {
    line = std::source_location::current().line() + 1;
    blocking(color{9}, [token] { throw std::runtime_error{"in f"}; }, [token](result<>) { ADD_FAILURE(); });
    blocking(color{9}, [token] {}, [token](result<>) { throw std::runtime_error{"in done"}; });
  });
  rt.run_until_idle();
  ASSERT_EQ(escaped.size(), 2u);
  EXPECT_EQ(token.use_count(), 1);
  std::vector<std::string> texts;
  for (const auto& e : escaped) {
    EXPECT_EQ(e.in, color{9});
    EXPECT_EQ(e.name, "files");
    EXPECT_TRUE(e.post_site.line() == line || e.post_site.line() == line + 1) << e.post_site.line();
    try {
      std::rethrow_exception(e.exception);
    } catch (const std::runtime_error& error) {
      texts.emplace_back(error.what());
    }
  }
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(texts, (std::vector<std::string>{"in done", "in f"}));
}

TEST_P(blocking_calls, destroy_the_function_where_it_ran_and_the_callback_in_its_color) {
  struct tells {
    std::thread::id* where;
    bool* inside;
    tells(std::thread::id* at, bool* in) : where{at}, inside{in} {}
    tells(tells&& other) noexcept : where{std::exchange(other.where, nullptr)}, inside{other.inside} {}
    ~tells() {
      if (where == nullptr) return;
      *where = std::this_thread::get_id();
      *inside = in_event();
    }
  };
  runtime rt{with()};
  std::thread::id ran, f_gone, done_gone;
  bool f_inside = true, done_inside = false;
  rt.post([&] {
    blocking(
        color{4}, [&ran, t = tells{&f_gone, &f_inside}] { ran = std::this_thread::get_id(); },
        [&, t = tells{&done_gone, &done_inside}](result<>) { EXPECT_EQ(f_gone, ran) << "before the callback"; });
  });
  rt.run_until_idle();
  EXPECT_EQ(f_gone, ran);
  EXPECT_FALSE(f_inside);
  EXPECT_TRUE(done_inside);
  EXPECT_NE(done_gone, ran);
}

TEST_P(blocking_calls, that_run_are_waited_for_by_drain_and_those_that_wait_are_destroyed) {
  options o = with();
  o.blocking_threads = 1;
  runtime rt{o};
  gate door;
  std::atomic<bool> ran{false};
  const auto token = std::make_shared<int>(0);
  ASSERT_TRUE(blocking(
      rt, color{1},
      [&, token] {
        door.pass();
        ran.store(true, std::memory_order_relaxed);
      },
      [token](result<>) { ADD_FAILURE(); }));
  for (int i = 0; i < 3; ++i) {
    // The first of them that is dropped lets the running one go.
    struct opener {
      gate* door;
      explicit opener(gate& d) : door{&d} {}
      opener(opener&& other) noexcept : door{std::exchange(other.door, nullptr)} {}
      ~opener() {
        if (door != nullptr) door->open();
      }
    };
    ASSERT_TRUE(
        blocking(rt, color{1}, [token, o = opener{door}] { ADD_FAILURE(); }, [token](result<>) { ADD_FAILURE(); }));
  }
  rt.run_for(std::chrono::nanoseconds{0});  // jobs begin with the first run
  door.wait_for(1);
  const drained end = rt.drain(std::chrono::nanoseconds{0});
  EXPECT_TRUE(ran.load(std::memory_order_relaxed));
  EXPECT_FALSE(end.complete);
  EXPECT_EQ(end.destroyed, 4u) << "three that waited, and the completion of the one that ran";
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(blocking_calls, begin_with_the_first_run) {
  runtime rt{with()};
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, std::filesystem::directory_iterator{});
  };
  const auto before = threads();
  int got = 0;
  blocking(rt, color{1}, [] { return 5; }, [&](result<int> value) { got = *value; });
  EXPECT_LE(threads(), before) << "contract 14: a runtime starts no thread before run()";
  rt.run_until_idle();
  EXPECT_EQ(got, 5);
}

using blocking_calls_that_are_wrong = blocking_calls;
INSTANTIATE_TEST_SUITE_P(workers, blocking_calls_that_are_wrong, ::testing::Values(1u, 2u, 4u));

TEST_P(blocking_calls_that_are_wrong, end_the_program_outside_of_events_if_no_runtime_is_named) {
  EXPECT_DEATH(blocking(
                   color{1}, [] {}, [](result<>) {}),
               "tartan::blocking was called outside of any event, at .*blocking_test.cpp");
}

TEST_P(blocking_calls_that_are_wrong, end_the_program_with_color_and_place_if_nobody_handles_the_exception) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto throws = [this] {
    runtime rt{with()};
    rt.name(color{9}, "files");
    blocking(rt, color{9}, [] { throw std::runtime_error{"disk gone"}; }, [](result<>) {});
    rt.run_until_idle();
  };
  EXPECT_DEATH(throws(),
               "exception left an event of color 9 \"files\", posted at .*blocking_test.cpp:[0-9]+ .*disk gone");
}

TEST_P(blocking_calls_that_are_wrong, end_a_drain_that_cannot_end_with_the_place_of_the_job) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto stuck = [this] {
    options o = with();
    o.drain_within = std::chrono::nanoseconds{0};
    runtime rt{o};
    gate door;
    blocking(rt, color{9}, [&] { door.pass(); }, [](result<>) {});
    rt.run_for(std::chrono::nanoseconds{0});
    door.wait_for(1);
    rt.drain(std::chrono::nanoseconds{0});
  };
  EXPECT_DEATH(stuck(), "blocking job does not end.*goes to color 9, and it was handed in at .*blocking_test.cpp:[0-9]+");
}

// By the virtual clock: a drain that waited for its time twice would leave that clock, and wait for an hour of the real one.
TEST_P(blocking_calls_that_are_wrong, end_a_drain_after_the_longer_of_its_two_times) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto stuck = [this] {
    test::virtual_poller clock;
    options o = with();
    o.poller = &clock;
    o.drain_within = std::chrono::hours{1};
    runtime rt{o};
    rt.name(color{9}, "files");
    gate door;
    blocking(
        rt, color{9},
        [&] {
          test::spin_until([&] { return rt.stopped(); });
          for (;;) clock.advance(std::chrono::minutes{1});
        },
        [](result<>) {});
    for (int n = 0; n < 2; ++n) blocking(rt, color{9}, [&] { door.pass(); }, [](result<>) {});
    rt.run_for(std::chrono::nanoseconds{0});
    door.wait_for(2);
    rt.drain(std::chrono::hours{1});
  };
  EXPECT_DEATH(stuck(), "goes to color 9 \"files\", and it was handed in at .*; 2 more do not end either, handed in at .*blocking_test.cpp");
}

}  // namespace
}  // namespace tartan
