#include "web/sibling.h"

#include <gtest/gtest.h>

#include <string>

namespace web {
namespace {

TEST(sibling, and_path_are_one_key) {
  for (const http::coding each : {http::coding::identity, http::coding::gzip, http::coding::brotli}) {
    const std::string key = key_of("/a", each);
    const representation parts{key};
    EXPECT_EQ(parts.path, "/a");
    EXPECT_EQ(parts.as, each);
  }
  EXPECT_NE(key_of("/a", http::coding::gzip), key_of("/a.gz", http::coding::identity));
}

}  // namespace
}  // namespace web
