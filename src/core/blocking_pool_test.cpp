#include "core/blocking_pool.h"

#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <list>
#include <system_error>
#include <thread>

#include "core/memory.h"

namespace tartan::detail {
namespace {

constexpr auto forever = std::chrono::steady_clock::time_point::max();
using int_counter = real_memory::atomic<int>;

/// A door that jobs wait at until the test opens it.
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

/// A job that calls a function.
struct test_job : blocking_job {
  explicit test_job(std::function<void()> f) : call{std::move(f)} {
    run = [](blocking_job& self) noexcept { static_cast<test_job&>(self).call(); };
    drop = [](blocking_job& self) noexcept {
      static_cast<test_job&>(self).dropped.store(true, std::memory_order_relaxed);
    };
  }
  std::function<void()> call;
  real_memory::atomic<bool> dropped{false};
};

class a_blocking_pool : public ::testing::Test {
 protected:
  blocking_setup setup(unsigned threads, std::size_t queue) {
    blocking_setup with;
    with.threads = threads;
    with.queue = queue;
    with.owner = this;
    with.started = [](void* self) noexcept {
      static_cast<a_blocking_pool*>(self)->started_.fetch_add(1, std::memory_order_relaxed);
    };
    with.ended = [](void* self) noexcept {
      static_cast<a_blocking_pool*>(self)->ended_.fetch_add(1, std::memory_order_relaxed);
    };
    with.create_thread = [](pthread_t* id, const pthread_attr_t* attributes, void* (*enter)(void*), void* argument) {
      if (refusals-- > 0) return EAGAIN;
      ++threads_made;
      return ::pthread_create(id, attributes, enter, argument);
    };
    return with;
  }
  a_blocking_pool() { refusals = threads_made = 0; }

  test_job& job(std::function<void()> call) { return jobs_.emplace_back(std::move(call)); }
  test_job& job_at(gate& door) {
    return job([&door] { door.pass(); });
  }
  int started() const { return started_.load(std::memory_order_relaxed); }
  int ended() const { return ended_.load(std::memory_order_relaxed); }

  static inline int refusals = 0;      // of threads, to come
  static inline int threads_made = 0;  // under the pool's lock, read when it is at rest

  std::list<test_job> jobs_;  // outlives the pools of the tests
  int_counter started_{0};
  int_counter ended_{0};
};

TEST_F(a_blocking_pool, runs_jobs_first_in_first_out) {
  std::vector<int> order;
  gate door;
  blocking_pool pool{setup(1, 100)};
  ASSERT_TRUE(pool.try_submit(job_at(door)));
  for (int i = 0; i < 50; ++i) {
    if (i % 2 == 0) {
      ASSERT_TRUE(pool.try_submit(job([&order, i] { order.push_back(i); })));
    } else {
      pool.submit_when_possible(job([&order, i] { order.push_back(i); }));
    }
  }
  EXPECT_EQ(pool.unfinished(), 51u);
  door.open();
  EXPECT_TRUE(pool.wait_until_done(forever));
  EXPECT_EQ(pool.unfinished(), 0u);
  ASSERT_EQ(order.size(), 50u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(started(), 51);
  EXPECT_EQ(ended(), 51);
}

TEST_F(a_blocking_pool, starts_a_thread_only_if_none_is_free_and_no_more_than_it_may) {
  blocking_pool pool{setup(3, 100)};
  EXPECT_EQ(threads_made, 0);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(pool.try_submit(job([] {})));
    pool.wait_until_done(forever);
  }
  EXPECT_EQ(threads_made, 1);
  gate door;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(pool.try_submit(job_at(door)));
  door.wait_for(3);  // three run at a time
  EXPECT_EQ(threads_made, 3);
  EXPECT_EQ(pool.running().size(), 3u);
  door.open();
  pool.wait_until_done(forever);
  EXPECT_EQ(threads_made, 3);
}

TEST_F(a_blocking_pool, refuses_a_callback_when_its_queue_is_full_but_never_a_coroutine) {
  gate door;
  int last = 0;
  blocking_pool pool{setup(2, 3)};
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(pool.try_submit(job_at(door))) << i;
  EXPECT_FALSE(pool.try_submit(job([] {})));
  for (int i = 0; i < 10; ++i) pool.submit_when_possible(job_at(door));
  pool.submit_when_possible(job([&] { last = 1; }));
  EXPECT_FALSE(pool.try_submit(job([] {}))) << "coroutines that came first go first";
  EXPECT_EQ(pool.unfinished(), 16u);
  door.open();
  EXPECT_TRUE(pool.wait_until_done(forever));
  EXPECT_EQ(last, 1);
  EXPECT_TRUE(pool.try_submit(job([] {})));
  pool.wait_until_done(forever);
  EXPECT_EQ(started(), 17);
}

TEST_F(a_blocking_pool, without_a_queue_takes_a_job_for_each_free_thread) {
  gate door;
  blocking_pool pool{setup(2, 0)};
  EXPECT_TRUE(pool.try_submit(job_at(door)));
  EXPECT_TRUE(pool.try_submit(job_at(door)));
  EXPECT_FALSE(pool.try_submit(job_at(door)));
  door.open();
  pool.wait_until_done(forever);
  EXPECT_TRUE(pool.try_submit(job_at(door)));
}

TEST_F(a_blocking_pool, says_so_if_not_even_one_thread_can_be_started) {
  blocking_pool pool{setup(2, 10)};
  refusals = 2;
  const auto code_of = [](auto submit) {
    try {
      submit();
    } catch (const std::system_error& e) {
      return e.code();
    }
    return std::error_code{};
  };
  EXPECT_EQ(code_of([&] { static_cast<void>(pool.try_submit(job([] {}))); }),
            std::errc::resource_unavailable_try_again);
  EXPECT_EQ(code_of([&] { pool.submit_when_possible(job([] {})); }), std::errc::resource_unavailable_try_again);
  EXPECT_EQ(pool.unfinished(), 0u);
  EXPECT_EQ(started(), 0);
  EXPECT_TRUE(pool.try_submit(job([] {}))) << "the system has threads again";
  EXPECT_TRUE(pool.wait_until_done(forever));
}

TEST_F(a_blocking_pool, makes_do_with_fewer_threads_than_it_may_have) {
  gate door;
  blocking_pool pool{setup(4, 10)};
  ASSERT_TRUE(pool.try_submit(job_at(door)));
  refusals = 2;
  ASSERT_TRUE(pool.try_submit(job([] {})));
  ASSERT_TRUE(pool.try_submit(job([] {})));
  EXPECT_EQ(threads_made, 1);
  ASSERT_TRUE(pool.try_submit(job([] {})));  // asks again
  EXPECT_EQ(threads_made, 2);
  door.open();
  EXPECT_TRUE(pool.wait_until_done(forever));
}

TEST_F(a_blocking_pool, that_is_held_keeps_jobs_and_starts_no_thread_until_it_may_begin) {
  gate door;
  blocking_setup with = setup(2, 3);
  with.held = true;
  blocking_pool pool{with};
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(pool.try_submit(job_at(door))) << i;
  EXPECT_FALSE(pool.try_submit(job_at(door))) << "the queue is as long as it will be";
  EXPECT_EQ(threads_made, 0);
  refusals = 1;
  EXPECT_THROW(pool.begin(), std::system_error);
  EXPECT_EQ(threads_made, 0);
  pool.begin();
  pool.begin();
  door.wait_for(2);
  EXPECT_EQ(threads_made, 2);
  door.open();
  EXPECT_TRUE(pool.wait_until_done(forever));
}

TEST_F(a_blocking_pool, that_is_held_begins_with_no_more_threads_than_jobs) {
  blocking_setup with = setup(8, 8);
  with.held = true;
  blocking_pool pool{with};
  ASSERT_TRUE(pool.try_submit(job([] {})));
  pool.begin();
  EXPECT_TRUE(pool.wait_until_done(forever));
  EXPECT_EQ(threads_made, 1);
}

TEST_F(a_blocking_pool, that_is_held_to_its_end_drops_its_jobs) {
  test_job& never = job([] { ADD_FAILURE(); });
  blocking_setup with = setup(2, 2);
  with.held = true;
  {
    blocking_pool pool{with};
    ASSERT_TRUE(pool.try_submit(never));
  }
  EXPECT_TRUE(never.dropped.load(std::memory_order_relaxed));
  EXPECT_EQ(threads_made, 0);
}

TEST_F(a_blocking_pool, drops_what_has_not_begun_and_waits_for_what_has) {
  gate door;
  blocking_pool pool{setup(1, 10)};
  test_job& first = job_at(door);
  test_job& second = job([] { ADD_FAILURE(); });
  test_job& third = job([] { ADD_FAILURE(); });
  third.drop = nullptr;
  first.site = std::source_location::current();
  ASSERT_TRUE(pool.try_submit(first));
  ASSERT_TRUE(pool.try_submit(second));
  ASSERT_TRUE(pool.try_submit(third));
  door.wait_for(1);
  EXPECT_EQ(pool.drop_waiting(), 1u) << "the third, without a drop, lies in a frame that others count";
  EXPECT_EQ(pool.drop_waiting(), 0u);
  EXPECT_TRUE(second.dropped.load(std::memory_order_relaxed));
  EXPECT_EQ(ended(), 2);
  EXPECT_EQ(pool.unfinished(), 1u);
  EXPECT_FALSE(pool.wait_until_done(std::chrono::steady_clock::time_point::min()));
  ASSERT_EQ(pool.running().size(), 1u);
  EXPECT_EQ(pool.running()[0].site.line(), first.site.line());
  door.open();
  EXPECT_TRUE(pool.wait_until_done(forever));
  EXPECT_TRUE(pool.running().empty());
  EXPECT_FALSE(first.dropped.load(std::memory_order_relaxed));
  EXPECT_EQ(ended(), 3);
}

TEST_F(a_blocking_pool, that_was_shut_down_has_no_thread_and_takes_nothing) {
  gate door;
  blocking_pool pool{setup(1, 10)};
  ASSERT_TRUE(pool.try_submit(job([&] {
    door.pass();
    EXPECT_FALSE(pool.try_submit(job([] { ADD_FAILURE(); })));  // by now it is closed
  })));
  test_job& waiting = job([] { ADD_FAILURE(); });
  ASSERT_TRUE(pool.try_submit(waiting));
  door.wait_for(1);
  // Opens the door when the second job is dropped: shut_down then waits for the first one.
  waiting.drop = [](blocking_job& self) noexcept { static_cast<test_job&>(self).call(); };
  waiting.call = [&door] { door.open(); };
  pool.shut_down();
  EXPECT_EQ(pool.unfinished(), 0u);
  EXPECT_EQ(ended(), 2);
  test_job& late = job([] { ADD_FAILURE(); });
  EXPECT_FALSE(pool.try_submit(late));
  EXPECT_FALSE(late.dropped.load(std::memory_order_relaxed)) << "a refused job is its owner's";
  pool.submit_when_possible(late);
  EXPECT_TRUE(late.dropped.load(std::memory_order_relaxed));
  pool.shut_down();
}

TEST_F(a_blocking_pool, lets_jobs_hand_in_jobs) {
  blocking_pool pool{setup(2, 1000)};
  int_counter ran{0};
  std::mutex lock;
  std::function<void(int)> split = [&](int depth) {
    ran.fetch_add(1, std::memory_order_relaxed);
    for (int i = 0; depth > 0 && i < 2; ++i) {
      test_job* child = nullptr;
      {
        const std::lock_guard held{lock};
        child = &job([&split, depth] { split(depth - 1); });
      }
      pool.submit_when_possible(*child);
    }
  };
  test_job* root = nullptr;
  {
    const std::lock_guard held{lock};
    root = &job([&] { split(7); });
  }
  pool.submit_when_possible(*root);
  EXPECT_TRUE(pool.wait_until_done(forever));
  EXPECT_EQ(ran.load(std::memory_order_relaxed), 255);
}

TEST_F(a_blocking_pool, blocks_all_signals_in_its_threads_and_frees_them_of_their_starters_cpu) {
  const cpu_mask all = cpu_mask::of_this_thread();
  sigset_t mask;
  std::vector<unsigned> cpus;
  std::thread{[&] {
    ASSERT_EQ(bind_to_cpu(all, 0), std::error_code{});
    blocking_setup with = setup(1, 1);
    with.unbound = all;
    blocking_pool pool{with};
    ASSERT_TRUE(pool.try_submit(job([&] {
      ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      cpus = cpu_mask::of_this_thread().cpus();
    })));
    pool.wait_until_done(forever);
  }}.join();
  EXPECT_EQ(::sigismember(&mask, SIGINT), 1);
  EXPECT_EQ(::sigismember(&mask, SIGTERM), 1);
  EXPECT_EQ(cpus, all.cpus());
}

}  // namespace
}  // namespace tartan::detail
