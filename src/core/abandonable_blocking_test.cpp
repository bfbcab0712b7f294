#include <tartan/core/abandonable_blocking.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <tartan/core/join_handle.h>
#include <tartan/core/post.h>
#include <tartan/core/spawn.h>
#include <tartan/core/yield.h>
#include <thread>
#include <utility>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

/// What a job shares with its test, which outlives it.
struct door {
  std::atomic<bool> begun{false};
  std::atomic<bool> open{false};
  std::atomic<bool> result_gone{false};
  std::atomic<std::thread::id> gone_on{};
};

/// Tells when, and on what thread, it is destroyed.
class told_result {
 public:
  explicit told_result(std::shared_ptr<door> tells) noexcept : tells_{std::move(tells)} {}
  told_result(told_result&&) noexcept = default;
  told_result& operator=(told_result&&) = delete;
  ~told_result() {
    if (tells_ == nullptr) return;
    tells_->gone_on = std::this_thread::get_id();
    tells_->result_gone = true;
  }

 private:
  std::shared_ptr<door> tells_;
};

class an_abandonable_job : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, an_abandonable_job, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(an_abandonable_job, gives_what_its_function_gives) {
  spawn_in(rt(), color{3}, []() -> task<> {
    auto eight = [] { return std::make_unique<int>(8); };
    auto got = co_await abandonable_blocking(eight);
    EXPECT_TRUE(got);
    EXPECT_EQ(got ? **got : 0, 8);
    EXPECT_EQ(current_color(), color{3});
    auto nothing = [] { EXPECT_FALSE(in_event()); };
    const result<> done = co_await abandonable_blocking(nothing);
    EXPECT_TRUE(done);
    auto fails = []() -> result<int> { return errc::busy; };
    const result<int> failed = co_await abandonable_blocking(fails);
    EXPECT_EQ(failed.error(), errc::busy);
  }).detach();
  run();
}

TEST_P(an_abandonable_job, brings_an_exception_back) {
  bool caught = false;
  spawn_in(rt(), color{3}, [&]() -> task<> {
    auto throws = [] { throw std::runtime_error{"disk"}; };
    try {
      static_cast<void>(co_await abandonable_blocking(throws));
    } catch (const std::runtime_error&) {
      caught = current_color() == color{3};
    }
  }).detach();
  run();
  EXPECT_TRUE(caught);
}

TEST_P(an_abandonable_job, is_left_behind_when_its_coroutine_is_asked_to_end) {
  const auto shared = std::make_shared<door>();
  std::optional<std::error_code> ended;
  auto waits = spawn_in(rt(), color{3}, [&]() -> task<> {
    auto job = [shared] {
      shared->begun = true;
      test::spin_until([&] { return shared->open.load(); });
      return told_result{shared};
    };
    ended = (co_await abandonable_blocking(job)).error();
  });
  spawn_in(rt(), color{4}, [&]() -> task<> {
    while (!shared->begun) co_await yield();
    waits.cancel();
    co_await waits.join();
    EXPECT_FALSE(shared->open) << "the job goes on";
    EXPECT_EQ(ended, make_error_code(errc::canceled));
    shared->open = true;
  }).detach();
  run();
  EXPECT_TRUE(shared->result_gone) << "a run waits for the job";
  EXPECT_NE(shared->gone_on.load(), std::this_thread::get_id());
}

TEST_P(an_abandonable_job, is_not_begun_once_it_was_abandoned) {
  with.blocking_threads = 1;
  const auto shared = std::make_shared<door>();
  bool begun = false;
  auto holds = spawn_in(rt(), color{3}, [&]() -> task<> {
    auto job = [shared] {
      shared->begun = true;
      test::spin_until([&] { return shared->open.load(); });
    };
    static_cast<void>(co_await abandonable_blocking(job));
  });
  auto waits = spawn_in(rt(), color{4}, [&]() -> task<> {
    while (!shared->begun) co_await yield();
    auto job = [&begun] { begun = true; };  // may refer to it: the test waits for the runtime
    EXPECT_EQ((co_await abandonable_blocking(job)).error(), errc::canceled);
    shared->open = true;
  });
  spawn_in(rt(), color{4}, [&]() -> task<> {
    while (!shared->begun) co_await yield();
    co_await yield();
    waits.cancel();
  }).detach();
  run();
  EXPECT_FALSE(begun);
}

TEST_P(an_abandonable_job, is_never_handed_in_by_who_was_asked_to_end_before) {
  bool begun = false;
  auto waits = spawn_in(rt(), color{3}, [&]() -> task<> {
    auto job = [&begun] { begun = true; };
    EXPECT_EQ((co_await abandonable_blocking(job)).error(), errc::canceled);
  });
  waits.cancel();
  run();
  EXPECT_FALSE(begun);
}

TEST_P(an_abandonable_job, is_destroyed_with_its_coroutine_if_the_runtime_ends_before_it_begins) {
  expect_suspended = true;
  std::atomic<int> alive{0};
  const test::counted outside{alive};
  spawn_in(rt(), color{3}, [&]() -> task<> {
    auto job = [mine = test::counted{alive}] { static_cast<void>(mine); };
    static_cast<void>(co_await abandonable_blocking(job));
  }).detach();
  end_runtime();
  EXPECT_EQ(alive.load(), 1);
}

TEST_P(an_abandonable_job, and_its_cancellation_may_end_together) {
  for (unsigned round = 0; round < test::rounds(200); ++round) {
    std::atomic<int> alive{0};
    auto waits = spawn_in(rt(), color{3}, [&]() -> task<> {
      auto job = [mine = test::counted{alive}] { return std::make_unique<test::counted>(mine); };
      const auto got = co_await abandonable_blocking(job);
      EXPECT_TRUE(got || got.error() == errc::canceled);
    });
    std::thread outside{[&] { waits.cancel(); }};
    run();
    outside.join();
    EXPECT_EQ(alive.load(), 0);
  }
}

}  // namespace
}  // namespace tartan
