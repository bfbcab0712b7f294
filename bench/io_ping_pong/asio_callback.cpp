// Ping-pong by Boost.Asio with callbacks. One worker: no strands. More: a strand for each connection, which is what makes a program
// of many threads as simple as a color does.
// The number is not that of an io_context for each thread with connections dealt out among them.

#include "bench/lanes/asio_sockets.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <memory>

#include "bench/io_ping_pong/workload.h"

namespace {

template <class Executor>
class connection : public std::enable_shared_from_this<connection<Executor>> {
 public:
  explicit connection(bench::asio_socket<Executor> socket) : socket_{std::move(socket)} {}

  void read() {
    socket_.async_read_some(boost::asio::buffer(buffer_), [self = this->shared_from_this()](boost::system::error_code error, std::size_t got) {
      if (!error) self->write(got);
    });
  }

 private:
  void write(std::size_t bytes) {
    boost::asio::async_write(socket_, boost::asio::buffer(buffer_.data(), bytes),
                             [self = this->shared_from_this()](boost::system::error_code error, std::size_t /*sent*/) {
                               if (!error) self->read();
                             });
  }

  bench::asio_socket<Executor> socket_;
  std::array<char, bench::read_buffer_bytes> buffer_;
};

class asio_callback {
 public:
  explicit asio_callback(unsigned workers) : context_{workers} {}

  void echo(bench::transport over, const std::vector<int>& sockets) {
    context_.run(sockets.size(), [&](std::size_t n, const auto& executor) {
      auto socket = bench::asio_context::adopt(executor, over == bench::transport::tcp, sockets[n]);
      std::make_shared<connection<std::decay_t<decltype(executor)>>>(std::move(socket))->read();
    });
  }

 private:
  bench::asio_context context_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::ping_pong<asio_callback>({argc, argv, "asio_callback"});
}
