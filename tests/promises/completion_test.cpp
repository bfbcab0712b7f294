// Contract 12: when a callback is called, and when a coroutine's operation may complete without a queue.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <tartan/core/blocking.h>
#include <tartan/core/channel.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/spawn.h>
#include <tartan/core/yield.h>
#include <tartan/time/post_after.h>
#include <vector>

#include "tests/virtual_time.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class a_callback : public test::on_workers {};
class a_coroutines_operation : public test::on_workers {};

TEST_P(a_callback, is_never_called_before_the_function_that_was_given_it_returns) {
  test::virtual_poller clock;
  options with = settings();
  with.poller = &clock;
  with.stall_after = {};
  runtime rt{with};
  bool inside = false;
  unsigned called = 0;
  const auto callback = [&] {
    EXPECT_FALSE(inside);
    ++called;
  };
  const auto completion = [&](result<void>) { callback(); };
  const auto give_it_away = [&] {
    inside = true;
    post(color{1}, callback);
    post_after(color{1}, 0ns, completion);
    post_at(color{1}, rt.now() - 1h, completion);
    EXPECT_TRUE(blocking(color{1}, [] {}, completion));
    inside = false;
  };
  rt.post(color{1}, give_it_away);
  rt.run_until_idle();
  EXPECT_EQ(called, 4u);
  rt.post(color{1}, [&] {
    rt.stop();
    give_it_away();  // what completes at once as canceled does not do so here
  });
  rt.drain(1h);
  EXPECT_EQ(called, 8u);
}

TEST_P(a_coroutines_operation, completes_at_once_if_nobody_else_waits_for_the_same) {
  runtime rt{settings()};
  channel<int> values{capacity{2}};
  std::string ran;
  rt.spawn_in(color{1}, [&]() -> task<> {
    post(color{1}, [&] { ran += 'p'; });
    (void)co_await values.send(1);
    (void)co_await values.receive();
    ran += 'c';
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, "cp");
}

TEST_P(a_coroutines_operation, does_not_overtake_another_one_that_waits_for_the_same) {
  runtime rt{settings()};
  semaphore permits{1};
  std::string ran;
  const auto enter = [&](char name, bool gives_up_at_once) -> task<> {
    for (int n = 0; n < 3; ++n) {
      {
        auto permit = co_await permits.acquire();
        ran += name;
        if (!gives_up_at_once) co_await yield();
      }
      // Somebody waits for the permit that was just given back: whoever asks again at once comes after that one.
    }
  };
  rt.post(color{1}, [&] {
    spawn_in(color{1}, enter, 'a', false);
    spawn_in(color{1}, enter, 'b', true);
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, "ababab");
}

TEST_P(a_coroutines_operation, completes_at_once_64_times_in_one_event_and_then_goes_to_the_back_of_its_color) {
  runtime rt{settings()};
  semaphore permits{1};
  unsigned acquired = 0;
  std::vector<unsigned> seen_by_others;
  rt.spawn_in(color{1}, [&]() -> task<> {
    std::function<void()> look = [&] {
      seen_by_others.push_back(acquired);
      if (acquired < 200) post(color{1}, [&look] { look(); });
    };
    post(color{1}, [&look] { look(); });
    while (acquired < 200) {
      auto permit = co_await permits.acquire();
      ++acquired;
    }
    co_await yield();
  });
  rt.run_until_idle();
  ASSERT_GE(seen_by_others.size(), 4u);
  for (unsigned n = 0; n < 3; ++n) EXPECT_LE(seen_by_others[n], 65 * (n + 1));
  EXPECT_GE(seen_by_others[0], 64u) << "no queue before that";
}

TEST_P(a_coroutines_operation, called_yield_always_goes_to_the_back_of_its_color) {
  runtime rt{settings()};
  std::string ran;
  rt.spawn_in(color{1}, [&]() -> task<> {
    for (char c = 'a'; c < 'd'; ++c) {
      post(color{1}, [&ran, c] { ran += c; });
      ran += '-';
      co_await yield();
    }
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, "-a-b-c");
}

INSTANTIATE_TEST_SUITE_P(workers, a_callback, testing::ValuesIn(test::worker_counts()), test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, a_coroutines_operation, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
