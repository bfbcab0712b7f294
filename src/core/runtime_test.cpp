#include <tartan/core/runtime.h>

#include <gtest/gtest.h>

#include <poll.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <tartan/core/post.h>
#include <tartan/core/shutdown.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <thread>
#include <utility>
#include <vector>

#include "core/cpus.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

class a_runtime : public test::on_workers {};

/// What the constructor says to options that cannot be.
template <class Change>
std::string refusal(Change change) {
  options with;
  with.workers = 1;
  change(with);
  try {
    const runtime rt{with};
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}

TEST(options, out_of_range_are_refused_by_name) {
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has(refusal([](options& o) { o.workers = 1025; }), "workers: 1025"));
  EXPECT_TRUE(has(refusal([](options& o) { o.batch = 0; }), "batch: 0"));
  EXPECT_TRUE(has(refusal([](options& o) { o.batch = 65537; }), "batch: 65537"));
  EXPECT_TRUE(has(refusal([](options& o) { o.blocking_threads = 0; }), "blocking_threads: 0"));
  EXPECT_TRUE(has(refusal([](options& o) { o.drain_within = -1ns; }), "drain_within: negative"));
  EXPECT_TRUE(has(refusal([](options& o) { o.stall_after = -1ns; }), "stall_after: negative"));
}

TEST(options, at_the_ends_of_their_ranges_are_accepted) {
  EXPECT_EQ(refusal([](options& o) { o.workers = 1024; }), "accepted");
  EXPECT_EQ(refusal([](options& o) { o.batch = 65536; }), "accepted");
  EXPECT_EQ(refusal([](options& o) { o.stall_after = 0ns; }), "accepted");
  EXPECT_EQ(refusal([](options& o) { o.drain_within = std::chrono::nanoseconds::max(); }), "accepted");
  EXPECT_EQ(refusal([](options& o) { o.blocking_queue = 0; }), "accepted");
}

TEST(options, without_a_number_of_workers_mean_one_for_each_cpu_that_may_be_used) {
  const runtime rt;
  EXPECT_EQ(rt.workers(), detail::usable_cpus());
  EXPECT_GE(rt.workers(), 1u);
}

TEST_P(a_runtime, has_as_many_workers_as_was_said_and_each_has_a_thread_of_its_own) {
  const std::size_t threads_before = test::threads();
  runtime rt{settings()};
  EXPECT_EQ(rt.workers(), GetParam());
  rt.run_until_idle();
  EXPECT_GE(test::threads(), threads_before + GetParam() - 1);
}

TEST_P(a_runtime, calls_the_hooks_once_on_each_workers_thread_around_all_its_events) {
  std::mutex lock;
  std::set<unsigned> started;
  std::set<unsigned> stopped;
  std::set<std::thread::id> threads;
  options with = settings();
  with.on_worker_start = [&](unsigned n) {
    const std::lock_guard hold{lock};
    EXPECT_TRUE(started.insert(n).second);
    EXPECT_TRUE(threads.insert(std::this_thread::get_id()).second);
  };
  with.on_worker_stop = [&](unsigned n) {
    const std::lock_guard hold{lock};
    EXPECT_TRUE(stopped.insert(n).second);
    EXPECT_EQ(threads.count(std::this_thread::get_id()), 1u);
  };
  {
    runtime rt{with};
    EXPECT_TRUE(started.empty());
    for (unsigned round = 0; round < 3; ++round) {
      for (unsigned n = 0; n < 100; ++n) {
        rt.post(color{n + 1}, [&] {
          const std::lock_guard hold{lock};
          EXPECT_EQ(threads.count(std::this_thread::get_id()), 1u);
          EXPECT_TRUE(stopped.empty());
        });
      }
      rt.run_until_idle();
      EXPECT_EQ(started.size(), GetParam());
    }
  }
  EXPECT_EQ(stopped.size(), GetParam());
}

TEST_P(a_runtime, counts_the_events_that_it_has_run) {
  runtime rt{settings()};
  for (unsigned n = 0; n < 100; ++n) {
    rt.post(color{n % 10}, [] { post(color::unordered, [] {}); });
  }
  EXPECT_EQ(rt.counters().events, 0u);
  rt.run_until_idle();
  EXPECT_EQ(rt.counters().events, 200u);
  EXPECT_GT(rt.counters().turns, 0u);
}

TEST_P(a_runtime, knows_names_of_colors_until_they_are_changed) {
  runtime rt{settings()};
  EXPECT_EQ(rt.name_of(color{7}), "");
  rt.name(color{7}, "sessions");
  rt.name(color{}, "main loop");
  EXPECT_EQ(rt.name_of(color{7}), "sessions");
  EXPECT_EQ(rt.name_of(color{}), "main loop");
  rt.name(color{7}, "old sessions");
  EXPECT_EQ(rt.name_of(color{7}), "old sessions");
}

TEST_P(a_runtime, runs_beside_another_one) {
  runtime first{settings()};
  runtime second{settings()};
  std::atomic<unsigned> ran{0};
  for (unsigned n = 0; n < 100; ++n) {
    first.post(color{n}, [&, n] { second.post(color{n}, [&] { ran.fetch_add(1); }); });
    second.post(color{n}, [&, n] { first.post(color{n}, [&] { ran.fetch_add(1); }); });
  }
  std::thread other{[&] { second.run(); }};
  first.run_until_idle();
  second.post([&] { second.stop(); });
  other.join();
  first.run_until_idle();
  EXPECT_EQ(ran.load(), 200u);
}

TEST_P(a_runtime, may_be_run_by_one_thread_after_the_other) {
  runtime rt{settings()};
  unsigned ran = 0;
  for (unsigned n = 0; n < 5; ++n) {
    rt.post([&] { ++ran; });
    std::thread{[&] { rt.run_until_idle(); }}.join();
    rt.post([&] { ++ran; });
    rt.run_until_idle();
  }
  EXPECT_EQ(ran, 10u);
}

TEST_P(a_runtime, gives_everybody_a_turn_without_stealing) {
  options with = settings();
  with.stealing = false;
  runtime rt{with};
  std::atomic<unsigned> ran{0};
  rt.run_until_idle();
  for (unsigned n = 1; n <= 100; ++n) {
    rt.post(color{n}, [&] { ran.fetch_add(1); });
    if (n % 3 == 0) rt.post(color::unordered, [&] { post(color{7}, [&] { ran.fetch_add(1); }); });
    rt.run_until_idle();
  }
  EXPECT_EQ(ran.load(), 133u);
  EXPECT_EQ(rt.counters().steals, 0u);
}

TEST_P(a_runtime, runs_with_workers_bound_to_cpus) {
  options with = settings();
  with.bind_workers = true;
  std::atomic<unsigned> ran{0};
  std::thread{[&] {  // the binding of worker 0 stays with this thread
    runtime rt{with};
    for (unsigned n = 0; n < 100; ++n) rt.post(color{n}, [&] { ran.fetch_add(1); });
    rt.run_until_idle();
  }}
      .join();
  EXPECT_EQ(ran.load(), 100u);
}

bool readable(int descriptor) {
  pollfd one{descriptor, POLLIN, 0};
  return ::poll(&one, 1, 0) == 1;
}

TEST_P(a_runtime, has_a_descriptor_that_is_readable_just_while_run_for_0_would_find_something) {
  runtime rt{settings()};
  strand s{rt, "embedded"};
  const int descriptor = rt.descriptor();
  EXPECT_EQ(rt.descriptor(), descriptor);
  EXPECT_FALSE(readable(descriptor));
  for (unsigned round = 0; round < test::rounds(50); ++round) {
    std::atomic<unsigned> ran{0};
    const auto count = [&ran] { ran.fetch_add(1); };
    unsigned expected = 1;
    switch (round % 5) {
      case 0:
        rt.post(count);
        break;
      case 1:
        rt.post(color{round + 1}, count);
        break;
      case 2:
        s.post(count);
        break;
      case 3:
        std::thread{[&] { rt.post(color::unordered, count); }}.join();
        break;
      default:
        expected = 2;
        rt.post(color{round}, [&] {
          count();
          post(color{round + 100}, count);
        });
    }
    for (unsigned looks = 0; ran.load() != expected; ++looks) {
      ASSERT_TRUE(readable(descriptor));
      ASSERT_LT(looks, 1000u);
      rt.run_for(0ns);
    }
    ASSERT_FALSE(readable(descriptor));
    ASSERT_EQ(rt.run_for(0ns), 0u);
    ASSERT_FALSE(readable(descriptor));
  }
}

TEST_P(a_runtime, shows_a_shutdown_to_a_loop_that_waits_for_the_descriptor) {
  runtime rt{settings()};
  bool heard = false;
  rt.spawn_in(color{1}, [&]() -> task<> { heard = (co_await shutdown_begun()).has_value(); }).detach();
  const int descriptor = rt.descriptor();
  while (readable(descriptor)) rt.run_for(0ns);
  rt.shutdown(std::chrono::hours{1});
  EXPECT_TRUE(readable(descriptor));
  while (readable(descriptor)) rt.run_for(0ns);
  EXPECT_TRUE(heard);
  EXPECT_TRUE(rt.stopped());
}

TEST_P(a_runtime, shows_a_shutdown_that_was_called_before_the_descriptor_was_asked_for) {
  runtime rt{settings()};
  rt.shutdown(std::chrono::hours{1});
  EXPECT_TRUE(readable(rt.descriptor()));
  rt.run_for(0ns);
  EXPECT_TRUE(rt.stopped());
  EXPECT_FALSE(readable(rt.descriptor()));
}

TEST_P(a_runtime, shows_what_was_posted_before_the_descriptor_was_asked_for) {
  runtime rt{settings()};
  rt.post(color{3}, [] {});
  EXPECT_TRUE(readable(rt.descriptor()));
}

TEST(run_for_0, on_one_worker_runs_all_that_is_ready) {
  options with;
  with.workers = 1;
  runtime rt{with};
  unsigned ran = 0;
  for (unsigned n = 0; n < 100; ++n) {
    rt.post(color{n}, [&] {
      ++ran;
      post(color{5}, [&] { ++ran; });
    });
  }
  EXPECT_EQ(rt.run_for(0ns), 200u);
  EXPECT_EQ(ran, 200u);
}

TEST(run_for_0, returns_although_events_post_for_ever) {
  options with;
  with.workers = 1;
  runtime rt{with};
  struct chain {
    void step() {
      post([this] { step(); });
    }
  };
  chain forever;
  rt.post([&] { forever.step(); });
  EXPECT_GT(rt.run_for(0ns), 0u);
  EXPECT_GT(rt.run_for(0ns), 0u);
  EXPECT_EQ(rt.drain(0ns).destroyed, 1u);
}

INSTANTIATE_TEST_SUITE_P(workers, a_runtime, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
