// Contract 14: a graceful shutdown. Stops, drains and signals: stop_test.cpp.

#include <gtest/gtest.h>
#include <signal.h>
#include <tartan/tartan.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <tartan/io/directory_watch.h>
#include <thread>
#include <utility>
#include <vector>

#include "tests/temporary_folder.h"
#include "tests/virtual_time.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

/// By the virtual clock, unless a test needs the kernel.
class a_shutdown : public test::on_workers {
 protected:
  options virtual_time() {
    options with = settings();
    with.poller = &clock;
    with.stall_after = {};
    return with;
  }
  /// Since the runtime was made, or the last call, in whole seconds: a timer's tick is less.
  [[nodiscard]] std::chrono::seconds passed() {
    const std::uint64_t now = clock.now_ns();
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::nanoseconds{now - std::exchange(last_ns_, now)});
  }

  test::virtual_poller clock;

 private:
  std::uint64_t last_ns_ = clock.now_ns();
};
INSTANTIATE_TEST_SUITE_P(workers, a_shutdown, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(a_shutdown, returns_as_soon_as_nothing_is_left) {
  runtime rt{virtual_time()};
  bool slept = false;
  rt.spawn_in(color{2}, [&]() -> task<> { slept = (co_await sleep(3s)).has_value(); }).detach();
  rt.post([&] { rt.shutdown(10s); });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_TRUE(slept) << "what is under way goes on";
  EXPECT_EQ(passed(), 3s);
  EXPECT_TRUE(rt.stopped());
}

TEST_P(a_shutdown, cancels_what_is_left_when_its_time_has_passed) {
  runtime rt{virtual_time()};
  channel<int> silent{capacity{1}};
  std::error_code ended;
  rt.spawn_in(color{1}, [&]() -> task<> { ended = (co_await silent.receive()).error(); }).detach();
  rt.spawn_in(color{2}, [&]() -> task<> {
    auto job = [&] {
      while (!rt.stopped()) clock.advance(1s);
    };
    co_await blocking(job);
  }).detach();
  rt.post([&] { rt.shutdown(10s); });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(ended, errc::canceled);
  EXPECT_GE(passed(), 10s);
}

TEST_P(a_shutdown, does_not_wait_for_timers_that_are_due_after_its_time) {
  runtime rt{virtual_time()};
  std::optional<std::error_code> told;
  post_after(rt, color{1}, 1h, [&](result<> outcome) { told = outcome.error(); });
  rt.spawn_in(color{2}, []() -> task<> { static_cast<void>(co_await sleep(2s)); }).detach();
  rt.shutdown(10s);
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(told, make_error_code(errc::canceled));
  EXPECT_EQ(passed(), 2s);
}

TEST_P(a_shutdown, ends_intervals_at_once_and_lets_timers_fire) {
  runtime rt{virtual_time()};
  int ticks = 0;
  std::error_code last;
  bool fired = false;
  timer mine{rt, color{3}};
  rt.spawn_in(color{2}, [&]() -> task<> {
    interval every{1s};
    for (;;) {
      const result<std::uint64_t> tick = co_await every.next();
      last = tick.error();
      if (!tick) break;
      if (++ticks == 3) rt.shutdown(10s);
    }
    EXPECT_EQ((co_await every.next()).error(), errc::canceled) << "also later";
  }).detach();
  rt.post(color{3}, [&] { mine.set(5s, [&] { fired = true; }); });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(ticks, 3);
  EXPECT_EQ(last, errc::canceled);
  EXPECT_TRUE(fired);
  EXPECT_EQ(passed(), 5s);
}

TEST_P(a_shutdown, ends_an_interval_that_waits_in_a_branch) {
  runtime rt{virtual_time()};
  std::error_code ended;
  rt.spawn_in(color{2}, [&]() -> task<> {
    interval every{1h};
    ended = (co_await with_timeout(24h, every.next())).error();
  }).detach();
  rt.run_for(0ns);
  rt.shutdown(10h);
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(ended, errc::canceled);
  EXPECT_EQ(passed(), 0s);
}

TEST_P(a_shutdown, is_heard_by_coroutines) {
  runtime rt{virtual_time()};
  std::array<std::optional<std::error_code>, 3> heard;
  bool seen_before = true, seen_after = false;
  rt.spawn_in(color{1}, [&]() -> task<> { heard[0] = (co_await shutdown_begun()).error(); }).detach();
  rt.spawn_in(color{2}, [&]() -> task<> { heard[1] = (co_await until_shutdown(sleep(5s))).error(); }).detach();
  rt.run_for(0ns);
  rt.spawn_in(color{3}, [&]() -> task<> {
    seen_before = shutting_down();
    rt.shutdown(10s);
    seen_after = shutting_down();
    heard[2] = (co_await shutdown_begun()).error();
    EXPECT_EQ((co_await until_shutdown(sleep(5s))).error(), errc::canceled) << "asked to end when it waits";
  }).detach();
  EXPECT_FALSE(rt.shutting_down());
  EXPECT_EQ(rt.run(), 0);
  EXPECT_TRUE(rt.shutting_down());
  EXPECT_FALSE(seen_before);
  EXPECT_TRUE(seen_after);
  EXPECT_EQ(heard[0], std::error_code{});
  EXPECT_EQ(heard[1], make_error_code(errc::canceled));
  EXPECT_EQ(heard[2], std::error_code{});
  EXPECT_EQ(passed(), 0s);
}

TEST_P(a_shutdown, is_not_what_a_stop_is_to_coroutines) {
  runtime rt{virtual_time()};
  std::error_code heard;
  rt.spawn_in(color{1}, [&]() -> task<> { heard = (co_await shutdown_begun()).error(); }).detach();
  rt.run_for(0ns);
  rt.stop();
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(heard, errc::canceled);
}

task<int> give_after(std::chrono::seconds time, int value) {
  static_cast<void>(co_await sleep(time));
  co_return value;
}
task<> nap_for(std::chrono::seconds time) { static_cast<void>(co_await sleep(time)); }

TEST_P(a_shutdown, leaves_what_ends_before_it_as_it_is) {
  runtime rt{virtual_time()};
  rt.spawn_in(color{1}, []() -> task<> {
    const result<int> five = co_await until_shutdown(give_after(1s, 5));
    EXPECT_EQ(five.value_or(0), 5);
    EXPECT_TRUE(co_await until_shutdown(nap_for(1s)));
  }).detach();
  rt.run_until_idle();
  EXPECT_EQ(passed(), 2s);
  rt.spawn_in(color{1}, [&]() -> task<> {
    rt.shutdown(10s);
    EXPECT_EQ((co_await until_shutdown(give_after(1s, 5))).error(), errc::canceled);
    EXPECT_EQ((co_await until_shutdown(nap_for(1s))).error(), errc::canceled);
  }).detach();
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(passed(), 0s);
}

TEST_P(a_shutdown, keeps_no_run_going_for_who_waits_for_it) {
  runtime rt{virtual_time()};
  rt.spawn_in(color{1}, []() -> task<> { static_cast<void>(co_await shutdown_begun()); }).detach();
  rt.run_until_idle();
  EXPECT_EQ(rt.waiting().size(), 1u);
  rt.shutdown(1s);
  EXPECT_EQ(rt.run(), 0);
}

TEST_P(a_shutdown, takes_posts_of_foreign_threads_until_it_stops) {
  runtime rt{settings()};
  std::atomic<bool> began{false};
  bool ran = false;
  bool accepted = false;
  std::thread outside;
  rt.spawn_in(color{1}, [&]() -> task<> {
    rt.shutdown(1h);
    co_await yield();
    auto job = [&] { test::spin_until([&] { return began.load(); }); };
    outside = std::thread{[&] {
      accepted = rt.post(color{2}, [&] { ran = true; });
      began = true;
    }};
    co_await blocking(job);
  }).detach();
  EXPECT_EQ(rt.run(), 0);
  outside.join();
  EXPECT_TRUE(accepted);
  EXPECT_TRUE(ran);
  EXPECT_FALSE(rt.post([] {})) << "after the stop";
}

TEST_P(a_shutdown, is_cut_short_by_a_stop) {
  runtime rt{virtual_time()};
  std::error_code ended;
  rt.spawn_in(color{1}, [&]() -> task<> { ended = (co_await sleep(1h)).error(); }).detach();
  rt.spawn_in(color{2}, [&]() -> task<> {
    rt.shutdown(2h);
    static_cast<void>(co_await sleep(5s));
    rt.stop();
  }).detach();
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(ended, errc::canceled);
  EXPECT_EQ(passed(), 5s);
}

TEST_P(a_shutdown, can_be_made_shorter_and_not_longer) {
  runtime rt{virtual_time()};
  std::error_code ended;
  rt.spawn_in(color{1}, [&]() -> task<> { ended = (co_await sleep(1h)).error(); }).detach();
  rt.spawn_in(color{2}, [&]() -> task<> {
    rt.shutdown(2h);
    static_cast<void>(co_await sleep(5s));
    rt.shutdown(10s);
    rt.shutdown(3h);
    static_cast<void>(co_await sleep(8s));
  }).detach();
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(ended, errc::canceled);
  EXPECT_EQ(passed(), 13s) << "what is due after the time is not waited for";
}

TEST_P(a_shutdown, of_no_time_is_a_stop) {
  runtime rt{virtual_time()};
  std::error_code ended;
  rt.spawn_in(color{1}, [&]() -> task<> { ended = (co_await sleep(1h)).error(); }).detach();
  rt.run_for(0ns);
  rt.shutdown(0s);
  EXPECT_TRUE(rt.stopped());
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(ended, errc::canceled);
}

TEST_P(a_shutdown, ends_a_run_until_idle_too) {
  runtime rt{virtual_time()};
  bool slept = false;
  rt.spawn_in(color{1}, [&]() -> task<> {
    rt.shutdown(10s);
    slept = (co_await sleep(3s)).has_value();
  }).detach();
  rt.run_until_idle();
  EXPECT_TRUE(slept);
  EXPECT_TRUE(rt.stopped());
}

TEST_P(a_shutdown, goes_on_over_several_runs_for_a_time) {
  runtime rt{virtual_time()};
  bool slept = false;
  rt.spawn_in(color{1}, [&]() -> task<> { slept = (co_await sleep(3s)).has_value(); }).detach();
  rt.shutdown(10s);
  rt.run_for(1s);
  EXPECT_FALSE(rt.stopped());
  EXPECT_EQ(passed(), 1s);
  rt.run_for(1s);
  EXPECT_FALSE(rt.stopped());
  rt.run_for(1h);
  EXPECT_TRUE(slept);
  EXPECT_TRUE(rt.stopped());
  EXPECT_EQ(passed(), 2s);
}

TEST_P(a_shutdown, goes_on_over_several_looks) {
  runtime rt{virtual_time()};
  std::error_code ended;
  rt.spawn_in(color{1}, [&]() -> task<> { ended = (co_await until_shutdown(sleep(3s))).error(); }).detach();
  rt.run_for(0ns);
  rt.shutdown(10s);
  while (!rt.stopped()) rt.run_for(0ns);
  EXPECT_EQ(ended, errc::canceled);
}

TEST_P(a_shutdown, closes_listeners_and_opens_none) {
  runtime rt{settings()};
  tcp::listener door = tcp::listen(rt, "127.0.0.1:0");
  std::error_code ended, refused;
  std::atomic<bool> waits{false};
  rt.spawn_in(door.color(), [&]() -> task<> {
    waits = true;
    ended = (co_await door.accept()).error();
    EXPECT_FALSE(door.is_open());
    refused = tcp::try_listen(rt, *address::parse("127.0.0.1:0")).error();
  }).detach();
  while (!waits) rt.run_for(0ns);
  rt.shutdown(1h);
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(ended, errc::canceled);
  EXPECT_EQ(refused, errc::canceled);
}

TEST_P(a_shutdown, ends_what_waits_for_signals_and_for_changes) {
  const test::temporary_folder folder;
  runtime rt{settings()};
  signal_set signals{rt, {SIGUSR2}};
  auto changes = directory_watch::open(rt, folder.path(), color{2});
  ASSERT_TRUE(changes);
  std::array<std::error_code, 4> ended;
  rt.spawn([&]() -> task<> {
    ended[0] = (co_await signals.next()).error();
    ended[1] = (co_await signals.next()).error();
  }).detach();
  rt.spawn_in(color{2}, [&]() -> task<> {
    ended[2] = (co_await changes->next()).error();
    ended[3] = (co_await changes->next()).error();
  }).detach();
  rt.run_for(0ns);
  rt.shutdown(1h);
  EXPECT_EQ(rt.run(), 0);
  for (const std::error_code& each : ended) EXPECT_EQ(each, errc::canceled);
}

TEST_P(a_shutdown, closes_an_idle_connection_that_asked_for_it) {
  runtime rt{settings()};
  auto ends = local::pair(rt, color{1}, color{2});
  ASSERT_TRUE(ends);
  std::error_code idle;
  bool seen_end = false;
  rt.spawn_in(color{1}, [&, wire = std::move(ends->first)]() mutable -> task<> {
    std::array<std::byte, 16> room{};
    idle = (co_await until_shutdown(wire.read_some(room))).error();
    wire.close();
  }).detach();
  rt.spawn_in(color{2}, [&, wire = std::move(ends->second)]() mutable -> task<> {
    std::array<std::byte, 16> room{};
    seen_end = (co_await wire.read_some(room)).error() == errc::end_of_stream;
  }).detach();
  rt.run_for(0ns);
  rt.shutdown(1h);
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(idle, errc::canceled);
  EXPECT_TRUE(seen_end);
}

constexpr std::size_t answer_bytes = 4 << 20;

task<> answer(tcp::stream peer, runtime& rt) {
  const std::string big(answer_bytes, 'x');
  rt.shutdown(1h);  // in the middle of everything
  EXPECT_TRUE(co_await peer.write(big));
}

/// Takes a little, lets others go first, and comes again.
task<> read_slowly(address from, std::size_t& got) {
  auto wire = co_await tcp::connect(from);
  EXPECT_TRUE(wire);
  std::array<std::byte, 4096> room{};
  for (;;) {
    const auto some = co_await wire->read_some(room);
    if (!some) break;
    got += *some;
    for (int turn = 0; turn < 3; ++turn) co_await yield();
  }
}

TEST_P(a_shutdown, delivers_the_whole_of_a_large_answer_to_a_slow_reader) {
  runtime server{settings()};
  tcp::listener door = tcp::listen(server, "127.0.0.1:0");
  const address at = *door.local_address();
  server.spawn_in(door.color(), [&]() -> task<> {
    for (;;) {
      auto peer = co_await door.accept();
      if (!peer) break;
      spawn_in(peer->color(), answer, std::move(*peer), std::ref(server)).detach();
    }
  }).detach();
  std::size_t got = 0;
  std::thread client{[&] {
    options with;
    with.workers = 1;
    runtime reader{with};
    reader.spawn(read_slowly, at, std::ref(got)).detach();
    reader.run_until_idle();
  }};
  EXPECT_EQ(server.run(), 0);
  client.join();
  EXPECT_EQ(got, answer_bytes);
}

TEST_P(a_shutdown, may_be_asked_for_by_a_signal) {
  runtime rt{virtual_time()};
  rt.shutdown_on({SIGUSR1}, 10s);
  std::vector<std::error_code> ended(2);
  rt.spawn_in(color{1}, [&]() -> task<> { ended[0] = (co_await sleep(3s)).error(); }).detach();
  rt.spawn_in(color{2}, [&]() -> task<> { ended[1] = (co_await until_shutdown(sleep(1h))).error(); }).detach();
  rt.post([] { ::raise(SIGUSR1); });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(ended[0], std::error_code{});
  EXPECT_EQ(ended[1], make_error_code(errc::canceled));
  EXPECT_EQ(passed(), 3s);
}

TEST_P(a_shutdown, or_a_stop_is_what_was_asked_for_last) {
  runtime rt{virtual_time()};
  rt.shutdown_on({SIGUSR1, SIGUSR2}, 10s);
  rt.stop_on({SIGUSR1});
  std::error_code ended;
  rt.spawn_in(color{1}, [&]() -> task<> { ended = (co_await sleep(3s)).error(); }).detach();
  rt.post([] { ::raise(SIGUSR1); });
  EXPECT_EQ(rt.run(), 0);
  EXPECT_EQ(ended, errc::canceled);
}

TEST(a_shutdown_DeathTest, ends_the_program_at_the_second_signal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto twice = [] {
    options with;
    with.workers = 1;
    runtime rt{with};
    rt.shutdown_on({SIGUSR1}, 1h);
    rt.spawn([]() -> task<> { static_cast<void>(co_await sleep(1h)); }).detach();
    rt.post([] { ::raise(SIGUSR1); });
    rt.spawn([]() -> task<> {
      static_cast<void>(co_await shutdown_begun());
      ::raise(SIGUSR1);
      ::abort();
    }).detach();
    rt.run();
  };
  EXPECT_EXIT(twice(), ::testing::ExitedWithCode(128 + SIGUSR1), "");
}

}  // namespace
}  // namespace tartan
