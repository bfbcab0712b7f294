#include "core/sleep/futex_poller.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/sleep/readiness_source.h"

namespace tartan::detail {
namespace {

constexpr std::uint64_t an_hour_ns = 3'600'000'000'000;

TEST(futex_poller, has_a_clock_that_does_not_go_back) {
  futex_poller poller;
  poller.attach(4);
  std::uint64_t before = poller.now_ns();
  for (int n = 0; n < 1000; ++n) {
    const std::uint64_t now = poller.now_ns();
    ASSERT_GE(now, before);
    before = now;
  }
}

TEST(futex_poller, does_not_sleep_on_a_token_that_was_woken_before) {
  futex_poller poller;
  poller.attach(4);
  for (const std::uint32_t state : {token_awake, token_woken}) {
    wake_token token{state};
    poller.sleep(0, token, {});
  }
}

/// libasync-mp's way to sleep.
TEST(futex_poller, that_sleeps_at_pipes_is_woken_by_a_byte_and_only_when_it_was_meant) {
  futex_poller poller{futex_poller::seat_kind::pipe};
  poller.attach(2);
  wake_token token{token_asleep};
  poller.wake(1, token);  // of an earlier sleep, which had ended by itself
  const std::uint64_t begin = poller.now_ns();
  poller.sleep(1, token, {.until_ns = begin + 2'000'000});
  EXPECT_GE(poller.now_ns(), begin + 2'000'000);
  std::thread waker{[&] {
    token.store(token_woken, std::memory_order_release);
    poller.wake(1, token);
  }};
  poller.sleep(1, token, {});
  EXPECT_EQ(token.load(std::memory_order_acquire), token_woken);
  waker.join();
}

std::set<int> descriptors() {
  std::set<int> all;
  for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fd"}) all.insert(std::stoi(each.path().filename()));
  std::erase_if(all, [](int each) { return ::fcntl(each, F_GETFD) < 0; });  // that of the look itself
  return all;
}

/// Bytes that lie in pipes; each of both ends tells them.
int bytes_in(const std::set<int>& ends) {
  int all = 0;
  for (const int end : ends) {
    struct stat kind {};
    int bytes = 0;
    if (::fstat(end, &kind) == 0 && S_ISFIFO(kind.st_mode) && ::ioctl(end, FIONREAD, &bytes) == 0) all += bytes;
  }
  return all;
}

TEST(futex_poller, that_sleeps_at_pipes_writes_a_byte_for_each_call_and_reads_all_there_are) {
  futex_poller poller{futex_poller::seat_kind::pipe};
  const std::set<int> others = descriptors();
  poller.attach(2);
  std::set<int> pipes = descriptors();
  for (const int other : others) pipes.erase(other);
  wake_token token{token_asleep};
  poller.wake(1, token);
  poller.wake(1, token);
  EXPECT_EQ(bytes_in(pipes), 2 * 2);
  std::thread waker{[&] {
    while (bytes_in(pipes) != 0) std::this_thread::yield();
    token.store(token_woken, std::memory_order_release);
    poller.wake(1, token);
  }};
  poller.sleep(1, token, {});  // ends because the bytes were read
  waker.join();
}

TEST(futex_poller, that_finds_no_pipes_says_so) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{3, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  futex_poller poller{futex_poller::seat_kind::pipe};
  EXPECT_THROW(poller.attach(4), std::system_error);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(futex_poller, sleeps_until_the_deadline_and_no_shorter) {
  futex_poller poller;
  poller.attach(4);
  wake_token token{token_asleep};
  const std::uint64_t until = poller.now_ns() + 2'000'000;
  poller.sleep(0, token, {until, never_ns});
  EXPECT_GE(poller.now_ns(), until);
  EXPECT_EQ(token.load(std::memory_order_relaxed), token_asleep);
}

TEST(futex_poller, honors_the_watchers_patience_before_a_later_deadline) {
  futex_poller poller;
  poller.attach(4);
  wake_token token{token_asleep};
  const std::uint64_t begin = poller.now_ns();
  poller.sleep(0, token, {begin + an_hour_ns, 1'000'000});
  EXPECT_GE(poller.now_ns(), begin + 1'000'000);
}

TEST(futex_poller, honors_a_deadline_before_the_watchers_patience) {
  futex_poller poller;
  poller.attach(4);
  wake_token token{token_asleep};
  poller.sleep(0, token, {poller.now_ns() + 1'000'000, an_hour_ns});
  poller.sleep(0, token, {1, an_hour_ns});
  poller.sleep(0, token, {1, never_ns - 1});
}

TEST(futex_poller, ends_a_sleep_by_a_wake_whichever_comes_first) {
  futex_poller poller;
  poller.attach(4);
  for (int round = 0; round < 1000; ++round) {
    wake_token token{token_asleep};
    std::thread sleeper{[&] { poller.sleep(0, token, {}); }};
    token.store(token_woken, std::memory_order_release);
    poller.wake(0, token);
    sleeper.join();
  }
}

TEST(futex_poller, takes_a_far_deadline_for_what_it_is) {
  futex_poller poller;
  poller.attach(4);
  wake_token token{token_asleep};
  std::thread sleeper{[&] { poller.sleep(0, token, {never_ns - 1, never_ns}); }};
  token.store(token_woken, std::memory_order_release);
  poller.wake(0, token);
  sleeper.join();
}

TEST(futex_poller, sleeps_on_after_a_signal) {
  struct sigaction quiet{};
  struct sigaction before{};
  quiet.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR2, &quiet, &before), 0);
  futex_poller poller;
  poller.attach(4);
  wake_token token{token_asleep};
  std::uint32_t after = token_awake;
  std::thread sleeper{[&] {
    poller.sleep(0, token, {});
    after = token.load(std::memory_order_acquire);
  }};
  for (int n = 0; n < 100; ++n) {
    ::pthread_kill(sleeper.native_handle(), SIGUSR2);
    std::this_thread::yield();
  }
  token.store(token_woken, std::memory_order_release);
  poller.wake(0, token);
  sleeper.join();
  EXPECT_EQ(after, token_woken);
  ::sigaction(SIGUSR2, &before, nullptr);
}

TEST(futex_poller, leaves_errno_alone_when_it_wakes) {
  futex_poller poller;
  poller.attach(4);
  wake_token token{token_woken};
  errno = ERANGE;
  poller.wake(0, token);
  EXPECT_EQ(errno, ERANGE);
}

TEST(futex_poller, has_nothing_to_harvest) {
  futex_poller poller;
  poller.attach(4);
  EXPECT_FALSE(poller.harvest(0));
}

/// Readiness of which a test says when it comes.
class told_source final : public readiness_source {
 public:
  ended_by wait(unsigned /*worker*/, std::uint64_t at_most_ns) noexcept override {
    waits.push_back(at_most_ns);
    if (waits.size() == ready_after) return ended_by::readiness;
    return waits.size() == calls_after ? ended_by::call : next;
  }
  void call() noexcept override { ++calls; }
  void deliver(unsigned worker) noexcept override { delivered.push_back(worker); }
  bool set_aside(unsigned /*worker*/) noexcept override { return aside = true; }
  [[nodiscard]] bool has_aside() const noexcept override { return aside; }
  bool harvest(unsigned /*worker*/) noexcept override { return true; }
  [[nodiscard]] bool saw_call(unsigned worker) const noexcept override { return worker == 1; }
  void forget_call() noexcept override { ++forgotten; }
  [[nodiscard]] int descriptor() const noexcept override { return 42; }

  ended_by next = ended_by::readiness;
  std::size_t ready_after = 0;  ///< so many waits; 0: never
  std::size_t calls_after = 0;  ///< the same
  std::vector<std::uint64_t> waits;
  std::vector<unsigned> delivered;
  int calls = 0;
  int forgotten = 0;
  bool aside = false;
};

TEST(futex_poller, sleeps_in_a_source_from_the_next_approach_on) {
  futex_poller poller;
  told_source source;
  poller.attach(2);
  wake_token token{token_asleep};
  EXPECT_FALSE(poller.has_source());
  poller.approach(0, bed::token);
  EXPECT_TRUE(poller.is_seated(0));
  poller.take_source(source);
  EXPECT_TRUE(poller.has_source());
  EXPECT_FALSE(poller.is_seated(0)) << "it knew of no source when it chose";
  EXPECT_EQ(poller.sleep(0, token, {1, never_ns}), slept::alone);
  poller.wake(0, token);
  EXPECT_TRUE(source.waits.empty());
  EXPECT_EQ(source.calls, 0);
  poller.approach(0, bed::source);
  EXPECT_TRUE(poller.is_seated(0));
  EXPECT_EQ(poller.sleep(0, token, {}), slept::ready);
  EXPECT_EQ(source.waits, std::vector<std::uint64_t>{never_ns});
  poller.wake(0, token);
  EXPECT_EQ(source.calls, 1);
}

// The waker changes the token before it calls; what came before is of an earlier sleep.
TEST(futex_poller, sleeps_on_in_its_source_when_it_hears_a_call_that_was_not_meant) {
  futex_poller poller;
  told_source source;
  poller.attach(1);
  poller.take_source(source);
  poller.approach(0, bed::source);
  source.calls_after = 1;
  wake_token token{token_asleep};
  EXPECT_EQ(poller.sleep(0, token, {}), slept::ready);
  EXPECT_EQ(source.waits.size(), 2u);
}

TEST(futex_poller, finds_in_its_sleep_whatever_was_not_set_aside) {
  futex_poller poller;
  told_source source;
  poller.attach(1);
  EXPECT_TRUE(poller.finds_in_sleep());
  poller.take_source(source);
  EXPECT_TRUE(poller.finds_in_sleep());
  source.aside = true;
  EXPECT_FALSE(poller.finds_in_sleep());
}

TEST(futex_poller, sleeps_beside_its_source_where_no_readiness_comes) {
  futex_poller poller;
  told_source source;
  poller.attach(2);
  poller.take_source(source);
  poller.approach(0, bed::token);
  EXPECT_TRUE(poller.is_seated(0));
  wake_token token{token_asleep};
  EXPECT_EQ(poller.sleep(0, token, {1, never_ns}), slept::alone);
  EXPECT_TRUE(source.waits.empty());
  std::thread sleeper{[&] { poller.sleep(0, token, {}); }};
  token.store(token_woken, std::memory_order_release);
  poller.wake(0, token);
  sleeper.join();
  EXPECT_EQ(source.calls, 0);
}

/// Two workers, of which worker 1 is about to sleep at the alarm.
class a_guard_at_its_alarm : public testing::Test {
 protected:
  a_guard_at_its_alarm() {
    poller.attach(2);
    poller.make_guard_bed();
    poller.make_guard_bed();  // twice is once
    poller.take_source(source);
    poller.approach(1, bed::guard);
  }

  futex_poller poller;
  told_source source;
  wake_token token{token_asleep};
};

TEST_F(a_guard_at_its_alarm, wakes_when_that_goes_off_and_tells) {
  const std::uint64_t at_ns = poller.now_ns() + 1'000'000;
  poller.set_alarm(at_ns);
  EXPECT_EQ(poller.sleep(1, token, {}), slept::alarm);
  EXPECT_GE(poller.now_ns(), at_ns);
  EXPECT_TRUE(source.waits.empty()) << "no readiness comes there";
}

TEST_F(a_guard_at_its_alarm, wakes_at_its_limit_before_that) {
  const std::uint64_t until = poller.now_ns() + 1'000'000;
  poller.set_alarm(until + an_hour_ns);
  EXPECT_EQ(poller.sleep(1, token, {until, never_ns}), slept::alone);
  EXPECT_GE(poller.now_ns(), until);
}

TEST_F(a_guard_at_its_alarm, is_called_there) {
  for (int round = 0; round < 100; ++round) {
    token.store(token_asleep, std::memory_order_relaxed);
    std::atomic<bool> goes_to_sleep{false};
    std::thread sleeper{[&] {
      goes_to_sleep = true;
      EXPECT_EQ(poller.sleep(1, token, {}), slept::alone);
    }};
    while (!goes_to_sleep) std::this_thread::yield();
    for (int n = 0; n < round; ++n) std::this_thread::yield();  // it sleeps by then in some rounds
    token.store(token_woken, std::memory_order_release);
    poller.wake(1, token);
    sleeper.join();
  }
  EXPECT_EQ(source.calls, 0);
}

TEST_F(a_guard_at_its_alarm, does_not_sleep_on_a_token_that_was_woken_before) {
  poller.set_alarm(1);
  token.store(token_woken, std::memory_order_relaxed);
  EXPECT_EQ(poller.sleep(1, token, {}), slept::alone);
}

TEST_F(a_guard_at_its_alarm, delivers_nothing_that_was_ready) {
  poller.deliver(1);
  EXPECT_FALSE(poller.set_aside(1));
  EXPECT_TRUE(source.delivered.empty());
}

TEST(futex_poller, does_not_wait_in_its_source_on_a_token_that_was_woken_before) {
  futex_poller poller;
  told_source source;
  poller.attach(1);
  poller.take_source(source);
  poller.approach(0, bed::source);
  for (const std::uint32_t state : {token_awake, token_woken}) {
    wake_token token{state};
    EXPECT_EQ(poller.sleep(0, token, {}), slept::alone);
  }
  EXPECT_TRUE(source.waits.empty());
}

/// A worker that is to sleep in its source.
class one_in_its_source : public testing::Test {
 protected:
  one_in_its_source() {
    poller.attach(1);
    poller.take_source(source);
    poller.approach(0, bed::source);
    source.next = readiness_source::ended_by::time;
  }

  futex_poller poller;
  told_source source;
  wake_token token{token_asleep};
};

TEST_F(one_in_its_source, waits_until_the_deadline_and_no_shorter) {
  const std::uint64_t until = poller.now_ns() + 100'000;
  EXPECT_EQ(poller.sleep(0, token, {until, never_ns}), slept::alone);
  EXPECT_GE(poller.now_ns(), until);
  for (const std::uint64_t asked : source.waits) EXPECT_LE(asked, 100'000u);
}

TEST_F(one_in_its_source, asks_to_wait_for_what_is_left_of_the_shorter_time) {
  source.ready_after = 3;
  EXPECT_EQ(poller.sleep(0, token, {poller.now_ns() + an_hour_ns, never_ns}), slept::ready);
  EXPECT_EQ(source.waits.size(), 3u);
  EXPECT_LE(source.waits.front(), an_hour_ns);
  EXPECT_TRUE(std::is_sorted(source.waits.rbegin(), source.waits.rend()));
  source.waits.clear();
  EXPECT_EQ(poller.sleep(0, token, {poller.now_ns() + 2 * an_hour_ns, an_hour_ns}), slept::ready);
  EXPECT_LE(source.waits.front(), an_hour_ns);
}

TEST_F(one_in_its_source, asks_for_long_sleeps_in_legs_so_that_none_ends_late_by_a_part_of_itself) {
  for (const std::uint64_t ns : {1'000ull, 1'000'000ull, 39'999'999ull, 40'000'000ull, 40'000'001ull, 1'000'000'000ull, 86'400'000'000'000ull}) {
    std::uint64_t now = 0;
    unsigned legs = 0;
    for (; now < ns; ++legs) {
      const std::uint64_t asked = leg_of(ns - now);
      now += asked + std::min<std::uint64_t>(asked / 200, 100'000'000);  // the kernel's slack
    }
    EXPECT_LE(now - ns, 200'000u) << ns;
    EXPECT_LE(legs, 8u) << ns;
  }
  EXPECT_EQ(leg_of(never_ns), never_ns);

  source.next = readiness_source::ended_by::readiness;
  const std::uint64_t until = poller.now_ns() + an_hour_ns;
  EXPECT_EQ(poller.sleep(0, token, {until, never_ns}), slept::ready);
  EXPECT_LE(source.waits.front(), leg_of(an_hour_ns));
}

TEST(futex_poller, passes_on_what_its_source_has) {
  futex_poller poller;
  told_source source;
  poller.attach(2);
  EXPECT_EQ(poller.descriptor(), -1);
  EXPECT_FALSE(poller.saw_call(1));
  EXPECT_FALSE(poller.has_aside());
  EXPECT_FALSE(poller.set_aside(0));
  poller.deliver(0);
  poller.forget_call();
  poller.take_source(source);
  EXPECT_TRUE(poller.harvest(0));
  EXPECT_FALSE(poller.saw_call(0));
  EXPECT_TRUE(poller.saw_call(1));
  poller.forget_call();
  EXPECT_EQ(source.forgotten, 1);
  EXPECT_EQ(poller.descriptor(), 42);
  poller.approach(1, bed::source);
  poller.deliver(1);
  EXPECT_EQ(source.delivered, std::vector<unsigned>{1});
  EXPECT_TRUE(poller.set_aside(1));
  EXPECT_TRUE(poller.has_aside());
}

}  // namespace
}  // namespace tartan::detail
