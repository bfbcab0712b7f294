#include <tartan/http/query.h>

#include <gtest/gtest.h>

#include <tartan/http/field_list.h>

namespace tartan::http {
namespace {

TEST(queries, give_decoded_values) {
  EXPECT_EQ(query_value("?a=1&b=two+w%6Frds&c&d=", "b"), "two words");
  EXPECT_EQ(query_value("a=1&a=2", "a"), "1");
  EXPECT_EQ(query_value("a=1&c&d=", "c"), "");
  EXPECT_EQ(query_value("a=1&c&d=", "d"), "");
  EXPECT_EQ(query_value("%61=x%3Dy", "a"), "x=y");
  EXPECT_EQ(query_value("a=1", "b"), std::nullopt);
  EXPECT_EQ(query_value("", "a"), std::nullopt);
}

TEST(queries, keep_what_is_no_encoding) {
  EXPECT_EQ(form_decoded("100%"), "100%");
  EXPECT_EQ(form_decoded("%4"), "%4");
  EXPECT_EQ(form_decoded("%zz%41"), "%zzA");
  EXPECT_EQ(form_decoded("%-1"), "%-1");
  EXPECT_EQ(form_decoded("%4z"), "%4z");
}

TEST(field_lists, find_by_name_whatever_its_letters) {
  field_list all{{"Accept", "a"}, {"X", "1"}};
  all.add("x", "2");
  EXPECT_EQ(all.value("ACCEPT"), "a");
  EXPECT_EQ(all.value("X"), "1");
  EXPECT_TRUE(all.has("x"));
  all.set("X", "3");
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(all.value("x"), "3");
  all.remove("X");
  EXPECT_FALSE(all.has("X"));
  EXPECT_EQ(all.value("X"), "");
  const field_list copied{header_lines{"A: b\r\nC: d\r\n"}};
  EXPECT_EQ(copied.size(), 2u);
  EXPECT_EQ(copied.value("c"), "d");
}

}  // namespace
}  // namespace tartan::http
