// Foreign threads that come and go, and runtimes that do; the protocol itself: tests/model/posting_gates_test.cpp.

#include "core/guest.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <semaphore>
#include <tartan/core/color.h>
#include <tartan/core/runtime.h>
#include <thread>
#include <vector>

#include "core/runtime_state.h"
#include "tests/workers.h"

namespace tartan::detail {
namespace {

/// Runs f on a thread of its own, to its end.
template <class F>
void on_a_thread(F f) {
  std::thread{f}.join();
}

TEST(guest, is_one_for_each_thread_at_each_runtime) {
  guests one;
  guests two;
  guest* const at_one = one.mine();
  guest* const at_two = two.mine();
  ASSERT_NE(at_one, nullptr);
  EXPECT_NE(at_one, at_two);
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(one.mine(), at_one);
    EXPECT_EQ(two.mine(), at_two);
  }
  on_a_thread([&] {
    EXPECT_NE(one.mine(), at_one);
    EXPECT_NE(one.mine(), nullptr);
  });
}

TEST(guest, is_taken_over_by_the_next_thread_with_the_lines_that_are_left) {
  line_pool pool{nullptr};
  guests all;
  guest* first = nullptr;
  on_a_thread([&] {
    first = all.mine();
    (void)pool.allocate(first->event_lines);
  });
  for (int n = 0; n < 100; ++n) {
    on_a_thread([&] {
      EXPECT_EQ(all.mine(), first);
      EXPECT_EQ(all.mine()->event_lines.count(), line_pool::group - 1);
    });
  }
}

TEST(guest, of_a_runtime_that_is_gone_is_not_mistaken_for_one_of_a_new_runtime_at_the_same_address) {
  std::optional<guests> place;
  std::binary_semaphore thread_goes{0};
  std::binary_semaphore main_goes{0};
  std::thread other{[&] {
    for (int round = 0; round < 3; ++round) {
      thread_goes.acquire();
      EXPECT_TRUE(place->mine()->is_owned());
      main_goes.release();
    }
  }};
  for (int round = 0; round < 3; ++round) {
    place.emplace();
    thread_goes.release();
    main_goes.acquire();
  }
  place.reset();
  other.join();
}

TEST(guest, is_destroyed_once_in_whatever_order_its_thread_and_its_runtime_end) {
  for (unsigned round = 0; round < test::rounds(200); ++round) {
    auto all = std::make_unique<guests>();
    std::atomic<bool> posted{false};
    std::thread other{[&] {
      (void)all->mine();
      posted = true;
    }};
    test::spin_until([&] { return posted.load(); });
    all.reset();  // while the thread ends; the address sanitizer looks at the rest
    other.join();
  }
}

TEST(guest, holds_up_who_passes_until_its_post_is_done) {
  for (unsigned round = 0; round < test::rounds(200); ++round) {
    guests all;
    std::atomic<bool> inside{false};
    std::atomic<bool> passing{false};
    bool done = false;
    std::thread other{[&] {
      const guests::posting in_gate{all};
      inside = true;
      test::spin_until([&] { return passing.load(); });
      for (unsigned n = 0; n < round; ++n) real_memory::relax();
      done = true;
    }};
    test::spin_until([&] { return inside.load(); });
    passing = true;
    all.pass();
    EXPECT_TRUE(done);
    other.join();
  }
}

/// Posts when the thread's thread-locals are destroyed.
struct late_poster {
  runtime* rt = nullptr;
  std::atomic<int>* ran = nullptr;
  ~late_poster() {
    EXPECT_EQ(rt->state().guests().mine(), nullptr);
    for (int n = 0; n < 100; ++n) EXPECT_TRUE(rt->post(color{static_cast<std::uint64_t>(n % 3)}, [r = ran] { r->fetch_add(1); }));
  }
};

class guests_of_a_runtime : public test::on_workers {};

TEST_P(guests_of_a_runtime, may_post_to_the_very_end_of_their_threads) {
  runtime rt{settings()};
  std::atomic<int> ran{0};
  on_a_thread([&] {
    static thread_local late_poster late;  // made before, and so destroyed after, what the runtime has on the thread
    late.rt = &rt;
    late.ran = &ran;
    rt.post([&ran] { ran.fetch_add(1); });
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, 101);
}

TEST_P(guests_of_a_runtime, lose_no_post_although_threads_and_runs_come_and_go) {
  runtime rt{settings()};
  std::atomic<unsigned> ran{0};
  unsigned posted = 0;
  for (unsigned round = 0; round < test::rounds(20); ++round) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&rt, &ran, t] {
        for (unsigned n = 0; n < 100; ++n) rt.post(color{(n + t) % 3 + 1}, [&ran] { ran.fetch_add(1); });
      });
    }
    posted += 400;
    rt.run_until_idle();  // while they post
    for (std::thread& t : threads) t.join();
    rt.run_until_idle();
    ASSERT_EQ(ran.load(), posted);
  }
}

/// An event that has run may let another thread end the runtime before the post of it has returned.
TEST_P(guests_of_a_runtime, touch_nothing_after_a_post_although_the_runtime_ends_meanwhile) {
  for (unsigned round = 0; round < test::rounds(100); ++round) {
    auto rt = std::make_unique<runtime>(settings());
    std::thread other{[to = rt.get()] { (void)to->post(color{1}, [to] { to->stop(); }); }};
    EXPECT_EQ(rt->run(), 0);
    rt.reset();
    other.join();
  }
}

INSTANTIATE_TEST_SUITE_P(workers, guests_of_a_runtime, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan::detail
