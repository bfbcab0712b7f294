/// What docs/guide/tls.md shows; tests/docs/check finds its code blocks here.
#include <gtest/gtest.h>
#include <tartan/io/simulation.h>
#include <tartan/tartan.h>
#include <tartan/tls/client.h>
#include <tartan/tls/self_signed.h>
#include <tartan/tls/server.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

#include "tests/temporary_folder.h"

namespace {

tartan::task<> talk(tartan::tls::server& secure, tartan::tcp::stream accepted) {
  auto peer = co_await secure.accept(std::move(accepted));
  if (!peer) {
    std::printf("no TLS: %s\n", peer.error().message().c_str());
    co_return;
  }
  const auto sent = co_await peer->write("hello\n");
  const auto ended = co_await peer->shutdown_send();
  if (!sent || !ended) std::printf("they have left\n");
}

tartan::tls::server_settings settings_of(tartan::tls::identity own) {
  tartan::tls::server_settings with;
  with.identities = {std::move(own)};
  with.protocols = {"http/1.1"};
  return with;
}

tartan::task<> fetch(tartan::tls::client& secure, tartan::tcp::stream connected, std::string host) {
  auto peer = co_await secure.connect(std::move(connected), host);
  if (!peer) {
    std::printf("%s: %s\n", host.c_str(), peer.error().message().c_str());
    co_return;
  }
  std::string line;
  const auto got = co_await peer->read_until(line, "\n", 1000);
  if (got) std::printf("%s says %s", host.c_str(), line.c_str());
}

template <tartan::stream_of_bytes Stream>
tartan::task<> greet(Stream& peer) {
  const auto sent = co_await peer.write("hello, whoever you are\n");
  if (!sent) peer.close();
}

tartan::task<> greet_any(tartan::any_stream peer) {
  co_await greet(peer);
  if (auto* tcp = peer.as<tartan::tcp::stream>()) std::printf("fd %d\n", tcp->native_handle());
}

tartan::task<> explain(tartan::tls::server& secure, tartan::tcp::stream accepted) {
  tartan::tls::stream peer = secure.begin(std::move(accepted));
  const auto done = co_await peer.handshake();
  if (done.error() == tartan::tls::errc::plain_http) {
    tartan::any_stream& plain = *peer.under();
    const auto sent = co_await plain.write("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    const auto ended = co_await plain.shutdown_send();
    std::array<std::byte, 1000> rest;  // closing with unread bytes would reset the connection, and the answer might be lost
    while (sent && ended && co_await plain.read_some(rest)) {
    }
  }
}

TEST(tls_guide, shows_code_that_runs) {
  tartan::test::temporary_folder folder;
  tartan::simulation world;
  tartan::options with;
  with.poller = world.poller();
  tartan::runtime rt{with};
  const auto own = tartan::tls::self_signed(folder.path().string(), {"example.org"});
  tartan::tls::server secure{settings_of(own)};
  tartan::tls::client trusting{{.authorities = own.certificate}};
  int plain = 0;
  const auto everything = [&]() -> tartan::task<> {
    auto door = tartan::tcp::listen(rt, "127.0.0.1:0", {.color = tartan::current_color()});
    const auto at = door.local_address().value();
    const auto both = [&]() -> tartan::task<std::pair<tartan::tcp::stream, tartan::tcp::stream>> {
      auto connected = co_await tartan::tcp::connect(at);
      auto accepted = co_await door.accept(tartan::current_color());
      co_return std::pair{*std::move(connected), *std::move(accepted)};
    };
    auto first = co_await both();
    co_await tartan::when_all(fetch(trusting, std::move(first.first), "example.org"), talk(secure, std::move(first.second)));
    auto second = co_await both();
    co_await greet_any(std::move(second.second));
    std::string line;
    EXPECT_TRUE(co_await second.first.read_until(line, "you are\n", 100));
    auto third = co_await both();
    EXPECT_TRUE(co_await third.first.write("GET / HTTP/1.1\r\n\r\n"));
    line.clear();
    const auto hear = [&]() -> tartan::task<> {
      EXPECT_TRUE(co_await third.first.read_until(line, "400", 100));
      third.first.close();
    };
    co_await tartan::when_all(explain(secure, std::move(third.second)), hear());
    ++plain;
  };
  rt.spawn(everything).detach();
  rt.run_until_idle();
  EXPECT_EQ(plain, 1);
}

}  // namespace
