// Ping-pong by Tartan with callbacks.
// The number is not that of one color for all connections, which would spare looking at several but keep one worker busy at most.

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "bench/io_ping_pong/workload.h"
#include "bench/lanes/tartan_sockets.h"

namespace {

/// Destroys itself when the client is gone.
template <class Stream>
class connection {
 public:
  connection(Stream stream, bench::tartan_sockets::presence here) : here_{std::move(here)}, stream_{std::move(stream)} {}

  static void read(std::unique_ptr<connection> self) {
    connection& on = *self;
    on.stream_.read_some(on.buffer_, [self = std::move(self)](tartan::result<std::size_t> got) mutable {
      if (got) write(std::move(self), *got);
    });
  }

 private:
  static void write(std::unique_ptr<connection> self, std::size_t bytes) {
    connection& on = *self;
    on.stream_.write(std::span<const std::byte>{on.buffer_}.first(bytes), [self = std::move(self)](tartan::result<std::size_t> sent) mutable {
      if (sent) read(std::move(self));
    });
  }

  bench::tartan_sockets::presence here_;
  Stream stream_;
  std::array<std::byte, bench::read_buffer_bytes> buffer_;
};

class tartan_callback : public bench::tartan_sockets {
 public:
  using tartan_sockets::tartan_sockets;

  void echo(bench::transport over, const std::vector<int>& sockets) {
    run(over == bench::transport::tcp, sockets, [](auto stream, presence here) {
      using served = connection<decltype(stream)>;
      served::read(std::make_unique<served>(std::move(stream), std::move(here)));
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  return bench::ping_pong<tartan_callback>({argc, argv, "tartan_callback"});
}
