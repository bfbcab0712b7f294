#include <tartan/http/precondition.h>

#include <gtest/gtest.h>

#include <string>

namespace tartan::http {
namespace {

constexpr std::time_t modified = 784111777;
const std::string same = "Sun, 06 Nov 1994 08:49:37 GMT";
const std::string before = "Sun, 06 Nov 1994 08:49:36 GMT";
const std::string after = "Sun, 06 Nov 1994 08:49:38 GMT";
const validators both{"\"a\"", modified};

status checked(const std::string& fields, const validators& of = both) {
  return check_preconditions(header_lines{fields}, of);
}
std::string line(const std::string& name, const std::string& value) {
  return name + ": " + value + "\r\n";
}

TEST(preconditions, are_met_where_there_are_none) {
  EXPECT_EQ(checked(""), status::ok);
  EXPECT_EQ(checked("Host: a\r\nAccept: */*\r\nIf: x\r\nIf-Range: \"b\"\r\n"), status::ok);
}

TEST(preconditions, ask_for_a_state_by_its_tag) {
  EXPECT_EQ(checked(line("If-Match", "\"a\"")), status::ok);
  EXPECT_EQ(checked(line("if-match", "*")), status::ok);
  EXPECT_EQ(checked(line("If-Match", "\"b\"")), status::precondition_failed);
  EXPECT_EQ(checked(line("If-Match", "W/\"a\"")), status::precondition_failed);
  EXPECT_EQ(checked(line("If-Match", "\"a\""), {"", modified}), status::precondition_failed);
  EXPECT_EQ(checked(line("If-Match", "\"b\"") + line("If-Match", "\"a\"")), status::ok);
}

TEST(preconditions, ask_for_a_state_that_is_as_old) {
  EXPECT_EQ(checked(line("If-Unmodified-Since", same)), status::ok);
  EXPECT_EQ(checked(line("If-Unmodified-Since", after)), status::ok);
  EXPECT_EQ(checked(line("If-Unmodified-Since", before)), status::precondition_failed);
  EXPECT_EQ(checked(line("If-Unmodified-Since", before), {"\"a\"", std::nullopt}), status::ok);
  EXPECT_EQ(checked(line("If-Unmodified-Since", "long ago")), status::ok);
  EXPECT_EQ(checked(line("If-Unmodified-Since", before) + line("If-Match", "\"a\"")), status::ok)
      << "the tag says more";
}

TEST(preconditions, spare_what_the_client_has_by_its_tag) {
  EXPECT_EQ(checked(line("If-None-Match", "\"a\"")), status::not_modified);
  EXPECT_EQ(checked(line("If-None-Match", "W/\"a\"")), status::not_modified);
  EXPECT_EQ(checked(line("If-None-Match", "\"b\", \"a\"")), status::not_modified);
  EXPECT_EQ(checked(line("If-None-Match", "*")), status::not_modified);
  EXPECT_EQ(checked(line("If-None-Match", "\"b\"")), status::ok);
}

TEST(preconditions, spare_what_the_client_has_by_its_date) {
  EXPECT_EQ(checked(line("If-Modified-Since", same)), status::not_modified);
  EXPECT_EQ(checked(line("If-Modified-Since", after)), status::not_modified);
  EXPECT_EQ(checked(line("If-Modified-Since", before)), status::ok);
  EXPECT_EQ(checked(line("If-Modified-Since", same), {"\"a\"", std::nullopt}), status::ok);
  EXPECT_EQ(checked(line("If-Modified-Since", "never")), status::ok);
  EXPECT_EQ(checked(line("If-Modified-Since", same) + line("If-Modified-Since", same)), status::ok) << "twice is none";
  EXPECT_EQ(checked(line("If-Modified-Since", same) + line("If-None-Match", "\"b\"")), status::ok)
      << "the tag says more";
}

TEST(preconditions, that_ask_come_before_those_that_spare) {
  EXPECT_EQ(checked(line("If-None-Match", "\"a\"") + line("If-Match", "\"b\"")), status::precondition_failed);
  EXPECT_EQ(checked(line("If-None-Match", "\"a\"") + line("If-Match", "\"a\"")), status::not_modified);
}

TEST(a_range, counts_only_for_the_state_that_the_client_has) {
  const auto counts = [](const std::string& value, std::time_t now = modified + 2) {
    return range_counts(header_lines{value.empty() ? value : line("If-Range", value)}, both, now);
  };
  const std::string none;
  EXPECT_TRUE(range_counts(header_lines{none}, both, modified));
  EXPECT_TRUE(counts("\"a\""));
  EXPECT_FALSE(counts("\"b\""));
  EXPECT_FALSE(counts("W/\"a\""));
  EXPECT_TRUE(counts(same));
  EXPECT_FALSE(counts(after)) << "not at least as old, but the same";
  EXPECT_FALSE(counts(before));
  EXPECT_FALSE(counts(same, modified + 1)) << "it may have changed again within its second";
  EXPECT_FALSE(counts("nonsense"));
  const std::string fields = line("If-Range", "\"\"");
  EXPECT_FALSE(range_counts(header_lines{fields}, {"", std::nullopt}, modified));
}

}  // namespace
}  // namespace tartan::http
