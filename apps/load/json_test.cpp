#include "load/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace load {
namespace {

TEST(a_json_object, is_written_member_by_member) {
  json_object inner;
  inner.add("x", 1.5);
  json_object made;
  made.add("a", 1).add("b", "text").add("c", inner).add("d", std::vector<std::string>{"p", "q"}).add("e", std::uint64_t{18446744073709551615u});
  EXPECT_EQ(made.text(), R"({"a": 1, "b": "text", "c": {"x": 1.5}, "d": ["p", "q"], "e": 18446744073709551615})");
  EXPECT_EQ(json_object{}.text(), "{}");
}

TEST(a_json_object, escapes_what_has_to_be) {
  json_object made;
  made.add("a\"b", std::string_view{"\\ \n \x01 \0 \xff", 9});
  EXPECT_EQ(made.text(), "{\"a\\\"b\": \"\\\\ \\u000a \\u0001 \\u0000 \xff\"}");
}

TEST(a_json_object, has_null_for_what_is_no_number) {
  json_object made;
  made.add("a", std::numeric_limits<double>::infinity()).add("b", std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(made.text(), R"({"a": null, "b": null})");
}

TEST(a_flat_object, is_read_as_it_was_written) {
  std::string odd;
  for (int c = 0; c < 256; ++c) odd += static_cast<char>(c);
  json_object made;
  made.add("odd", odd).add("number", 42).add("part", 0.25).add("empty", "");
  const auto read = flat_json::parse(made.text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text("odd"), odd);
  EXPECT_EQ(read->number<int>("number"), 42);
  EXPECT_EQ(read->number<double>("part"), 0.25);
  EXPECT_TRUE(read->has("empty"));
  EXPECT_FALSE(read->has("other"));
  EXPECT_EQ(read->text("other"), "");
}

TEST(a_flat_object, gives_zero_for_what_is_no_such_number) {
  const auto read = flat_json::parse(R"({"a": "x", "b": 1.5, "c": -1})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->number<int>("a"), 0);
  EXPECT_EQ(read->number<int>("b"), 0);
  EXPECT_EQ(read->number<unsigned>("c"), 0u);
  EXPECT_EQ(read->number<int>("d"), 0);
}

TEST(a_flat_object, may_have_blanks_anywhere) {
  const auto read = flat_json::parse(" {\n\"a\" :\t1 , \"b\":2 }\r\n");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->number<int>("b"), 2);
  EXPECT_TRUE(flat_json::parse("{ }"));
}

TEST(what_is_no_flat_object, is_not_taken_for_one) {
  for (const char* const text : {"", "{", "}", "[]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1 \"b\":2}",
                                 "{a:1}", "{\"a\":[1]}", "{\"a\":{}}", "{\"a\":true}",
                                 "{\"a\":\"x}", "{\"a\":\"\\q\"}", "{\"a\":\"\\u00\"}", "{\"a\":\"\\u0041\"}", "{} x", "{\"a\":\"\\"}) {
    EXPECT_FALSE(flat_json::parse(text)) << text;
  }
}

}  // namespace
}  // namespace load
