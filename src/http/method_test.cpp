#include <gtest/gtest.h>
#include <tartan/http/host_name.h>
#include <tartan/http/method.h>
#include <tartan/http/status.h>

#include <string>

namespace tartan::http {
namespace {

TEST(method, has_the_name_that_it_is_found_by) {
  for (unsigned n = 0; n < static_cast<unsigned>(method::other); ++n) {
    const auto each = static_cast<method>(n);
    EXPECT_FALSE(text_of(each).empty());
    EXPECT_EQ(method_of(text_of(each)), each) << text_of(each);
  }
  EXPECT_EQ(text_of(method::delete_resource), "DELETE");
  for (const char* const word : {"", "get", "GETS", "PURGE"}) EXPECT_EQ(method_of(word), method::other) << word;
  EXPECT_EQ(text_of(method::other), "");
}

TEST(status, has_its_number_in_front_of_its_words) {
  unsigned named = 0;
  for (unsigned code = 100; code < 1000; ++code) {
    const std::string_view text = text_of(static_cast<status>(code));
    if (text.substr(0, 4) == std::to_string(code) + " ") {
      ++named;
    } else {
      EXPECT_EQ(text, "500 Internal Server Error") << code;
    }
  }
  EXPECT_EQ(named, 46u);
}

TEST(lower_name, is_in_small_letters_without_a_last_dot) {
  EXPECT_EQ(lower_name{"WWW.Example."}.text(), "www.example");
  EXPECT_EQ(lower_name{std::string(255, 'A')}.text(), std::string(255, 'a'));
  EXPECT_EQ(lower_name{std::string(256, 'A')}.text(), "");
}

}  // namespace
}  // namespace tartan::http
