#pragma once
/// For tests: the two ends of a TCP connection, on the kernel's network and on a simulated one.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/task.h>
#include <tartan/core/when_all.h>
#include <tartan/io/simulation.h>
#include <tartan/io/tcp.h>
#include <tartan/tls/client.h>
#include <tartan/tls/server.h>
#include <utility>

#include "tests/seed.h"
#include "tls/identity_fixture.h"

namespace tartan::test {

inline constexpr color where{7};

/// With a runtime of its own; everything is done in one color. Param: simulated.
class tls_ends : public testing::TestWithParam<bool> {
 protected:
  tls_ends() {
    if (GetParam()) {
      simulation_options network;
      network.seed = seed();
      world_ = std::make_unique<simulation>(network);
    }
    options with;
    with.workers = 2;
    if (world_ != nullptr) with.poller = world_->poller();
    rt_.emplace(with);
  }

  /// Connects so many times, and calls f(connected, accepted), which may move them away.
  void play(std::function<task<>(tcp::stream&, tcp::stream&)> f, int times = 1) {
    bool done = false;
    auto whole = spawn_in(*rt_, where, [&]() -> task<> {
      auto door = tcp::listen(*rt_, "127.0.0.1:0", {.color = where});
      for (int n = 0; n < times; ++n) {
        auto near = co_await tcp::connect(door.local_address().value());
        auto far = co_await door.accept(where);
        EXPECT_TRUE(near && far);
        co_await f(*near, *far);
      }
      done = true;
    });
    rt_->run_until_idle();
    EXPECT_TRUE(done);
  }

  struct ends {
    result<tls::stream> near;
    result<tls::stream> far;
  };
  /// Both handshakes, at the same time.
  static task<ends> seal(tls::client& from, tls::server& to, any_stream near, any_stream far, std::string host = "example.org") {
    auto [client, server] = co_await when_all(from.connect(std::move(near), std::move(host)), to.accept(std::move(far)));
    co_return ends{std::move(client), std::move(server)};
  }

  [[nodiscard]] tls::server_settings serving() {
    tls::server_settings with;
    with.identities = {by_.identity("DNS:example.org,IP:127.0.0.1")};
    return with;
  }
  [[nodiscard]] tls::client_settings trusting() const {
    tls::client_settings with;
    with.authorities = by_.file();
    return with;
  }

  authority by_;
  std::unique_ptr<simulation> world_;
  std::optional<runtime> rt_;
};
inline std::string network_name(const testing::TestParamInfo<bool>& info) { return info.param ? "simulated" : "kernel"; }

/// All until the end that the peer has told.
template <class S>
task<std::string> read_all(S& from, std::error_code* ended = nullptr) {
  std::string all;
  std::string room(5000, '\0');
  for (;;) {
    const result<std::size_t> got = co_await from.read_some(std::span{room});
    if (!got) {
      if (ended != nullptr) *ended = got.error();
      co_return all;
    }
    all.append(room, 0, *got);
  }
}

}  // namespace tartan::test
