#include "tests/virtual_time.h"

#include <gtest/gtest.h>

#include <thread>

namespace tartan::test {
namespace {

using detail::never_ns;
using detail::sleep_limit;
using detail::token_asleep;
using detail::token_awake;
using detail::token_woken;
using detail::wake_token;
using namespace std::chrono_literals;

TEST(virtual_time, stands_still_until_it_is_moved) {
  virtual_poller clock{100};
  clock.attach(2);
  EXPECT_EQ(clock.now_ns(), 100u);
  clock.advance(5us);
  EXPECT_EQ(clock.now_ns(), 5100u);
}

TEST(virtual_time, jumps_to_the_deadline_of_the_only_worker_that_was_ever_started) {
  virtual_poller clock{100};
  clock.attach(4);
  wake_token token{token_asleep};
  clock.sleep(0, token, {9000, never_ns});
  EXPECT_EQ(clock.now_ns(), 9000u);
  EXPECT_EQ(clock.jumps(), 1u);
}

TEST(virtual_time, does_not_sleep_on_a_deadline_that_is_past_or_a_token_that_is_awake) {
  virtual_poller clock{100};
  clock.attach(1);
  wake_token asleep{token_asleep};
  wake_token awake{token_awake};
  clock.sleep(0, asleep, {100, never_ns});
  clock.sleep(0, awake, {});
  EXPECT_EQ(clock.now_ns(), 100u);
}

TEST(virtual_time, stands_still_while_another_worker_is_awake) {
  virtual_poller clock{100};
  clock.attach(2);
  clock.starts(1);
  wake_token token{token_asleep};
  std::thread sleeper{[&] { clock.sleep(0, token, {9000, never_ns}); }};
  for (int n = 0; n < 100; ++n) {
    EXPECT_EQ(clock.now_ns(), 100u);
    std::this_thread::yield();
  }
  token.store(token_woken, std::memory_order_release);
  clock.wake(0, token);
  sleeper.join();
  EXPECT_EQ(clock.now_ns(), 100u);
}

TEST(virtual_time, jumps_to_the_earliest_deadline_when_the_last_worker_falls_asleep) {
  virtual_poller clock{100};
  clock.attach(2);
  clock.starts(1);
  wake_token early{token_asleep};
  wake_token late{token_asleep};
  std::thread sleeper{[&] { clock.sleep(0, late, {9000, never_ns}); }};
  clock.sleep(1, early, {5000, never_ns});
  EXPECT_GE(clock.now_ns(), 5000u);
  wake_token again{token_asleep};
  clock.sleep(1, again, {never_ns - 1, 1000});  // only real time ends this before the other's deadline does
  late.store(token_woken, std::memory_order_release);
  clock.wake(0, late);
  sleeper.join();
}

TEST(virtual_time, takes_a_worker_whose_token_was_changed_for_awake) {
  virtual_poller clock{100};
  clock.attach(2);
  clock.starts(1);
  wake_token woken{token_asleep};
  std::thread sleeper{[&] { clock.sleep(0, woken, {}); }};
  woken.store(token_woken, std::memory_order_release);
  wake_token token{token_asleep};
  clock.sleep(1, token, {9000, 1});  // gives up after real time: the other may or may not have gone to sleep
  EXPECT_EQ(clock.now_ns(), 100u);
  clock.wake(0, woken);
  sleeper.join();
}

TEST(virtual_time, ends_a_sleep_without_a_deadline_by_a_wake) {
  virtual_poller clock;
  clock.attach(1);
  for (int round = 0; round < 500; ++round) {
    wake_token token{token_asleep};
    std::thread sleeper{[&] { clock.sleep(0, token, {}); }};
    token.store(token_woken, std::memory_order_release);
    clock.wake(0, token);
    sleeper.join();
  }
}

TEST(virtual_time, ends_a_sleep_when_it_is_moved_by_hand) {
  virtual_poller clock{100};
  clock.attach(2);
  clock.starts(1);
  wake_token token{token_asleep};
  std::thread sleeper{[&] { clock.sleep(0, token, {9000, never_ns}); }};
  clock.advance(1ms);
  sleeper.join();
}

}  // namespace
}  // namespace tartan::test
