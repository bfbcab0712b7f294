// Shows: a server; every connection is a coroutine in a color of its own, so that connections use all cores and need no lock.
// Run:   build/release/examples/06_echo
// See:   three clients of the same program, each with its words back. As a real server it would listen on a fixed port and run
//        until a signal comes: rt.stop_on({SIGINT, SIGTERM}).
#include <tartan/tartan.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <utility>

using namespace std::chrono_literals;

tartan::task<> echo(tartan::tcp::stream peer) {
  std::array<std::byte, 4096> buffer;
  while (auto got = co_await tartan::with_timeout(30s, peer.read_some(buffer))) {  // false: end, error or silence
    if (!co_await peer.write(std::span<const std::byte>{buffer}.first(*got))) co_return;
  }
}

tartan::task<> serve(tartan::tcp::listener& door) {
  while (auto peer = co_await door.accept()) {  // false: closed
    tartan::spawn_in(peer->color(), echo, std::move(*peer)).detach();
  }
}

tartan::task<std::string> ask(tartan::address server, std::string words) {
  auto peer = co_await tartan::tcp::connect(server);
  if (!peer) co_return peer.error().message();
  if (!co_await peer->write(words)) co_return "the server is gone";
  std::string answer;
  const auto line = co_await peer->read_until(answer, "\n", 1000);
  co_return line ? answer.substr(0, *line) : line.error().message();
}

tartan::task<> try_it(tartan::tcp::listener& door) {
  const auto server = door.local_address();
  for (const char* words : {"hello\n", "is anybody there?\n", "good bye\n"}) {
    std::fputs((co_await ask(*server, words)).c_str(), stdout);
  }
  door.close();  // serve ends, and with it the program
}

int main() {
  tartan::runtime rt;
  auto door = tartan::tcp::listen(rt, "127.0.0.1:0");
  rt.spawn(serve, std::ref(door)).detach();
  rt.spawn(try_it, std::ref(door)).detach();
  rt.run_until_idle();
}
