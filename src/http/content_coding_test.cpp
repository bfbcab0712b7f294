#include <tartan/http/content_coding.h>

#include <gtest/gtest.h>

#include <string>

namespace tartan::http {
namespace {

coding best(const std::string& accepted, std::initializer_list<coding> there = {coding::gzip, coding::brotli}) {
  coding_set files;
  for (const coding each : there) files.add(each);
  const std::string lines = "Host: a\r\n" + (accepted == "-" ? "" : "accept-encoding: " + accepted + "\r\n");
  return best_coding(header_lines{lines}, files);
}

TEST(content_coding, is_the_one_of_greatest_weight) {
  EXPECT_EQ(best("gzip"), coding::gzip);
  EXPECT_EQ(best("gzip, deflate, br, zstd"), coding::brotli);
  EXPECT_EQ(best("br;q=0.5, gzip;q=0.501"), coding::gzip);
  EXPECT_EQ(best("br ; q=0.5 , GZIP ; Q=0.5"), coding::brotli);
  EXPECT_EQ(best("x-gzip"), coding::gzip);
  EXPECT_EQ(best("*"), coding::brotli);
  EXPECT_EQ(best("*;q=0.1, br;q=0"), coding::gzip);
  EXPECT_EQ(best("gzip;q=1.000, br;q=0.999"), coding::gzip);
  EXPECT_EQ(best("gzip\r\nX: y\r\nAccept-Encoding: br"), coding::brotli);
}

TEST(content_coding, is_only_one_that_there_is) {
  EXPECT_EQ(best("br, gzip;q=0.1", {coding::gzip}), coding::gzip);
  EXPECT_EQ(best("br", {coding::gzip}), coding::identity);
  EXPECT_EQ(best("*", {}), coding::identity);
}

TEST(content_coding, is_identity_for_who_wants_no_other) {
  for (const char* accepted : {"-", "", ",", "deflate", "gzip;q=0", "br;q=0.000, gzip;q=0", "*;q=0", "identity",
                               "identity;q=0.5, gzip;q=0.4", "identity;q=0, zstd"}) {
    EXPECT_EQ(best(accepted), coding::identity) << accepted;
  }
  EXPECT_EQ(best("identity;q=0, gzip"), coding::gzip);
  EXPECT_EQ(best("identity, gzip"), coding::gzip);
}

TEST(content_coding, ignores_what_is_no_weight) {
  for (const char* weight : {"q=", "q=2", "q=1.001", "q=0.1234", "q=.5", "q=0.5x", "q=-1", "w=1", "q", "", "q=0,5"}) {
    EXPECT_EQ(best(std::string{"gzip;"} + weight), coding::identity) << weight;
  }
}

}  // namespace
}  // namespace tartan::http
