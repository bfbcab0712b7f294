// Ping-pong by Tartan with coroutines.
// The number is not that of one color for all connections, which would spare looking at several but keep one worker busy at most.

#include <array>
#include <cstddef>
#include <span>
#include <tartan/core/spawn.h>
#include <utility>

#include "bench/io_ping_pong/workload.h"
#include "bench/lanes/tartan_sockets.h"

namespace {

template <class Stream>
tartan::task<> serve(Stream peer, bench::tartan_sockets::presence /*here*/) {
  std::array<std::byte, bench::read_buffer_bytes> buffer;
  while (const auto got = co_await peer.read_some(buffer)) {
    if (!co_await peer.write(std::span<const std::byte>{buffer}.first(*got))) co_return;
  }
}

class tartan_coroutine : public bench::tartan_sockets {
 public:
  using tartan_sockets::tartan_sockets;

  void echo(bench::transport over, const std::vector<int>& sockets) {
    run(over == bench::transport::tcp, sockets, [](auto stream, presence here) {
      tartan::spawn_in(stream.color(), serve<decltype(stream)>, std::move(stream), std::move(here));
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  return bench::ping_pong<tartan_coroutine>({argc, argv, "tartan_coroutine"});
}
