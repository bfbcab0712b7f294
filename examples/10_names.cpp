// Shows: connecting to a host by its name, and listening at one.
// Run:   build/release/examples/10_names
// See:   a greeting over a connection to "localhost". Behind names of hosts, as 10_names example.org: their addresses.
#include <tartan/dns/connect.h>
#include <tartan/dns/resolver.h>
#include <tartan/tartan.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

using namespace std::chrono_literals;

tartan::task<> greet(tartan::tcp::listener& door) {
  auto peer = co_await door.accept(tartan::color{});  // in the color that runs here
  if (!peer) co_return;
  const auto sent = co_await peer->write("hello from localhost\n");
  if (!sent) std::printf("%s\n", sent.error().message().c_str());
}

tartan::task<> read_greeting(tartan::dns::resolver& names, std::uint16_t port) {
  auto peer = co_await tartan::with_timeout(10s, tartan::tcp::connect(names, "localhost", port));
  if (!peer) co_return static_cast<void>(std::printf("%s\n", peer.error().message().c_str()));
  std::string line;
  const auto got = co_await peer->read_until(line, "\n", 100);
  std::printf("%s", got ? line.c_str() : (got.error().message() + "\n").c_str());
}

tartan::task<> print_addresses(tartan::dns::resolver& names, std::string host) {
  const auto found = co_await tartan::with_timeout(10s, names.addresses(host));
  if (!found) std::printf("%s: %s\n", host.c_str(), found.error().message().c_str());
  if (!found) co_return;
  for (const auto& each : *found) std::printf("%s %s\n", host.c_str(), each.at.to_string().c_str());
}

int main(int count, char** arguments) {
  tartan::runtime rt;
  tartan::dns::resolver names{rt};
  const auto everything = [&]() -> tartan::task<> {
    auto doors = co_await tartan::tcp::listen(rt, names, "localhost:0");
    if (!doors) co_return;
    tartan::spawn(greet, std::ref(doors->front())).detach();
    const auto at = doors->front().local_address();
    if (at) co_await read_greeting(names, at->port());
    for (int n = 1; n < count; ++n) co_await print_addresses(names, arguments[n]);
  };
  rt.spawn(everything).detach();
  rt.run_until_idle();
}
