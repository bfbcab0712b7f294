// Shows: a server; every connection is a coroutine in a color of its own, so that connections use all cores and need no lock.
// Run:   build/release/examples/06_echo
// See:   three clients of the same program, each with its words back; then a shutdown, as by Ctrl-C. A real server would listen on a
//        fixed port.
#include <tartan/tartan.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <utility>

using namespace std::chrono_literals;

tartan::task<> echo(tartan::tcp::stream peer) {
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const auto got = co_await tartan::until_shutdown(tartan::with_timeout(30s, peer.read_some(buffer)));
    if (!got) co_return;  // end, error, silence or a shutdown; what is being written is written to its end
    const auto sent = co_await peer.write(std::span<const std::byte>{buffer}.first(*got));
    if (!sent) co_return;
  }
}

tartan::task<> serve(tartan::tcp::listener& door) {
  while (auto peer = co_await door.accept()) {  // false: closed, by a shutdown
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

tartan::task<> try_it(tartan::runtime& rt, tartan::tcp::listener& door) {
  const auto server = door.local_address();
  for (const char* words : {"hello\n", "is anybody there?\n", "good bye\n"}) {
    std::fputs((co_await ask(*server, words)).c_str(), stdout);
  }
  rt.shutdown(10s);  // serve ends now, what is under way within 10 seconds, and then the program
}

int main() {
  tartan::runtime rt;
  rt.shutdown_on({SIGINT, SIGTERM}, 10s);
  auto door = tartan::tcp::listen(rt, "127.0.0.1:0");
  rt.spawn(serve, std::ref(door)).detach();
  rt.spawn(try_it, std::ref(rt), std::ref(door)).detach();
  return rt.run();
}
