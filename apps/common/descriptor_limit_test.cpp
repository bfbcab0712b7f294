#include "common/descriptor_limit.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "common/file.h"

namespace tartan::apps {
namespace {

TEST(descriptor_limit, becomes_as_high_as_it_may) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit before = limit;
  limit.rlim_cur = 64;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(raise_descriptor_limit(), before.rlim_max);
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, before.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST(open_descriptors, are_counted_one_by_one) {
  const std::size_t before = open_descriptors();
  const file one{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  EXPECT_EQ(open_descriptors(), before + 1);
}

}  // namespace
}  // namespace tartan::apps
