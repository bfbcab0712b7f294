#include "core/fatal.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace tartan::detail {
namespace {

TEST(the_end_of_a_program, is_one_line_on_stderr_and_an_abort) {
  EXPECT_EXIT(fatal({"a ", "reason", std::string_view{}}), ::testing::KilledBySignal(SIGABRT), "^tartan: a reason\n$");
}

TEST(the_end_of_a_program, cuts_a_message_that_is_too_long) {
  const std::string long_part(10'000, 'x');
  EXPECT_EXIT(fatal({long_part, "never seen"}), ::testing::KilledBySignal(SIGABRT), "^tartan: x+\n$");
}

TEST(a_place, is_shown_as_file_line_and_function) {
  const std::source_location site = std::source_location::current();
  EXPECT_EQ(place(site),
            std::string{site.file_name()} + ":" + std::to_string(site.line()) + " in " + site.function_name());
  EXPECT_EQ(place({}), "an unknown place");
}

TEST(a_color, is_shown_by_kind_number_and_name) {
  EXPECT_EQ(color_text(color{}), "default color");
  EXPECT_EQ(color_text(color{}, "main"), "default color \"main\"");
  EXPECT_EQ(color_text(color{7}), "color 7");
  EXPECT_EQ(color_text(color{7}, "page cache"), "color 7 \"page cache\"");
  EXPECT_EQ(color_text(color{std::numeric_limits<std::int64_t>::max()}), "color 9223372036854775807");
  EXPECT_EQ(color_text(color::unordered), "unordered");
  const color of_strand = raw_color::make((std::uint64_t{1} << 63) + 12);
  EXPECT_EQ(color_text(of_strand), "strand 12");
  EXPECT_EQ(color_text(of_strand, "page cache"), "strand \"page cache\"");
}

}  // namespace
}  // namespace tartan::detail
