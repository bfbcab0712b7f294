#pragma once
/// For tests: the server in a simulated network: real files, a clock that jumps, and clients that are coroutines. The clock knows nothing of the
/// disk: a client that wants time to pass reads the beginning of its answer first.

#include <gtest/gtest.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/io/simulation.h>
#include <tartan/io/tcp.h>
#include <tartan/time/sleep.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "web/server.h"
#include "tests/seed.h"
#include "tests/temporary_folder.h"

namespace web::test {

using namespace std::chrono_literals;

inline std::string get(std::string_view path, std::string_view fields = "") {
  return std::string{"GET "}.append(path).append(" HTTP/1.1\r\nHost: a\r\n").append(fields).append("\r\n");
}

/// Each byte tells where it stands.
inline std::string placed_text(std::size_t bytes) {
  std::string text(bytes, ' ');
  for (std::size_t n = 0; n < bytes; ++n) text[n] = static_cast<char>('a' + (n + n / 26 + n / 677) % 26);
  return text;
}

/// What came until the connection ended, and how it ended.
struct heard {
  std::string text;
  std::error_code end;
};

inline tartan::task<heard> rest_of(tartan::tcp::stream& from) {
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
    with_.hosts.resize(1);
    with_.hosts[0].root = folder_.path();
    with_.listen = {"127.0.0.1:0"};
  }

  void write(const char* name, const std::string& content) const { std::ofstream{folder_ / name} << content; }
  /// Written an hour ago, as its time of modification has it.
  void write_old(const char* name, const std::string& content) const {
    write(name, content);
    std::filesystem::last_write_time(folder_ / name, std::filesystem::file_time_type::clock::now() - 1h);
  }

  /// The client runs in a color of its own: client(a connection, the server). When it has ended, the server is drained.
  template <class F>
  void play(F client) {
    network_.seed = seed_;
    tartan::simulation world{network_};
    tartan::options settings = options_;
    settings.poller = world.poller();
    play(settings, client);
    EXPECT_EQ(world.descriptors(), 0u);
  }

  /// The same on the kernel's sockets.
  template <class F>
  void play_on_the_kernel(F client) {
    play(options_, client);
  }

  /// Within an event of the client; only once. `ended` is told what it gives.
  void drain(server& s, std::function<void(bool)> ended = [](bool) {}) {
    if (!std::exchange(drained_, true)) tartan::spawn(drain_of(s.drain(), std::move(ended)));
  }

  tartan::test::temporary_folder folder_;
  settings with_;
  tartan::simulation_options network_;
  tartan::options options_;

 private:
  static tartan::task<> drain_of(tartan::task<bool> drained, std::function<void(bool)> ended) {
    const bool all_ended = co_await std::move(drained);
    ended(all_ended);
  }

  template <class F>
  void play(tartan::options settings, F& client) {
    settings.workers = GetParam();
    settings.stall_after = {};
    drained_ = false;
    tartan::runtime rt{settings};
    server under_test{rt, with_};
    rt.spawn(under_test.run());
    rt.spawn_in(tartan::color{7}, [&, at = under_test.places().front().at]() -> tartan::task<> {
        auto connected = co_await tartan::tcp::connect(at);
        co_await client(*connected, under_test);
        drain(under_test);
        co_await rest_of(*connected);
      }).detach();
    rt.run_until_idle();
  }

  bool drained_ = false;
  const std::uint64_t seed_ = tartan::test::seed();
};

inline tartan::task<> send(tartan::tcp::stream& to, std::string text) { EXPECT_TRUE(co_await to.write(text)); }

inline tartan::task<> pass(std::chrono::nanoseconds time) { EXPECT_TRUE(co_await tartan::sleep(time)); }

/// Adds to `came` what comes up to this text, and perhaps more.
inline tartan::task<> hear(tartan::tcp::stream& from, std::string& came, std::string_view text) {
  EXPECT_TRUE(co_await from.read_until(came, text, 1 << 20)) << came.substr(0, 1000);
}

/// The first bytes of a response: it is being sent.
inline tartan::task<std::string> head_from(tartan::tcp::stream& from) {
  std::string head;
  co_await hear(from, head, "\r\n\r\n");
  co_return head;
}

/// As the program does at SIGHUP; ends when all connections have been told.
inline tartan::task<> reload(server& s, const settings& with) {
  std::function<settings()> read = [&with] { return with; };  // gcc 12 destroys a temporary in a co_await twice
  auto running = tartan::spawn(s.reload(std::move(read)));
  co_await running.join();
}

inline tartan::task<> ask_for_page(tartan::tcp::stream& c) {
  std::string came;
  co_await send(c, get("/page"));
  co_await hear(c, came, "a page");
}

}  // namespace web::test
