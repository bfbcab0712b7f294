/// What docs/guide/names.md shows; tests/docs/check finds its code blocks here.
#include <gtest/gtest.h>
#include <tartan/dns/connect.h>
#include <tartan/dns/resolver.h>
#include <tartan/io/simulation.h>
#include <tartan/tartan.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

tartan::task<> show(const tartan::dns::resolver& names, std::string host) {
  const auto found = co_await tartan::with_timeout(3s, names.addresses(host));
  if (!found) {
    std::printf("%s: %s\n", host.c_str(), found.error().message().c_str());
    co_return;
  }
  for (const auto& each : *found) {
    std::printf("%s for %lld s\n", each.at.with_port(443).to_string().c_str(),
                static_cast<long long>(each.time_to_live.count()));
  }
}

tartan::task<tartan::result<tartan::tcp::stream>> dial(const tartan::dns::resolver& names, std::string host) {
  std::vector<tartan::tcp::connect_attempt> attempts;
  auto peer = co_await tartan::with_timeout(10s, tartan::tcp::connect(names, host, 443, {.attempts = &attempts}));
  for (const auto& each : attempts) {
    if (each.error) std::printf("%s: %s\n", each.to.to_string().c_str(), each.error.message().c_str());
  }
  co_return peer;
}

tartan::task<> serve(tartan::tcp::listener door) {
  while (auto peer = co_await door.accept()) {
    // spawn_in(peer->color(), ...)
  }
}

tartan::task<> open(tartan::runtime& rt, const tartan::dns::resolver& names, std::string at) {
  auto doors = co_await tartan::tcp::listen(rt, names, at);
  if (!doors) co_return;
  for (auto& door : *doors) {
    tartan::spawn(serve, std::move(door)).detach();
  }
}

/// A resolver that knows what it is told, and asks nobody.
tartan::dns::resolver_options without_files() {
  tartan::dns::resolver_options with;
  with.servers = {tartan::address::parse("192.0.2.53:53").value(), tartan::address::parse("[2001:db8::53]:0").value()};
  with.search = {"example.org"};
  with.timeout = 2s;
  with.hosts_file.clear();
  return with;
}

TEST(names_guide, shows_code_that_runs) {
  tartan::simulation world;
  tartan::options with;
  with.poller = world.poller();
  tartan::runtime rt{with};
  tartan::dns::resolver names{rt, without_files()};
  rt.spawn(open, std::ref(rt), std::cref(names), "localhost:443").detach();
  rt.spawn([&]() -> tartan::task<> {
      co_await show(names, "localhost");
      const auto peer = co_await dial(names, "localhost");
      EXPECT_TRUE(peer) << peer.error().message();
      const auto nobody = co_await names.addresses("no name");
      EXPECT_EQ(nobody.error(), tartan::dns::errc::invalid_name);
      rt.stop();
    }).detach();
  rt.run();
}

}  // namespace
