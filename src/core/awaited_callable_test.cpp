#include <tartan/core/awaited_callable.h>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tartan/core/await_blocking.h>
#include <tartan/core/in.h>
#include <tartan/core/task_group.h>
#include <utility>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

[[maybe_unused]] const auto without_captures = [] {};
struct owner {
  std::string text;
};

TEST(owning_temporaries, are_closures_and_aggregates_with_something_to_destroy) {
  std::string text = "text";
  const auto by_value = [text] { return text.size(); };
  const auto by_reference = [&text] { return text.size(); };
  const auto of_a_view = [view = std::string_view{text}] { return view.size(); };
  EXPECT_TRUE(detail::owning_temporary<std::remove_const_t<decltype(by_value)>>);
  EXPECT_TRUE(detail::owning_temporary<owner>);
  EXPECT_FALSE(detail::owning_temporary<decltype((by_value))>);
  EXPECT_FALSE(detail::owning_temporary<std::remove_const_t<decltype(by_reference)>>);
  EXPECT_FALSE(detail::owning_temporary<std::remove_const_t<decltype(of_a_view)>>);
  EXPECT_FALSE(detail::owning_temporary<std::remove_const_t<decltype(without_captures)>>);
  EXPECT_FALSE(detail::owning_temporary<std::function<void()>>);
}

/// Each capture is a long string in a shared owner, so that an object destroyed twice, or never, is counted.
class an_awaited_callable : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, an_awaited_callable, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(an_awaited_callable, owns_what_it_captured_once) {
  const auto counted = std::make_shared<std::string>(60, 'x');
  std::size_t sum = 0;
  spawn_in(rt(), color{1}, [&]() -> task<> {
    const auto named = [counted] { return counted->size(); };
    sum += co_await in(color{2}, named);
    sum += co_await in(color{2}, std::ref(named));
    sum += co_await blocking(named);
    std::function<std::size_t()> made = named;
    sum += co_await in(color{2}, std::move(made));
    const auto coroutine = [counted]() -> task<std::size_t> { co_return counted->size(); };
    sum += co_await in(color{2}, coroutine);
    const auto of_group = [counted](task_group&) -> task<std::size_t> { co_return counted->size(); };
    sum += co_await with_task_group(of_group);
  });
  run();
  EXPECT_EQ(sum, 360u);
  EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace tartan
