#include <tartan/core/spawn.h>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/stop_token.h>
#include <tartan/core/task_group.h>
#include <tartan/core/yield.h>
#include <thread>
#include <utility>
#include <vector>

#include "core/coroutine_fixture.h"
#include "core/frame_pool.h"

namespace tartan {
namespace {

class spawning : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, spawning, testing::ValuesIn(test::worker_counts()), test::worker_name);

task<int> fails(std::string message) {
  co_await yield();
  throw std::runtime_error{message};
}

TEST_P(spawning, without_a_color_uses_the_default_color_wherever_it_is_called) {
  std::atomic<int> checked{0};
  const auto check = [&]() -> task<> {
    EXPECT_EQ(current_color(), color{});
    ++checked;
    co_return;
  };
  spawn(rt(), check);
  rt().post(color{5}, [&] { spawn(check); });
  run();
  EXPECT_EQ(checked.load(), 2);
}

/// Its events show the place of the call of spawn: the line is kept.
task<> sums(int& sum, std::uint_least32_t& line, int a, int b, int c, int d, int e, std::unique_ptr<int> f) {
  line = detail::here_now()->site.line();
  sum = a + b + c + d + e + *f;
  co_return;
}

TEST_P(spawning, takes_eight_arguments_and_keeps_the_place_of_the_call) {
  int sum = 0;
  std::uint_least32_t line = 0;
  const auto expect = [&](std::uint_least32_t called_at) {
    run();
    EXPECT_EQ(std::exchange(sum, 0), 21);
    EXPECT_EQ(std::exchange(line, 0), called_at);
  };
  rt().spawn(sums, std::ref(sum), std::ref(line), 1, 2, 3, 4, 5, std::make_unique<int>(6));
  expect(__LINE__ - 1);
  spawn(rt(), sums, std::ref(sum), std::ref(line), 1, 2, 3, 4, 5, std::make_unique<int>(6));
  expect(__LINE__ - 1);
  rt().spawn_in(color{3}, sums, std::ref(sum), std::ref(line), 1, 2, 3, 4, 5, std::make_unique<int>(6));
  expect(__LINE__ - 1);
  rt().post([&] { spawn(sums, std::ref(sum), std::ref(line), 1, 2, 3, 4, 5, std::make_unique<int>(6)); });
  expect(__LINE__ - 1);
  task_group group{rt()};
  group.spawn(sums, std::ref(sum), std::ref(line), 1, 2, 3, 4, 5, std::make_unique<int>(6));
  expect(__LINE__ - 1);
  rt().spawn(sums(sum, line, 1, 2, 3, 4, 5, std::make_unique<int>(6)));
  expect(__LINE__ - 1);
}

TEST_P(spawning, takes_any_number_of_arguments_with_a_color_or_a_runtime_in_front) {
  int sum = 0;
  const auto add = [&](auto... numbers) -> task<> {
    sum += (numbers + ...);
    co_return;
  };
  spawn(rt(), add, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  rt().spawn_in(color{}, add, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  rt().post([&] { spawn_in(color{}, add, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12); });
  run();
  EXPECT_EQ(sum, 3 * 78);
}

TEST_P(spawning, calls_the_function_in_its_color_and_destroys_it_there) {
  struct told {
    std::vector<color>* where;
    explicit told(std::vector<color>& at) : where{&at} {}
    told(told&& other) noexcept : where{std::exchange(other.where, nullptr)} {}
    ~told() {
      if (where != nullptr) where->push_back(current_color());
    }
  };
  std::vector<color> ended;
  std::vector<color> called;
  const auto plain = [&](told by_value) {
    called.push_back(current_color());
    return [](told) -> task<> { co_await yield(); }(std::move(by_value));
  };
  spawn_in(rt(), color{6}, plain, told{ended});
  run();
  EXPECT_EQ(called, std::vector<color>{color{6}});
  EXPECT_EQ(ended, std::vector<color>{color{6}});
}

TEST_P(spawning, gives_the_coroutine_its_own_copies) {
  std::string seen;
  std::string* referred = nullptr;
  std::string mine = "mine";
  {
    std::string given = "given";
    const std::unique_ptr<int> none;
    spawn(rt(), [&seen](const std::string& text, std::unique_ptr<int> owned) -> task<> {
      co_await yield();
      seen = text + std::to_string(*owned);
    }, given, std::make_unique<int>(4));
    given = "changed";
    spawn(rt(), [&referred](std::string& text) -> task<> {
      referred = &text;
      co_return;
    }, std::ref(mine));
  }
  run();
  EXPECT_EQ(seen, "given4");
  EXPECT_EQ(referred, &mine);
}

TEST_P(spawning, takes_a_member_function_and_its_object) {
  struct server {
    int served = 0;
    task<> serve(int n) {
      co_await yield();
      served += n;
    }
  } s;
  spawn(rt(), &server::serve, &s, 3);
  run();
  EXPECT_EQ(s.served, 3);
}

TEST_P(spawning, takes_a_task_that_was_made_before) {
  int got = 0;
  const auto store = [&](int x) -> task<> {
    got = x;
    co_return;
  };
  spawn_in(rt(), color{2}, store(9));
  run();
  EXPECT_EQ(got, 9);
}

TEST_P(spawning, keeps_the_order_of_posts) {
  std::vector<int> order;
  rt().post(color{1}, [&] { order.push_back(1); });
  spawn_in(rt(), color{1}, [&]() -> task<> {
    order.push_back(2);
    co_return;
  });
  rt().post(color{1}, [&] { order.push_back(3); });
  run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST_P(spawning, in_unordered_gives_a_color_that_nobody_else_has) {
  std::mutex lock;
  std::vector<color> seen;
  for (int n = 0; n < 20; ++n) {
    spawn_in(rt(), color::unordered, [&]() -> task<> {
      const color mine = current_color();
      EXPECT_NE(mine, color::unordered);
      co_await yield();
      EXPECT_EQ(current_color(), mine);
      {
        const std::lock_guard hold{lock};
        seen.push_back(mine);
      }
      co_await stop_requested();
    });
  }
  run();
  ASSERT_EQ(seen.size(), 20u);
  for (std::size_t n = 0; n < seen.size(); ++n) {
    EXPECT_EQ(std::count(seen.begin(), seen.end(), seen[n]), 1);
  }
  expect_suspended = true;
}

TEST_P(spawning, from_other_threads_while_the_runtime_runs_loses_nothing) {
  std::atomic<int> ran{0};
  std::thread other;
  spawn(rt(), [&]() -> task<> {
    other = std::thread{[&] {
      for (int n = 0; n < 500; ++n) {
        spawn_in(rt(), color{n % 7}, [&]() -> task<> {
          co_await yield();
          ++ran;
        });
      }
      rt().post([&] { rt().stop(); });
    }};
    co_return;
  });
  rt().run();
  other.join();
  EXPECT_EQ(ran.load(), 500);
}

TEST_P(spawning, after_stop_is_refused_to_other_threads_and_destroys_what_was_given) {
  std::atomic<int> alive{0};
  rt().stop();
  auto handle = spawn(rt(), [](test::counted) -> task<> { co_return; }, test::counted{alive});
  EXPECT_FALSE(handle);
  EXPECT_EQ(alive.load(), 0);
  EXPECT_EQ(coroutines_left(), 0u);
}

TEST_P(spawning, is_also_a_member_of_the_runtime) {
  int sum = 0;
  const auto add = [&](int a, int b, int c) -> task<> {
    sum += a + b + c;
    co_return;
  };
  rt().spawn([&]() -> task<> { return add(1, 0, 0); });
  rt().spawn([&](int a) -> task<> { return add(a, 0, 0); }, 2);
  rt().spawn([&](int a, int b) -> task<> { return add(a, b, 0); }, 3, 4);
  rt().spawn(add, 5, 6, 7);
  rt().spawn(add(8, 0, 0));
  rt().spawn_in(color{}, add, 9, 10, 11);
  rt().spawn_in(color{}, add(12, 0, 0));
  run();
  EXPECT_EQ(sum, 78);
}

TEST_P(spawning, ends_the_program_outside_of_events_if_no_runtime_is_named) {
  EXPECT_DEATH(spawn([]() -> task<> { co_return; }), "tartan::spawn was called outside of any event, at .*spawn_test");
}

class a_join_handle : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, a_join_handle, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(a_join_handle, gives_the_result_in_the_joiners_color) {
  int joined = 0;
  spawn_in(rt(), color{1}, [&]() -> task<> {
    auto early = spawn_in(color{2}, []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(4); });
    auto late = spawn_in(color{3}, []() -> task<int> {
      for (int n = 0; n < 10; ++n) co_await yield();
      co_return 5;
    });
    EXPECT_EQ(co_await late.join(), 5);
    EXPECT_EQ(current_color(), color{1});
    EXPECT_EQ(*co_await early.join(), 4);
    EXPECT_EQ(current_color(), color{1});
    ++joined;
  });
  run();
  EXPECT_EQ(joined, 1);
}

TEST_P(a_join_handle, throws_the_exception_in_the_joiners_color_and_reports_nothing) {
  int caught = 0;
  spawn_in(rt(), color{1}, [&]() -> task<> {
    auto handle = spawn_in(color{2}, fails, std::string{"inside"});
    try {
      static_cast<void>(co_await handle.join());
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "inside");
      EXPECT_EQ(current_color(), color{1});
      ++caught;
    }
  });
  run();
  EXPECT_EQ(caught, 1);
}

TEST_P(a_join_handle, that_is_dropped_lets_the_coroutine_go_on) {
  bool ended = false;
  {
    auto dropped = spawn(rt(), [&]() -> task<> {
      co_await yield();
      ended = true;
    });
    EXPECT_TRUE(dropped);
  }
  run();
  EXPECT_TRUE(ended);
}

TEST_P(a_join_handle, that_is_dropped_after_an_exception_reports_it_in_the_coroutines_color) {
  auto handle = spawn_in(rt(), color{8}, fails, std::string{"nobody asked"});
  run();
  EXPECT_TRUE(take_escaped().empty()) << "somebody may still ask";
  handle.detach();
  EXPECT_FALSE(handle);
  run();
  const auto reports = take_escaped();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].in, color{8});
  EXPECT_EQ(test::what_of(reports[0].exception), "nobody asked");
}

TEST_P(a_join_handle, that_is_dropped_after_the_last_run_has_the_exception_reported_when_the_runtime_ends) {
  auto handle = spawn_in(rt(), color{8}, fails, std::string{"nobody will run it"});
  run();
  handle.detach();
  EXPECT_TRUE(take_escaped().empty()) << "somebody may still run the runtime";
  end_runtime();
  const auto reports = take_escaped();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].in, color{8});
  EXPECT_EQ(test::what_of(reports[0].exception), "nobody will run it");
}

TEST_P(a_join_handle, that_is_dropped_after_a_stop_has_the_exception_reported_at_once) {
  auto handle = spawn_in(rt(), color{8}, fails, std::string{"too late"});
  rt().post([this] { rt().stop(); });
  EXPECT_EQ(rt().run(), 0);
  EXPECT_TRUE(take_escaped().empty());
  handle.detach();
  const auto reports = take_escaped();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].in, color{8});
  EXPECT_EQ(test::what_of(reports[0].exception), "too late");
}

TEST_P(a_join_handle, asks_its_coroutine_to_end_from_any_thread) {
  auto waits = spawn_in(rt(), color{4}, []() -> task<color> {
    co_await stop_requested();
    co_return current_color();
  });
  run();
  EXPECT_EQ(coroutines_left(), 1u);
  std::thread{[&] { waits.cancel(); }}.join();
  run();
  EXPECT_EQ(coroutines_left(), 0u);
  waits.cancel();
  spawn(rt(), [&]() -> task<> { EXPECT_EQ(co_await waits.join(), color{4}); });
  run();
}

TEST_P(a_join_handle, passes_a_request_to_cancel_on_from_who_joins) {
  bool ended = false;
  auto joiner = spawn_in(rt(), color{1}, [&]() -> task<> {
    auto inner = spawn_in(color{2}, [&]() -> task<> {
      co_await stop_requested();
      ended = true;
    });
    co_await inner.join();
    EXPECT_TRUE(ended);
  });
  run();
  EXPECT_FALSE(ended);
  joiner.cancel();
  run();
  EXPECT_TRUE(ended);
}

TEST_P(a_join_handle, may_be_joined_while_the_coroutine_ends_on_another_worker) {
  std::atomic<int> sum{0};
  for (int n = 0; n < 300; ++n) {
    spawn_in(rt(), color{n}, [&, n]() -> task<> {
      auto other = spawn_in(color{1000 + n}, [n]() -> task<int> { co_return n % 3; });
      for (int turns = n % 5; turns > 0; --turns) co_await yield();
      sum += co_await other.join();
    });
  }
  run();
  EXPECT_EQ(sum.load(), 300);
}

TEST(a_join_handle_used_wrongly, ends_the_program) {
  const auto in_a_runtime = [](auto body) {
    options settings;
    settings.workers = 1;
    runtime rt{settings};
    spawn(rt, body);
    rt.run_until_idle();
  };
  EXPECT_DEATH(in_a_runtime([]() -> task<> {
                 join_handle<> empty;
                 co_await empty.join();
               }),
               "join of an empty handle, at .*spawn_test");
  EXPECT_DEATH(in_a_runtime([]() -> task<> {
                 auto h = spawn([]() -> task<> { co_return; });
                 co_await h.join();
                 co_await h.join();
               }),
               "joined twice; it was spawned at .*spawn_test");
  EXPECT_DEATH(
      {
        join_handle<int> outlives;
        in_a_runtime([&]() -> task<> {
          outlives = spawn([]() -> task<int> { co_return 1; });
          co_return;
        });
      },
      "a runtime was destroyed before 1 coroutines, or handles of coroutines, that belong to it");
}

// The end is told to the joiner, whose runtime may be gone by then.
TEST(a_join_handle_used_wrongly, ends_the_program_too_if_the_joiner_belongs_to_another_runtime) {
  const auto joined_from_elsewhere = [](bool ended) {
    options settings;
    settings.workers = 1;
    runtime one{settings};
    runtime other{settings};
    semaphore never{0};
    auto handle = spawn(one, [&]() -> task<> {
      if (!ended) (void)co_await never.acquire();
    });
    one.run_until_idle();
    other.name(color{3}, "elsewhere");
    spawn_in(other, color{3}, [&]() -> task<> { co_await handle.join(); });
    other.run_until_idle();
  };
  const char* const message =
      "tartan: a coroutine of another runtime was joined, in color 3 \"elsewhere\", by one that was spawned at .*spawn_test.*; it was "
      "spawned at .*spawn_test";
  EXPECT_DEATH(joined_from_elsewhere(false), message);
  EXPECT_DEATH(joined_from_elsewhere(true), message);
}

/// Their memory is not of the runtime's pool.
TEST(a_join_handle_used_wrongly, ends_the_program_too_if_the_coroutine_was_spawned_outside_or_is_large) {
  const auto outlived = [](auto spawn_one) {
    options settings;
    settings.workers = 1;
    auto rt = std::make_unique<runtime>(settings);
    auto outlives = spawn_one(*rt);
    rt->run_until_idle();
    rt.reset();
  };
  const char* const message = "tartan: a runtime was destroyed before 1 coroutines, or handles of coroutines, that belong to it";
  EXPECT_DEATH(outlived([](runtime& rt) { return spawn(rt, []() -> task<> { co_return; }); }), message);
  EXPECT_DEATH(outlived([](runtime& rt) { return spawn(rt, fails, std::string{"unread"}); }), message);
  EXPECT_DEATH(outlived([](runtime& rt) {
                 join_handle<> large;
                 rt.post([&] {
                   large = spawn([](std::array<char, 2 * detail::frame_pool::largest_bytes>) -> task<> { co_return; },
                                 std::array<char, 2 * detail::frame_pool::largest_bytes>{});
                 });
                 rt.run_until_idle();
                 return large;
               }),
               message);
}

class an_exception_of_a_coroutine : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, an_exception_of_a_coroutine, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(an_exception_of_a_coroutine, that_nobody_joins_is_reported_with_color_and_place) {
  const auto line = std::source_location::current().line() + 1;
  spawn_in(rt(), color{5}, fails, std::string{"lost"});
  run();
  const auto reports = take_escaped();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].in, color{5});
  EXPECT_EQ(reports[0].post_site.line(), line);
  EXPECT_EQ(test::what_of(reports[0].exception), "lost");
}

TEST_P(an_exception_of_a_coroutine, shows_the_place_of_each_form_of_spawn) {
  const auto zero = []() -> task<> { throw 0; co_return; };
  const auto one = [](int) -> task<> { throw 1; co_return; };
  const auto two = [](int, int) -> task<> { throw 2; co_return; };
  const auto three = [](int, int, int) -> task<> { throw 3; co_return; };
  const auto line = std::source_location::current().line();
  spawn(rt(), zero);
  spawn(rt(), one, 1);
  spawn(rt(), two, 1, 2);
  spawn(rt(), three, 1, 2, 3);
  spawn_in(rt(), color{}, three, 1, 2, 3);
  run();
  const auto reports = take_escaped();
  ASSERT_EQ(reports.size(), 5u);
  for (unsigned n = 0; n < 5; ++n) EXPECT_EQ(reports[n].post_site.line(), line + 1 + n);
}

TEST_P(an_exception_of_a_coroutine, before_its_first_suspension_and_from_a_function_that_gives_no_task_counts_too) {
  spawn(rt(), [](int n) -> task<> {
    if (n == 1) throw std::runtime_error{"no frame was made"};
    return []() -> task<> { co_return; }();
  }, 1);
  run();
  ASSERT_EQ(take_escaped().size(), 1u);
}

TEST_P(an_exception_of_a_coroutine, does_not_stop_the_others_of_its_color) {
  bool other = false;
  spawn_in(rt(), color{5}, fails, std::string{"lost"});
  spawn_in(rt(), color{5}, [&]() -> task<> {
    co_await yield();
    co_await yield();
    other = true;
  });
  run();
  EXPECT_TRUE(other);
  EXPECT_EQ(take_escaped().size(), 1u);
}

TEST(an_exception_that_leaves_a_coroutine, ends_the_program_with_color_and_place) {
  EXPECT_DEATH(
      {
        options settings;
        settings.workers = 1;
        runtime rt{settings};
        spawn_in(rt, color{7}, fails, std::string{"boom"});
        rt.run_until_idle();
      },
      "an exception left an event of color 7, posted at .*spawn_test.*boom");
}

}  // namespace
}  // namespace tartan
