#include "web/shortage.h"

#include <gtest/gtest.h>
#include <tartan/core/spawn.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>

#include "web/server_fixture.h"
#include "tests/web/failing_disk.h"

namespace web {
namespace {

using namespace std::chrono_literals;
using test::a_server;
using test::ask_for_page;
using test::get;
using test::head_from;
using test::hear;
using test::pass;
using test::send;

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(a_shortage, is_told_once_in_ten_seconds_with_its_number) {
  tartan::simulation world;
  tartan::options with;
  with.poller = world.poller();
  tartan::runtime rt{with};
  shortage told{rt};
  testing::internal::CaptureStderr();
  rt.spawn([&]() -> tartan::task<> {
    told.tell("open a file", ENOENT);
    told.tell("open a file", EMFILE);
    for (int n = 0; n < 5; ++n) told.tell("accept connections", ENFILE);
    co_await pass(9s);
    told.tell("open a file", EMFILE);
    co_await pass(2s);
    told.tell("accept connections", ENFILE);
  });
  rt.run_until_idle();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(lines_of(said), 2u) << said;
  EXPECT_TRUE(said.starts_with("tartan-web: cannot open a file: Too many open files (EMFILE, 1 times since")) << said;
  EXPECT_NE(said.find("): raise LimitNOFILE= or ulimit -n, or lower --max-connections\n"), std::string::npos) << said;
  const char* const second =
      "\ntartan-web: cannot accept connections: Too many open files in system (ENFILE, 7 times since";
  EXPECT_NE(said.find(second), std::string::npos) << said;
  EXPECT_TRUE(said.ends_with("): raise the system's limit, sysctl fs.file-max\n")) << said;
}

TEST_P(a_server, tells_that_files_cannot_be_opened) {
  testing::internal::CaptureStderr();
  play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
    const test::failing_disk fails{test::disk_call::openat2, EMFILE, 3};
    for (int n = 0; n < 3; ++n) {
      std::string came;
      co_await send(c, get("/page"));
      co_await hear(c, came, "Unavailable\n");
    }
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(said.starts_with("tartan-web: cannot open a file: Too many open files (EMFILE, 1 times")) << said;
  EXPECT_EQ(lines_of(said), 1u) << said;
}

/// In a world of six: both ends of the first connection, the listener, and the ends of those that it cannot take.
TEST_P(a_server, tells_that_connections_cannot_be_accepted) {
  network_.most_descriptors = 6;
  testing::internal::CaptureStderr();
  play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
    co_await ask_for_page(c);
    auto one = co_await tartan::tcp::connect(*c.peer_address());
    auto other = co_await tartan::tcp::connect(*c.peer_address());
    co_await pass(1s);
    one->close();
    co_await ask_for_page(*other);
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(said.starts_with("tartan-web: cannot accept connections: Too many open files (EMFILE, 1 times")) << said;
  EXPECT_EQ(lines_of(said), 1u) << said;
}

}  // namespace
}  // namespace web
