#include <gtest/gtest.h>
#include <tartan/rpc/error.h>

#include <set>
#include <string>

namespace tartan {
namespace {

TEST(rpc_errors, have_a_text_each_and_the_category_rpc) {
  std::set<std::string> texts;
  for (int value = 1; value <= static_cast<int>(rpc::errc::already_answered); ++value) {
    const std::error_code error = static_cast<rpc::errc>(value);
    EXPECT_STREQ(error.category().name(), "rpc");
    EXPECT_EQ(error.message().find("unknown"), std::string::npos) << value;
    texts.insert(error.message());
  }
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(rpc::errc::already_answered));
  EXPECT_EQ(std::error_code(99, rpc::error_category()).message(), "unknown error 99");
}

TEST(rpc_errors, are_what_the_standard_library_calls_them) {
  EXPECT_EQ(make_error_code(rpc::errc::malformed), std::errc::bad_message);
  EXPECT_EQ(make_error_code(rpc::errc::bad_result), std::errc::bad_message);
  EXPECT_EQ(make_error_code(rpc::errc::too_large), std::errc::message_size);
  EXPECT_EQ(make_error_code(rpc::errc::authentication), std::errc::permission_denied);
  EXPECT_EQ(make_error_code(rpc::errc::disconnected), std::errc::connection_reset);
  EXPECT_NE(make_error_code(rpc::errc::system_error), std::errc::bad_message);
}

}  // namespace
}  // namespace tartan
