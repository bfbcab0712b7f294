/// The server in a simulated network: real files, a clock that jumps, and clients that are coroutines. The clock knows nothing of the
/// disk: a client that wants time to pass reads the beginning of its answer first.
#include "server.h"

#include <gtest/gtest.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/io/simulation.h>
#include <tartan/io/tcp.h>
#include <tartan/time/sleep.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "tests/seed.h"
#include "tests/temporary_folder.h"

namespace web {
namespace {

using namespace std::chrono_literals;

std::string get(std::string_view path, std::string_view fields = "") {
  return std::string{"GET "}.append(path).append(" HTTP/1.1\r\nHost: a\r\n").append(fields).append("\r\n");
}

/// What came until the connection ended, and how it ended.
struct heard {
  std::string text;
  std::error_code end;
};

tartan::task<heard> rest_of(tartan::tcp::stream& from) {
  heard all;
  std::array<std::byte, 5000> room;
  for (;;) {
    const auto got = co_await from.read_some(room);
    if (!got) {
      all.end = got.error();
      co_return all;
    }
    all.text.append(reinterpret_cast<const char*>(room.data()), *got);
  }
}

class a_server : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr std::size_t large = 300'000;  // bytes; more than a page has, and more than the network buffers

  a_server() {
    write("page", "a page");
    write("large", std::string(large, 'x'));
    with_.root = folder_.path();
    with_.listen = "127.0.0.1:0";
  }

  void write(const char* name, const std::string& content) const { std::ofstream{folder_ / name} << content; }

  /// The client runs in a color of its own: client(a connection, the server). When it has ended, the server is drained.
  template <class F>
  void play(F client) {
    tartan::simulation world{{.seed = seed_}};
    tartan::options settings;
    settings.workers = GetParam();
    settings.stall_after = {};
    settings.poller = world.poller();
    drained_ = false;
    {
      tartan::runtime rt{settings};
      server under_test{rt, with_};
      rt.spawn(under_test.run());
      rt.spawn_in(tartan::color{7}, [&, at = under_test.address()]() -> tartan::task<> {
          auto connected = co_await tartan::tcp::connect(at);
          co_await client(*connected, under_test);
          drain(under_test);
          co_await rest_of(*connected);
        }).detach();
      rt.run_until_idle();
    }
    EXPECT_EQ(world.descriptors(), 0u);
  }

  /// Within an event of the client; only once.
  void drain(server& s) {
    if (!std::exchange(drained_, true)) tartan::spawn(s.drain());
  }

  tartan::test::temporary_folder folder_;
  settings with_;

 private:
  bool drained_ = false;
  const std::uint64_t seed_ = tartan::test::seed();
};
INSTANTIATE_TEST_SUITE_P(on, a_server, testing::Values(1u, 2u, 4u));

/// The first bytes of a response: it is being sent.
tartan::task<std::string> head_from(tartan::tcp::stream& from) {
  std::string head;
  co_await from.read_until(head, "\r\n\r\n", 1000);
  co_return head;
}

TEST_P(a_server, that_closes_loses_nothing_to_bytes_that_come_late) {
  play([](tartan::tcp::stream& c, server&) -> tartan::task<> {
    co_await c.write(get("/large", "Connection: close\r\n"));
    std::string came = co_await head_from(c);
    co_await c.write("\r\n");
    co_await tartan::sleep(1s);  // it is there
    const heard all = co_await rest_of(c);
    EXPECT_EQ(came.append(all.text).size(), came.find("\r\n\r\n") + 4 + large);
    EXPECT_EQ(all.end, tartan::errc::end_of_stream);
  });
}

TEST_P(a_server, that_ends_loses_nothing_to_a_request_that_comes_late) {
  play([this](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    co_await c.write(get("/large"));
    std::string came = co_await head_from(c);
    co_await c.write(get("/page"));
    co_await tartan::sleep(1s);
    drain(s);
    co_await tartan::sleep(1s);
    const heard all = co_await rest_of(c);
    EXPECT_EQ(came.append(all.text).size(), came.find("\r\n\r\n") + 4 + large);
    EXPECT_EQ(all.end, tartan::errc::end_of_stream);
  });
}

TEST_P(a_server, that_ends_while_nothing_is_asked_loses_nothing_of_the_answer_before) {
  play([this](tartan::tcp::stream& c, server& s) -> tartan::task<> {
    co_await c.write(get("/page"));
    std::array<std::byte, 1> first;
    co_await c.read_exactly(first);
    co_await tartan::sleep(1s);  // it has answered, and waits
    drain(s);
    co_await tartan::sleep(10ms);
    co_await c.write(get("/page"));
    co_await tartan::sleep(10ms);
    const heard all = co_await rest_of(c);
    EXPECT_TRUE(all.text.ends_with("a page")) << all.text;
    EXPECT_EQ(all.end, tartan::errc::end_of_stream);
  });
}

}  // namespace
}  // namespace web
