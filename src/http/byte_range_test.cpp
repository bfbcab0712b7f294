#include <tartan/http/byte_range.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tartan::http {
namespace {

using outcome = byte_ranges::outcome;
using parts = std::vector<byte_range>;

parts parts_of(std::string_view header, std::uint64_t size = 100) {
  const byte_ranges found{header, size};
  EXPECT_EQ(found.what(), outcome::parts) << header;
  return {found.parts().begin(), found.parts().end()};
}
outcome what(std::string_view header, std::uint64_t size = 100) {
  return byte_ranges{header, size}.what();
}

TEST(byte_ranges, are_a_first_and_a_last_byte) {
  EXPECT_EQ(parts_of("bytes=0-0"), (parts{{0, 1}}));
  EXPECT_EQ(parts_of("bytes=10-19"), (parts{{10, 10}}));
  EXPECT_EQ(parts_of("bytes=99-99"), (parts{{99, 1}}));
  EXPECT_EQ(parts_of("Bytes= 10-19 "), (parts{{10, 10}}));
}

TEST(byte_ranges, end_with_the_file) {
  EXPECT_EQ(parts_of("bytes=90-"), (parts{{90, 10}}));
  EXPECT_EQ(parts_of("bytes=90-100"), (parts{{90, 10}}));
  EXPECT_EQ(parts_of("bytes=90-99999999999999999999999"), (parts{{90, 10}}));
  EXPECT_EQ(parts_of("bytes=0-18446744073709551615"), (parts{{0, 100}}));
}

TEST(byte_ranges, may_be_counted_from_the_end) {
  EXPECT_EQ(parts_of("bytes=-1"), (parts{{99, 1}}));
  EXPECT_EQ(parts_of("bytes=-100"), (parts{{0, 100}}));
  EXPECT_EQ(parts_of("bytes=-99999999999999999999999"), (parts{{0, 100}}));
}

TEST(byte_ranges, may_be_several_in_any_order) {
  EXPECT_EQ(parts_of("bytes=50-59,0-9,-5"), (parts{{50, 10}, {0, 10}, {95, 5}}));
  EXPECT_EQ(parts_of("bytes=, 0-0 ,,1-1,"), (parts{{0, 1}, {1, 1}}));
  EXPECT_EQ(parts_of("bytes=0-9,200-300"), (parts{{0, 10}})) << "those behind the end are left out";
}

TEST(byte_ranges, behind_the_end_cannot_be_had) {
  for (const char* header :
       {"bytes=100-", "bytes=100-200", "bytes=-0", "bytes=100-,200-", "bytes=99999999999999999999999-"}) {
    EXPECT_EQ(what(header), outcome::unsatisfiable) << header;
  }
  for (const char* header : {"bytes=0-", "bytes=-0", "bytes=0-0"})
    EXPECT_EQ(what(header, 0), outcome::unsatisfiable) << header;
  EXPECT_EQ(what("bytes=-1", 0), outcome::whole);
}

TEST(byte_ranges, that_are_none_are_ignored) {
  for (const char* header :
       {"", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=a-b", "bytes=1", "bytes=2-1", "bytes=1-2-3", "bytes=+1-2",
        "bytes=0x1-2", "items=0-1", "bytes =0-1", "bytes=0-1;", "bytes=0-1,x", "bytes=--1", "bytes=1 - 2", "=0-1"}) {
    EXPECT_EQ(what(header), outcome::whole) << header;
  }
}

TEST(byte_ranges, are_ignored_if_they_are_more_work_than_the_whole) {
  std::string many = "bytes=0-0";
  for (std::size_t n = 1; n < byte_ranges::most; ++n) many += "," + std::to_string(n) + "-" + std::to_string(n);
  EXPECT_EQ(parts_of(many).size(), byte_ranges::most);
  EXPECT_EQ(what(many + ",50-50"), outcome::whole);
  EXPECT_EQ(what(many + ",200-300"), outcome::whole) << "also if it would be left out";
  EXPECT_EQ(what("bytes=0-,0-"), outcome::whole);
  EXPECT_EQ(what("bytes=0-49,49-"), outcome::whole);
  EXPECT_EQ(parts_of("bytes=0-49,50-").size(), 2u);
}

}  // namespace
}  // namespace tartan::http
