#include <tartan/core/post.h>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <utility>
#include <vector>

#include "tests/workers.h"

namespace tartan {
namespace {

class post_in_an_event : public test::on_workers {};

TEST(post, knows_no_event_outside_of_events) {
  EXPECT_FALSE(in_event());
  EXPECT_EQ(current_color(), color{});
  options with;
  with.workers = 1;
  with.on_worker_start = [](unsigned) { EXPECT_FALSE(in_event()); };
  runtime rt{with};
  bool inside = false;
  rt.post(color{4}, [&] { inside = in_event() && current_color() == color{4}; });
  rt.run_until_idle();
  EXPECT_TRUE(inside);
  EXPECT_FALSE(in_event());
}

TEST(post_DeathTest, outside_of_an_event_ends_the_program_and_names_the_place) {
  EXPECT_DEATH(post([] {}),
               "tartan::post was called outside of any event, at .*post_test.cpp:[0-9]+.*runtime's own member");
  EXPECT_DEATH(bind(color{1}, [] {})(),
               "a callback of tartan::bind was called outside of any event; it was bound at .*post_test.cpp:[0-9]+.*bind\\(rt, color, f\\)");
  EXPECT_DEATH(strand{"nowhere"}, "tartan::strand was called outside of any event, at .*post_test.cpp:[0-9]+");
}

/// What copying it does, code of the program may do; without code, an event has its place before it is filled.
struct with_a_copy_that {
  explicit with_a_copy_that(std::string& into, bool is_to_throw = false) : ran{&into}, throws{is_to_throw} {}
  with_a_copy_that(with_a_copy_that&&) noexcept = default;
  with_a_copy_that(const with_a_copy_that& of) : ran{of.ran} {
    if (of.throws) throw std::runtime_error{"no copy"};
    post(color{1}, [into = ran] { *into += 'a'; });
  }
  void operator()() const { *ran += 'b'; }

  std::string* ran;
  bool throws = false;
};

TEST_P(post_in_an_event, comes_behind_what_the_copy_of_its_callable_has_posted) {
  runtime rt{settings()};
  std::string ran;
  rt.post(color{1}, [&] {
    post(color{1}, [] {});  // the worker's first event is made in another way: it has no free lines yet
    const with_a_copy_that posts{ran};
    post(color{1}, posts);
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, "ab");
}

TEST_P(post_in_an_event, leaves_nothing_behind_if_the_callable_cannot_be_copied) {
  runtime rt{settings()};
  std::string ran;
  rt.post(color{1}, [&] {
    post(color{1}, [] {});  // as above
    const with_a_copy_that throws{ran, true};
    EXPECT_THROW(post(color{1}, throws), std::runtime_error);
    post(color{1}, [&ran] { ran += 'c'; });
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, "c");
}

TEST_P(post_in_an_event, dispatch_calls_at_once_in_the_same_color_and_posts_otherwise) {
  runtime rt{settings()};
  std::string ran;  // of color 1's events
  rt.post(color{1}, [&] {
    EXPECT_TRUE(dispatch(color{1}, [&] { ran += 'a'; }));
    ran += 'b';
    EXPECT_TRUE(dispatch(color{2}, [&] { post(color{1}, [&] { ran += 'd'; }); }));
    ran += 'c';
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, "abcd");
}

TEST_P(post_in_an_event, dispatch_never_calls_an_unordered_event_at_once) {
  runtime rt{settings()};
  std::atomic<bool> over{false};
  bool was_over = false;
  rt.post(color::unordered, [&] {
    dispatch(color::unordered, [&] {
      test::spin_until([&] { return GetParam() == 1 || over.load(); });
      was_over = over.load();
    });
    over = true;
  });
  rt.run_until_idle();
  EXPECT_TRUE(was_over);
}

TEST_P(post_in_an_event, dispatch_to_a_strand_from_within_is_a_call) {
  runtime rt{settings()};
  strand s{rt, "here"};
  std::string ran;
  s.post([&] {
    dispatch(s, [&] { ran += 'a'; });
    ran += 'b';
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, "ab");
}

TEST_P(post_in_an_event, a_bound_callback_is_never_called_before_its_caller_goes_on) {
  runtime rt{settings()};
  std::string ran;
  rt.post(color{1}, [&] {
    const auto callback = bind(color{1}, [&ran](char c) { ran += c; });
    callback('b');
    callback('c');
    ran += 'a';
  });
  rt.run_until_idle();
  EXPECT_EQ(ran, "abc");
}

TEST_P(post_in_an_event, a_bound_callback_keeps_its_arguments_moved_or_copied) {
  runtime rt{settings()};
  std::vector<std::string> got;
  rt.post(color{2}, [&] {
    auto callback = bind(color{1}, [&got](std::string text, std::unique_ptr<int> number) {
      got.push_back(std::move(text) + std::to_string(*number));
    });
    std::string text = "copied ";
    callback(text, std::make_unique<int>(1));
    text = "moved ";
    callback(std::move(text), std::make_unique<int>(2));
  });
  rt.run_until_idle();
  EXPECT_EQ(got, (std::vector<std::string>{"copied 1", "moved 2"}));
}

TEST_P(post_in_an_event, a_bound_callable_that_only_moves_can_be_called_once_when_it_is_given_up) {
  runtime rt{settings()};
  int got = 0;
  rt.post(color{2}, [&] {
    auto callback = bind(color{1}, [&got, kept = std::make_unique<int>(40)](int more) { got = *kept + more; });
    std::move(callback)(2);
  });
  rt.run_until_idle();
  EXPECT_EQ(got, 42);
}

TEST_P(post_in_an_event, a_callback_bound_with_its_runtime_can_be_called_on_any_thread) {
  runtime rt{settings()};
  std::string got;
  const auto callback = bind(rt, color{1}, [&got](std::string text) {
    EXPECT_EQ(current_color(), color{1});
    got += text;
  });
  EXPECT_EQ(callback.where(), color{1});
  std::thread{[&] { callback("from a thread, "); }}.join();
  rt.post(color{2}, [&] { callback("from an event, "); });
  rt.run_until_idle();
  runtime other{settings()};
  other.post([&] { callback("from another runtime"); });
  other.run_until_idle();
  EXPECT_EQ(got, "from a thread, from an event, ") << "it belongs to the runtime that it was bound with";
  rt.run_until_idle();
  EXPECT_EQ(got, "from a thread, from an event, from another runtime");
  rt.stop();
  const auto kept = std::make_shared<int>();
  std::thread{[&] { bind(rt, color{1}, [kept] { FAIL(); })(); }}.join();
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_P(post_in_an_event, goes_into_the_runtime_that_runs_the_event) {
  runtime outer{settings()};
  runtime inner{settings()};
  std::vector<int> ran;
  outer.post([&] {
    inner.post([&] { post([&] { ran.push_back(2); }); });
    inner.run_until_idle();  // another runtime may be run in an event
    post([&] { ran.push_back(3); });
    ran.push_back(1);
  });
  outer.run_until_idle();
  EXPECT_EQ(ran, (std::vector<int>{2, 1, 3}));
}

INSTANTIATE_TEST_SUITE_P(workers, post_in_an_event, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
