#include <tartan/core/foreign_wait.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <tartan/core/await_blocking.h>
#include <tartan/core/channel.h>
#include <tartan/core/in.h>
#include <tartan/core/post.h>
#include <tartan/core/task_group.h>
#include <tartan/core/when_all.h>
#include <thread>
#include <utility>
#include <vector>

#include "core/coroutine_fixture.h"
#include "core/foreign_waits.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

static_assert(!detail::foreign_awaitable<task<int>>);
static_assert(!detail::foreign_awaitable<decltype(in(color{}, [] {}))>);
static_assert(!detail::foreign_awaitable<decltype(blocking([] {}))>);
static_assert(!detail::foreign_awaitable<decltype(std::declval<channel<int>&>().receive())>);
static_assert(!detail::foreign_awaitable<decltype(std::declval<channel<int>&>().receive())&>);
static_assert(!detail::foreign_awaitable<decltype(std::declval<task_group&>().join())>);
static_assert(detail::foreign_awaitable<std::suspend_always>);

/// Another library: it keeps a handle until one of its threads resumes it.
class other_library {
 public:
  other_library() = default;
  other_library(const other_library&) = delete;
  other_library& operator=(const other_library&) = delete;
  ~other_library() {
    for (std::thread& each : threads_) each.join();
  }

  void keep(std::coroutine_handle<> waiting) {
    const std::lock_guard hold{lock_};
    kept_.push_back(waiting);
  }
  [[nodiscard]] std::size_t kept() {
    const std::lock_guard hold{lock_};
    return kept_.size();
  }
  [[nodiscard]] std::coroutine_handle<> take() {
    const std::lock_guard hold{lock_};
    const std::coroutine_handle<> one = kept_.back();
    kept_.pop_back();
    return one;
  }
  /// On a thread of its own.
  void resume(std::coroutine_handle<> waiting) {
    const std::lock_guard hold{lock_};
    threads_.emplace_back([waiting] { waiting.resume(); });
  }
  /// Resumes on a thread of its own when something has come true.
  template <class F>
  void resume_when(F is_true) {
    const std::lock_guard hold{lock_};
    threads_.emplace_back([this, is_true] {
      test::spin_until([&] { return kept() != 0 && is_true(); });
      take().resume();
    });
  }

 private:
  std::mutex lock_;
  std::vector<std::coroutine_handle<>> kept_;
  std::vector<std::thread> threads_;
};

struct gives_nothing {
  other_library& of;
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> waiting) { of.resume(waiting); }
  int await_resume() { return 7; }
};

struct gives_true {
  other_library& of;
  bool await_ready() { return false; }
  bool await_suspend(std::coroutine_handle<> waiting) {
    of.resume(waiting);
    return true;
  }
  int await_resume() { return 7; }
};

struct gives_a_handle {
  other_library& of;
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) {
    of.resume(waiting);
    return std::noop_coroutine();
  }
  int await_resume() { return 7; }
};

/// Keeps the handle, for a test that resumes it.
struct keeps {
  other_library& of;
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> waiting) { of.keep(waiting); }
  void await_resume() {}
};

class a_foreign_awaitable : public test::coroutines {
 protected:
  template <class Awaitable>
  void comes_back_to_its_color() {
    other_library library;
    bool came_back = false;
    spawn_in(rt(), color{3}, [&]() -> task<> {
      const int given = co_await Awaitable{library};
      EXPECT_EQ(given, 7);
      came_back = in_event() && current_color() == color{3};
    });
    run();
    EXPECT_TRUE(came_back);
  }

  /// Runs a coroutine of color 3 to its end.
  template <class F>
  void run_in_color_3(F&& coroutine) {
    bool ended = false;
    spawn_in(rt(), color{3}, [&]() -> task<> {
      co_await coroutine();
      ended = in_event() && current_color() == color{3};
    });
    run();
    EXPECT_TRUE(ended);
  }
};
INSTANTIATE_TEST_SUITE_P(on, a_foreign_awaitable, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(a_foreign_awaitable, resumes_the_coroutine_in_its_color_whichever_thread_resumes) {
  comes_back_to_its_color<gives_nothing>();
}
TEST_P(a_foreign_awaitable, may_give_true_when_it_suspends) { comes_back_to_its_color<gives_true>(); }
TEST_P(a_foreign_awaitable, may_give_a_handle_when_it_suspends) { comes_back_to_its_color<gives_a_handle>(); }

TEST_P(a_foreign_awaitable, leaves_the_color_free_meanwhile) {
  other_library library;
  std::atomic<bool> other_ran{false};
  library.resume_when([&] { return other_ran.load(); });
  rt().post(color{3}, [&] {
    spawn_in(color{3}, [&]() -> task<> { co_await keeps{library}; });
    post(color{3}, [&] { other_ran = true; });
  });
  run();
  EXPECT_TRUE(other_ran.load());
}

struct does_not_suspend {
  bool await_ready() { return false; }
  bool await_suspend(std::coroutine_handle<>) { return false; }
  int await_resume() { return 8; }
};

TEST_P(a_foreign_awaitable, that_gives_false_goes_on_at_once) {
  run_in_color_3([&]() -> task<> {
    bool another_ran = false;
    post(color{3}, [&] { another_ran = true; });
    const int given = co_await does_not_suspend{};
    EXPECT_EQ(given, 8);
    EXPECT_FALSE(another_ran);
    co_await in(color{4}, [] {});  // lets the other one run before its reference goes
  });
}

struct is_ready {
  bool await_ready() { return true; }
  void await_suspend(std::coroutine_handle<>) { ADD_FAILURE() << "suspended although it was ready"; }
  void await_resume() {}
};

TEST_P(a_foreign_awaitable, that_is_ready_goes_on_at_once_but_only_64_times_in_one_event) {
  int rounds = 0;
  int rounds_before_another = 0;
  run_in_color_3([&]() -> task<> {
    post(color{3}, [&] { rounds_before_another = rounds; });
    for (; rounds < 100; ++rounds) co_await is_ready{};
  });
  EXPECT_EQ(rounds_before_another, 64);
}

struct resumes_inside {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> waiting) { waiting.resume(); }
  void await_resume() {}
};

TEST_P(a_foreign_awaitable, may_resume_while_it_suspends) {
  run_in_color_3([&]() -> task<> {
    for (int n = 0; n < 1000; ++n) co_await resumes_inside{};
  });
}

struct gives_it_back {
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) { return waiting; }
  void await_resume() {}
};

TEST_P(a_foreign_awaitable, may_give_the_handle_back) {
  run_in_color_3([&]() -> task<> {
    for (int n = 0; n < 1000; ++n) co_await gives_it_back{};
  });
}

/// Another thread has resumed before await_suspend returns.
struct is_overtaken {
  bool await_ready() { return false; }
  bool await_suspend(std::coroutine_handle<> waiting) {
    std::thread{[waiting] { waiting.resume(); }}.join();
    return true;
  }
  void await_resume() {}
};

TEST_P(a_foreign_awaitable, may_be_resumed_by_another_thread_before_it_has_suspended) {
  run_in_color_3([&]() -> task<> {
    for (int n = 0; n < 20; ++n) co_await is_overtaken{};
  });
}

/// A coroutine of another library, which ends on that library's thread.
struct other_task {
  struct promise_type {
    std::coroutine_handle<> awaiter;
    other_task get_return_object() { return other_task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    struct last_step {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        return self.promise().awaiter;
      }
      void await_resume() noexcept {}
    };
    last_step final_suspend() noexcept { return {}; }
    void return_value(std::string text) { given = std::move(text); }
    void unhandled_exception() { std::terminate(); }
    std::string given;
  };

  explicit other_task(std::coroutine_handle<promise_type> coroutine) : coroutine_{coroutine} {}
  other_task(other_task&& other) noexcept : coroutine_{std::exchange(other.coroutine_, {})} {}
  other_task& operator=(other_task&&) = delete;
  ~other_task() {
    if (coroutine_) coroutine_.destroy();
  }

  auto operator co_await() && {
    struct awaiter {
      std::coroutine_handle<promise_type> coroutine;
      bool await_ready() { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) {
        coroutine.promise().awaiter = waiting;
        return coroutine;
      }
      std::string&& await_resume() { return std::move(coroutine.promise().given); }
    };
    return awaiter{coroutine_};
  }

 private:
  std::coroutine_handle<promise_type> coroutine_;
};

other_task text_of(other_library& library, std::string text) {
  co_await gives_nothing{library};
  EXPECT_FALSE(in_event());
  co_return text + "!";
}

TEST_P(a_foreign_awaitable, may_be_a_coroutine_that_ends_on_a_thread_of_its_own) {
  other_library library;
  run_in_color_3([&]() -> task<> {
    const std::string given = co_await text_of(library, "done");
    EXPECT_EQ(given, "done!");
  });
}

TEST_P(a_foreign_awaitable, may_be_given_to_when_all) {
  other_library library;
  run_in_color_3([&]() -> task<> {
    auto both = co_await when_all(text_of(library, "one"), gives_nothing{library});
    EXPECT_EQ(std::get<0>(both), "one!");
    EXPECT_EQ(std::get<1>(both), 7);
  });
}

}  // namespace

namespace another_namespace {

/// Awaited by an operator that is no member.
struct number {
  other_library& of;
  int value;
};
gives_nothing operator co_await(const number& one) { return gives_nothing{one.of}; }

}  // namespace another_namespace

namespace {

TEST_P(a_foreign_awaitable, may_have_an_operator_that_is_no_member) {
  other_library library;
  run_in_color_3([&]() -> task<> {
    const int given = co_await another_namespace::number{library, 1};
    EXPECT_EQ(given, 7);
    const another_namespace::number named{library, 2};
    const int again = co_await named;
    EXPECT_EQ(again, 7);
    const auto [first] = co_await when_all(another_namespace::number{library, 3});
    EXPECT_EQ(first, 7);
  });
}

struct gives_a_reference {
  other_library& of;
  std::string& text;
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> waiting) { of.resume(waiting); }
  std::string& await_resume() { return text; }
};

TEST_P(a_foreign_awaitable, gives_the_reference_that_it_gives) {
  other_library library;
  std::string text = "here";
  run_in_color_3([&]() -> task<> {
    std::string& given = co_await gives_a_reference{library, text};
    EXPECT_EQ(&given, &text);
    gives_a_reference named{library, text};
    std::string& again = co_await named;
    EXPECT_EQ(&again, &text);
  });
}

struct gives_what_only_moves {
  other_library& of;
  std::unique_ptr<int> value;
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> waiting) { of.resume(waiting); }
  std::unique_ptr<int> await_resume() { return std::move(value); }
};

TEST_P(a_foreign_awaitable, may_only_move_and_give_what_only_moves) {
  other_library library;
  run_in_color_3([&]() -> task<> {
    gives_what_only_moves named{library, std::make_unique<int>(9)};
    const std::unique_ptr<int> given = co_await named;
    EXPECT_EQ(*given, 9);
    named.value = std::make_unique<int>(10);
    const std::unique_ptr<int> moved = co_await std::move(named);
    EXPECT_EQ(*moved, 10);
  });
}

struct throws {
  other_library& of;
  int where;
  void here(int place) const {
    if (place == where) throw std::runtime_error{std::to_string(place)};
  }
  bool await_ready() {
    here(1);
    return false;
  }
  void await_suspend(std::coroutine_handle<> waiting) {
    here(2);
    of.resume(waiting);
  }
  void await_resume() { here(3); }
};

TEST_P(a_foreign_awaitable, throws_in_the_coroutine_what_it_throws) {
  other_library library;
  run_in_color_3([&]() -> task<> {
    for (int place = 1; place <= 3; ++place) {
      std::string caught;
      try {
        co_await throws{library, place};
      } catch (const std::runtime_error& e) {
        caught = e.what();
      }
      EXPECT_EQ(caught, std::to_string(place));
      EXPECT_EQ(current_color(), color{3});
    }
  });
}

TEST_P(a_foreign_awaitable, is_not_cut_short_by_a_request_to_cancel) {
  other_library library;
  bool came_back = false;
  auto handle = spawn_in(rt(), color{3}, [&]() -> task<> {
    co_await keeps{library};
    came_back = true;
  });
  library.resume_when([&] {
    handle.cancel();
    return true;
  });
  run();
  EXPECT_TRUE(came_back);
}

TEST_P(a_foreign_awaitable, comes_back_after_stop_within_the_time_of_a_drain) {
  with.poller = nullptr;  // the virtual clock would pass the time as soon as the workers sleep
  other_library library;
  bool came_back = false;
  spawn_in(rt(), color{3}, [&]() -> task<> {
    co_await keeps{library};
    came_back = true;
  });
  rt().run_for(0ns);
  library.resume_when([&] { return rt().stopped(); });
  const drained outcome = rt().drain(1h);
  EXPECT_TRUE(outcome.complete);
  EXPECT_TRUE(came_back);
}

TEST_P(a_foreign_awaitable, is_waited_for_before_its_frame_is_destroyed) {
  other_library library;
  std::atomic<int> alive{0};
  bool came_back = false;
  spawn_in(rt(), color{3}, [&]() -> task<> {
    const test::counted local{alive};
    co_await keeps{library};
    came_back = true;
  });
  rt().run_for(0ns);
  EXPECT_EQ(alive.load(), 1);
  library.resume_when([&] { return rt().stopped(); });
  const drained outcome = rt().drain(0ns);
  EXPECT_EQ(outcome.destroyed, 1u);
  EXPECT_EQ(alive.load(), 0);
  EXPECT_FALSE(came_back);
}

TEST_P(a_foreign_awaitable, brings_many_coroutines_back_from_many_threads) {
  constexpr int colors = 8;
  constexpr int rounds = 20;
  other_library library;
  std::vector<int> sums(colors);
  for (int n = 0; n < colors; ++n) {
    for (int twice = 0; twice < 2; ++twice) {
      spawn_in(rt(), color{n + 1}, [&library, &sum = sums[static_cast<std::size_t>(n)]]() -> task<> {
        for (int round = 0; round < rounds; ++round) sum += co_await gives_nothing{library};
      });
    }
  }
  run();
  for (const int sum : sums) EXPECT_EQ(sum, 2 * rounds * 7);
}

class a_foreign_awaitable_that_does_not_resume : public testing::Test {
 protected:
  static options patient_for(std::chrono::nanoseconds limit) {
    options with;
    with.workers = 1;
    with.drain_within = limit;
    return with;
  }
};

TEST_F(a_foreign_awaitable_that_does_not_resume, ends_the_program_that_drains_with_color_and_place) {
  const auto leave_it = [] {
    other_library library;
    runtime rt{patient_for(20ms)};
    rt.name(color{3}, "mail");
    spawn_in(rt, color{3}, [&]() -> task<> { co_await keeps{library}; });
    rt.run_for(0ns);
    rt.drain(0ns);
  };
  EXPECT_DEATH(leave_it(), "cannot be drained: another library's awaitable.*color 3 \"mail\", spawned at .*foreign_wait_test");
}

TEST_F(a_foreign_awaitable_that_does_not_resume, ends_the_program_if_it_destroys_the_handle) {
  const auto destroy_it = [] {
    other_library library;
    runtime rt{patient_for(20ms)};
    spawn_in(rt, color{3}, [&]() -> task<> { co_await keeps{library}; });
    rt.run_for(0ns);
    library.take().destroy();
  };
  EXPECT_DEATH(destroy_it(), "awaitable was destroyed, not resumed: .*color 3, spawned at .*foreign_wait_test");
}

}  // namespace
}  // namespace tartan
