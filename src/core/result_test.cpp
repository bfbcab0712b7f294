#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tartan/core/result.h>
#include <type_traits>
#include <utility>
#include <vector>

namespace tartan {
namespace {

TEST(a_result, holds_a_value_or_an_error) {
  result<std::string> good{"text"};
  ASSERT_TRUE(good);
  EXPECT_TRUE(good.has_value());
  EXPECT_EQ(*good, "text");
  EXPECT_EQ(good->size(), 4u);
  EXPECT_EQ(good.error(), std::error_code{});
  const result<std::string> bad{errc::busy};
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error(), errc::busy);
  EXPECT_EQ(bad.value_or("else"), "else");
  EXPECT_EQ(std::move(good).value_or("else"), "text");
  const result<int> from_unexpected{unexpected{make_error_code(errc::closed)}};
  EXPECT_EQ(from_unexpected.error(), errc::closed);
}

TEST(a_result, of_nothing_is_success_or_an_error) {
  const result<> good;
  EXPECT_TRUE(good);
  good.value();
  *good;
  const result<> bad{std::make_error_code(std::errc::io_error)};
  EXPECT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error(), std::errc::io_error);
}

TEST(a_result, moves_what_can_only_be_moved) {
  result<std::unique_ptr<int>> owner{std::make_unique<int>(3)};
  result<std::unique_ptr<int>> next{std::move(owner)};
  EXPECT_EQ(**next, 3);
  next = result<std::unique_ptr<int>>{errc::canceled};
  EXPECT_FALSE(next);
  next = std::make_unique<int>(4);
  const std::unique_ptr<int> taken = *std::move(next);
  EXPECT_EQ(*taken, 4);
}

TEST(a_result, copies_and_assigns_between_value_and_error) {
  result<std::vector<int>> a{std::vector<int>{1, 2, 3}};
  const result<std::vector<int>> b = a;
  result<std::vector<int>> c{errc::timed_out};
  c = a;
  EXPECT_EQ(*b, *c);
  a = result<std::vector<int>>{errc::closed};
  c = a;
  EXPECT_EQ(c.error(), errc::closed);
  auto& self = c;
  c = std::move(self);
  EXPECT_EQ(c.error(), errc::closed);
}

TEST(a_result, is_made_from_what_makes_a_value_and_only_then_implicitly_when_that_is) {
  struct base {
    virtual ~base() = default;
  };
  struct derived : base {};
  const auto give_text = []() -> result<std::string> { return "text"; };
  EXPECT_EQ(*give_text(), "text");
  const auto give_base = []() -> result<std::unique_ptr<base>> { return std::make_unique<derived>(); };
  EXPECT_TRUE(give_base());
  EXPECT_EQ(result<std::vector<int>>{std::size_t{3}}->size(), 3u);
  static_assert(!std::is_convertible_v<int, result<std::vector<int>>>, "as from int to std::vector");
  static_assert(!std::is_constructible_v<result<int>, std::string>);
}

TEST(a_result, is_made_from_another_result_whose_value_makes_one) {
  const auto widen = [](result<int> from) -> result<long> { return from; };
  EXPECT_EQ(*widen(3), 3);
  EXPECT_EQ(widen(errc::busy).error(), errc::busy);
  struct base {
    virtual ~base() = default;
  };
  struct derived : base {};
  const result<std::unique_ptr<base>> owner{result<std::unique_ptr<derived>>{std::make_unique<derived>()}};
  EXPECT_NE(*owner, nullptr);
  const result<std::string_view> view{std::string_view{"text"}};
  EXPECT_EQ(*result<std::string>{view}, "text");
  static_assert(!std::is_convertible_v<result<std::string_view>, result<std::string>>, "as from string_view to string");
  static_assert(std::is_constructible_v<result<bool>, result<int>>);
  static_assert(!std::is_constructible_v<result<>, result<int>>);
}

TEST(a_result, is_assigned_what_its_value_is_assigned) {
  result<std::string> text{errc::busy};
  text = "one";
  EXPECT_EQ(*text, "one");
  EXPECT_EQ(text.error(), std::error_code{});
  text = "two";
  EXPECT_EQ(*text, "two");
  text = unexpected{make_error_code(errc::closed)};
  EXPECT_EQ(text.error(), errc::closed);
  text = errc::timed_out;
  EXPECT_EQ(text.error(), errc::timed_out);
  text = std::make_error_code(std::errc::io_error);
  EXPECT_FALSE(text);
  text = {};
  EXPECT_EQ(*text, "") << "a value, as of std::expected";
}

/// Throws when it is copied, or moved, as often as it is told to.
struct reluctant {
  explicit reluctant(int n) noexcept : number{n} {}
  reluctant(const reluctant& other) : number{other.number} { refuse(); }
  reluctant(reluctant&& other) : number{other.number} { refuse(); }
  reluctant& operator=(const reluctant& other) {
    refuse();
    number = other.number;
    return *this;
  }
  reluctant& operator=(reluctant&& other) { return *this = other; }
  static void refuse() {
    if (refusals != 0) throw std::runtime_error{std::to_string(refusals--)};
  }
  int number;
  static inline int refusals = 0;
};

TEST(a_result, keeps_what_it_had_if_an_assignment_throws) {
  result<reluctant> target{errc::busy};
  result<reluctant> source{7};
  reluctant::refusals = 1;
  EXPECT_THROW(target = std::move(source), std::runtime_error);
  EXPECT_EQ(target.error(), errc::busy);
  reluctant::refusals = 1;
  EXPECT_THROW(target = source, std::runtime_error);
  EXPECT_EQ(target.error(), errc::busy);
  target = source;
  EXPECT_EQ(target->number, 7);
  source->number = 9;
  reluctant::refusals = 1;
  EXPECT_THROW(target = std::move(source), std::runtime_error);
  EXPECT_EQ(target->number, 7);
  target = errc::closed;
  EXPECT_EQ(target.error(), errc::closed);
}

TEST(a_result, of_nothing_takes_an_empty_error_code_for_success) {
  EXPECT_TRUE(result<>{std::error_code{}});
}

TEST(a_result, that_is_given_no_error_as_its_error_ends_the_program) {
  const char* const message = "tartan: a result was given an empty error code as its error";
  const std::error_code none;
  EXPECT_DEATH(static_cast<void>(result<int>{none}), message);
  EXPECT_DEATH(static_cast<void>(result<int>{unexpected{none}}), message);
  EXPECT_DEATH(static_cast<void>(result<>{unexpected{none}}), message);
  result<int> good{1};
  EXPECT_DEATH(good = none, message);
}

TEST(a_result, of_which_the_missing_value_is_read_ends_the_program_with_the_error) {
  const result<int> bad{errc::timed_out};
  EXPECT_DEATH(static_cast<void>(bad.value()),
               "tartan: the value of a failed result was read; its error is: timed out \\(tartan 3\\)");
  const result<> failed{std::make_error_code(std::errc::no_such_file_or_directory)};
  EXPECT_DEATH(failed.value(), "No such file or directory \\(generic 2\\)");
}

TEST(an_error_code, of_the_library_has_a_text) {
  EXPECT_STREQ(error_category().name(), "tartan");
  EXPECT_EQ(make_error_code(errc::end_of_stream).message(), "end of stream");
  EXPECT_EQ(make_error_code(errc::canceled).message(), "canceled");
  EXPECT_EQ(make_error_code(errc::timed_out).message(), "timed out");
  EXPECT_EQ(make_error_code(errc::busy).message(), "busy: a bounded queue is full");
  EXPECT_EQ(make_error_code(errc::closed).message(), "closed");
  EXPECT_EQ(error_category().message(77), "unknown error 77");
}

TEST(an_error_code, of_the_library_compares_with_the_portable_conditions) {
  EXPECT_EQ(make_error_code(errc::canceled), std::errc::operation_canceled);
  EXPECT_EQ(make_error_code(errc::timed_out), std::errc::timed_out);
  EXPECT_EQ(make_error_code(errc::busy), std::errc::resource_unavailable_try_again);
  EXPECT_NE(make_error_code(errc::closed), std::errc::operation_canceled);
  EXPECT_FALSE(std::error_code{}) << "no error";
}

}  // namespace
}  // namespace tartan
