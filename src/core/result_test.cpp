#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tartan/core/result.h>
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
