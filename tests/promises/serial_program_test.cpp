// Contract 4: a program that names no color runs one event at a time, in order.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <tartan/core/event_batch.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/yield.h>
#include <thread>
#include <vector>

#include "tests/workers.h"

namespace tartan {
namespace {

using test::rounds;

class serial_program : public test::on_workers {};
class pinned_default_color : public test::on_workers {};

TEST_P(serial_program, runs_one_event_at_a_time_and_in_order_without_naming_a_color) {
  runtime rt{settings()};
  std::vector<unsigned> ran;
  const unsigned count = rounds(300);
  bool inside = false;
  bool met = false;
  for (unsigned n = 0; n < count; ++n) {
    rt.post([&, n] {
      met = met || inside;
      inside = true;
      ran.push_back(n);
      std::this_thread::yield();
      inside = false;
      post([&, n] { ran.push_back(count + n); });
    });
  }
  rt.run_until_idle();
  EXPECT_FALSE(met);
  ASSERT_EQ(ran.size(), 2 * count);
  for (unsigned n = 0; n < 2 * count; ++n) EXPECT_EQ(ran[n], n);
}

TEST_P(serial_program, stays_right_when_a_library_beside_it_uses_colors) {
  runtime rt{settings()};
  unsigned long sum = 0;
  const unsigned count = rounds(500);
  for (unsigned n = 1; n <= count; ++n) {
    rt.post(color{n}, [&sum, n] {
      post([&sum, n] { sum += n; });  // the serial part: no color, no lock
    });
  }
  rt.run_until_idle();
  EXPECT_EQ(sum, static_cast<unsigned long>(count) * (count + 1) / 2);
}

TEST_P(serial_program, of_coroutines_runs_one_at_a_time_and_others_only_where_one_waits) {
  runtime rt{settings()};
  const unsigned count = rounds(100);
  unsigned steps = 0;  // plain: no coroutine names a color
  bool inside = false;
  bool met = false;
  for (unsigned n = 0; n < 10; ++n) {
    rt.spawn([&]() -> task<> {
      for (unsigned step = 0; step < count; ++step) {
        met = met || inside;
        inside = true;
        std::this_thread::yield();
        ++steps;
        inside = false;
        co_await yield();  // the color is free here
      }
    });
  }
  rt.run_until_idle();
  EXPECT_FALSE(met);
  EXPECT_EQ(steps, 10 * count);
}

TEST_P(serial_program, takes_posts_of_foreign_threads_one_at_a_time) {
  runtime rt{settings()};
  unsigned long count = 0;
  const unsigned each = rounds(2000);
  std::vector<std::thread> outside;
  std::atomic<unsigned> busy{3};
  for (unsigned t = 0; t < 3; ++t) {
    outside.emplace_back([&] {
      for (unsigned n = 0; n < each; ++n) rt.post([&count] { ++count; });
      if (busy.fetch_sub(1) == 1) rt.stop();
    });
  }
  rt.run();
  for (std::thread& t : outside) t.join();
  EXPECT_EQ(count, 3ul * each);
}

options pinned(options with) {
  with.pin_default_color = true;
  return with;
}

TEST_P(pinned_default_color, keeps_the_thread_that_called_run) {
  runtime rt{pinned(settings())};
  const std::thread::id caller = std::this_thread::get_id();
  unsigned here = 0;
  unsigned elsewhere = 0;
  const unsigned count = rounds(300);
  const auto note = [&] { ++(std::this_thread::get_id() == caller ? here : elsewhere); };
  std::thread outside{[&] {
    for (unsigned n = 0; n < count; ++n) {
      rt.post(note);
      rt.post(color{n % 9 + 1}, [&rt, &note] {
        std::this_thread::yield();
        rt.post(note);
        post(color{100}, [&rt, &note] { rt.post(note); });
      });
    }
    rt.stop();
  }};
  EXPECT_EQ(rt.run(), 0);
  outside.join();
  EXPECT_EQ(here, 3 * count);
  EXPECT_EQ(elsewhere, 0u);
}

TEST_P(pinned_default_color, keeps_its_order_and_its_thread_in_every_run) {
  runtime rt{pinned(settings())};
  for (unsigned round = 0; round < rounds(50); ++round) {
    const std::thread::id caller = std::this_thread::get_id();
    std::vector<unsigned> ran;
    for (unsigned n = 0; n < 10; ++n) {
      rt.post(color{n + 1}, [] { std::this_thread::yield(); });
      rt.post([&ran, n, caller] {
        if (std::this_thread::get_id() == caller) ran.push_back(n);
      });
    }
    rt.run_until_idle();
    ASSERT_EQ(ran, (std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  }
}

/// The other colors never run dry before the pinned one is through, and the pinned one not before they are.
TEST_P(pinned_default_color, neither_starves_nor_is_starved) {
  runtime rt{pinned(settings())};
  constexpr unsigned chains = 24;
  unsigned pinned_left = rounds(500);
  std::array<unsigned, chains> served{};
  std::atomic<bool> pinned_done{false};
  std::atomic<unsigned> fed{0};
  std::function<void(unsigned)> chain = [&](unsigned k) {
    if (++served[k] == 20) fed.fetch_add(1);
    if (!pinned_done.load()) post(color{k + 1}, [&chain, k] { chain(k); });
  };
  std::function<void()> serial = [&] {
    if (pinned_left != 0) --pinned_left;
    if (pinned_left == 0 && fed.load() == chains) {
      pinned_done.store(true);
    } else {
      post([&serial] { serial(); });
    }
  };
  for (unsigned k = 0; k < chains; ++k) rt.post(color{k + 1}, [&chain, k] { chain(k); });
  rt.post([&serial] { serial(); });
  rt.run_until_idle();
  EXPECT_EQ(pinned_left, 0u);
  for (const unsigned each : served) EXPECT_GE(each, 20u);
}

INSTANTIATE_TEST_SUITE_P(workers, serial_program, testing::ValuesIn(test::worker_counts()), test::worker_name);
INSTANTIATE_TEST_SUITE_P(workers, pinned_default_color, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
