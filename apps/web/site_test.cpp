#include "web/site.h"

#include <gtest/gtest.h>
#include <tartan/core/runtime.h>
#include <tartan/core/semaphore.h>

#include <fstream>
#include <memory>
#include <string>

#include "tests/temporary_folder.h"

namespace web {
namespace {

TEST(site, of_many_hosts_keeps_pages_as_large_as_of_one) {
  const tartan::test::temporary_folder folder;
  std::ofstream{folder / "page"} << std::string(60'000, 'x');
  for (const std::size_t hosts : {1u, 16u, 32u}) {
    settings with;
    with.hosts.resize(hosts);
    for (std::size_t n = 0; n < hosts; ++n) {
      with.hosts[n].root = folder.path();
      with.hosts[n].names = {"host" + std::to_string(n)};
    }
    tartan::runtime rt;
    site all{rt, with, nullptr, std::make_shared<tartan::semaphore>(library::most_sweeps)};
    host& last = all.host_of("host" + std::to_string(hosts - 1));
    rt.spawn([&]() -> tartan::task<> {
      const finding found = co_await last.pages.ask("/page", rt.now());
      EXPECT_EQ(found.code, http::status::ok);
      EXPECT_TRUE(found.content && !found.content->is_large()) << hosts;
    });
    rt.run_until_idle();
  }
}

}  // namespace
}  // namespace web
