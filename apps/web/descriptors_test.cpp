#include "web/descriptors.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>

namespace web {
namespace {

settings of_hosts(std::size_t hosts) {
  settings made;
  made.hosts.resize(hosts);
  made.max_connections = 10'000;
  return made;
}

TEST(descriptors, are_enough_for_all_that_was_asked_where_there_are_many) {
  for (const std::size_t limit : {std::size_t{65'536}, std::numeric_limits<std::size_t>::max()}) {
    const descriptor_share found = share_of_descriptors(of_hosts(1), limit, 3);
    EXPECT_EQ(found.connections, 10'000u);
    EXPECT_EQ(found.open_files, settings{}.pages.open_files);
  }
}

TEST(descriptors, of_the_folders_of_many_hosts_are_not_there_for_clients) {
  const std::size_t of_one = share_of_descriptors(of_hosts(1), 1024, 3).connections;
  const std::size_t of_many = share_of_descriptors(of_hosts(301), 1024, 3).connections;
  EXPECT_EQ(of_one - of_many, 450u) << "three quarters of twice as many: a reload opens the new ones beside the old";
  for (const std::size_t hosts : {1u, 10u, 300u, 450u}) {
    const descriptor_share found = share_of_descriptors(of_hosts(hosts), 1024, 3);
    EXPECT_LT(3 + 2 * hosts + 64 + found.connections + found.open_files, 1024u) << hosts;
    EXPECT_GT(found.connections, 0u);
  }
}

TEST(descriptors, that_are_open_already_are_not_there_for_clients) {
  const std::size_t of_few = share_of_descriptors(of_hosts(1), 1024, 503).connections;
  EXPECT_LT(of_few, share_of_descriptors(of_hosts(1), 1024, 3).connections);
}

TEST(descriptors, that_the_folders_need_are_named_where_there_are_too_few) {
  try {
    static_cast<void>(share_of_descriptors(of_hosts(600), 1024, 3));
    FAIL();
  } catch (const std::runtime_error& wrong) {
    EXPECT_EQ(std::string{wrong.what()},
              "600 hosts need 1292 descriptors, and this process may open 1024: raise LimitNOFILE= or ulimit -n");
  }
}

}  // namespace
}  // namespace web
