/// What docs/guide/life.md shows; tests/docs/check finds its code blocks here.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <tartan/tartan.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

tartan::options with_workers(unsigned number) {
  tartan::options with;
  with.workers = number;
  return with;
}

/// Stands for a handler's look at a file.
void read_from_a_slow_disk() {}

int serve(tartan::runtime& rt) {
  rt.stop_on({SIGINT, SIGTERM});
  return rt.run();  // until a signal; then what is left has 10 seconds
}

TEST(life_guide, the_caller_is_worker_0) {
  std::string said;
  tartan::runtime rt;                              // starts no thread
  rt.post([&] { said = "hello"; });                // waits
  rt.run_until_idle();                             // starts the workers; this thread is worker 0
  EXPECT_EQ(said, "hello");
}

TEST(life_guide, the_number_of_workers_changes_while_events_run) {
  std::atomic<int> served = 0;
  tartan::options with;
  with.workers = 2;       // at the beginning
  with.max_workers = 16;  // at any time
  tartan::runtime rt{with};
  rt.post([&] {
    rt.set_workers(16);   // from an event, or from any other thread
    for (unsigned client = 1; client <= 64; ++client) {
      tartan::post(tartan::color{client}, [&] { read_from_a_slow_disk(), ++served; });
    }
  });
  rt.run_until_idle();
  EXPECT_EQ(served, 64);
  EXPECT_EQ(rt.workers(), 16u);
}

TEST(life_guide, workers_follow_the_cpus) {
  tartan::options with;
  with.follow_cpus = true;
  tartan::runtime rt{with};
  EXPECT_GE(rt.workers(), 1u);
}

TEST(life_guide, what_cannot_be_set_says_so) {
  tartan::options with;
  with.workers = 2;
  with.max_workers = 16;
  tartan::runtime rt{with};
  try {
    rt.set_workers(17);
    FAIL();
  } catch (const std::invalid_argument& refused) {
    EXPECT_STREQ(refused.what(), "tartan::runtime::set_workers: 17, but it must be 1 to options.max_workers, 16");
  }
  EXPECT_EQ(rt.workers(), 2u);
}

TEST(life_guide, a_signal_stops_the_server) {
  tartan::runtime rt;
  rt.post([] { ::raise(SIGTERM); });
  EXPECT_EQ(serve(rt), 0);
}

TEST(life_guide, run_until_idle_and_run_for_can_be_called_again) {
  int ran = 0;
  tartan::runtime rt;
  for (int round = 0; round < 3; ++round) {
    rt.post([&] { ++ran; });
    rt.run_until_idle();
    rt.post([&] { ++ran; });
    EXPECT_EQ(rt.run_for(std::chrono::nanoseconds{0}), 1u);
  }
  EXPECT_EQ(ran, 6);
}

std::string read_line() { return "hello"; }

TEST(life_guide, a_work_guard_waits_for_a_thread_that_posts_later) {
  std::string said;
  tartan::runtime rt;
  std::thread reader{[&, guard = tartan::work_guard{rt}]() mutable {
    const std::string line = read_line();           // may take its time
    rt.post([&, line] { said = line; });
    guard.reset();                                  // or the guard's destructor
  }};
  rt.run_until_idle();                              // returns after the line was dealt with
  reader.join();
  EXPECT_EQ(said, "hello");
}

TEST(life_guide, after_a_stop_only_events_may_post) {
  bool foreign = true, from_event = false;
  tartan::runtime rt;
  rt.post([&] { from_event = tartan::post([] {}); });
  rt.stop();
  foreign = rt.post([] {});
  EXPECT_EQ(rt.run(), 0);
  EXPECT_FALSE(foreign);
  EXPECT_TRUE(from_event);
}

TEST(life_guide, a_drain_says_how_much_it_destroyed) {
  tartan::runtime rt;
  const tartan::drained end = rt.drain(std::chrono::seconds{5});
  if (!end.complete) std::fprintf(stderr, "%zu were left\n", end.destroyed);
  EXPECT_TRUE(end.complete);

  tartan::runtime other;
  other.post([] {});
  EXPECT_EQ(other.drain(std::chrono::seconds{0}).destroyed, 1u);
}

TEST(life_guide, a_run_until_idle_tells_who_waits_for_ever) {
  tartan::runtime rt;
  tartan::semaphore none{0};
  rt.spawn([&]() -> tartan::task<> { static_cast<void>(co_await none.acquire()); }).detach();
  rt.run_until_idle();
  testing::internal::CaptureStdout();
  for (const tartan::waiting_coroutine& each : rt.waiting()) {
    std::printf("%s:%u waits for %s\n", each.spawned_at.file_name(), each.spawned_at.line(), each.waits_for.c_str());
  }
  EXPECT_NE(testing::internal::GetCapturedStdout().find(" waits for a semaphore"), std::string::npos);
  rt.drain(std::chrono::seconds{1});
}

TEST(life_guide, another_loop_waits_for_the_descriptor) {
  std::string said;
  tartan::runtime rt{with_workers(1)};
  pollfd tartan_side{rt.descriptor(), POLLIN, 0};
  tartan::post_after(rt, std::chrono::milliseconds{1}, [&] { said = "tick"; });
  while (said.empty()) {
    ::poll(&tartan_side, 1, -1);  // and the loop's own descriptors
    rt.run_for(std::chrono::nanoseconds{0});
  }
  EXPECT_EQ(said, "tick");
}

TEST(life_guide, an_option_out_of_its_range_says_so) {
  try {
    tartan::runtime rt{with_workers(2000)};
    FAIL();
  } catch (const std::invalid_argument& refused) {
    EXPECT_STREQ(refused.what(), "tartan::options::workers: 2000, but 1024 is the maximum");
  }
}

}  // namespace
