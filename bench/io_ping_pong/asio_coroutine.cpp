// Ping-pong by Boost.Asio with C++20 coroutines, errors as values. One worker: no strands. More: a strand for each connection.
// The number is not that of an io_context for each thread with connections dealt out among them.

#include "bench/lanes/asio_sockets.h"

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "bench/io_ping_pong/workload.h"

namespace {

template <class Executor>
boost::asio::awaitable<void, Executor> serve(bench::asio_socket<Executor> socket) {
  constexpr boost::asio::use_awaitable_t<Executor> token;
  std::array<char, bench::read_buffer_bytes> buffer;
  for (boost::system::error_code error;;) {
    const std::size_t got = co_await socket.async_read_some(boost::asio::buffer(buffer), boost::asio::redirect_error(token, error));
    if (error) co_return;
    co_await boost::asio::async_write(socket, boost::asio::buffer(buffer.data(), got), boost::asio::redirect_error(token, error));
    if (error) co_return;
  }
}

class asio_coroutine {
 public:
  explicit asio_coroutine(unsigned workers) : context_{workers} {}

  void echo(bench::transport over, const std::vector<int>& sockets) {
    context_.run(sockets.size(), [&](std::size_t n, const auto& executor) {
      auto socket = bench::asio_context::adopt(executor, over == bench::transport::tcp, sockets[n]);
      boost::asio::co_spawn(executor, serve(std::move(socket)), boost::asio::detached);
    });
  }

 private:
  bench::asio_context context_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::ping_pong<asio_coroutine>({argc, argv, "asio_coroutine"});
}
