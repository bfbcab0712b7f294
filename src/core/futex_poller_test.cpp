#include "core/futex_poller.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <cerrno>
#include <csignal>
#include <thread>

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
  poller.attach(4);
  EXPECT_FALSE(poller.harvest(0));
}

}  // namespace
}  // namespace tartan::detail
