#pragma once
// Boost.Asio with sockets: one thread and no strands, or a strand for each connection on several threads.

#include <utility>  // Boost 1.74 forgot it

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace bench {

/// The executors' own types, so that nothing is type-erased twice.
using asio_plain = boost::asio::io_context::executor_type;
using asio_strand_of_context = boost::asio::strand<asio_plain>;

template <class Executor>
using asio_socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, Executor>;

/// One context, told how many threads will run it.
class asio_context {
 public:
  explicit asio_context(unsigned threads) : threads_{threads}, context_{static_cast<int>(threads)} {}

  /// Calls `start(executor)` for each of `count` connections: with the context's executor if one thread runs it, else with a strand of
  /// its own. Then runs until nothing is left.
  template <class F>
  void run(std::size_t count, F start) {
    for (std::size_t n = 0; n < count; ++n) {
      if (threads_ == 1) {
        start(n, context_.get_executor());
      } else {
        start(n, boost::asio::make_strand(context_));
      }
    }
    std::vector<std::thread> others;
    for (unsigned n = 1; n < threads_; ++n) others.emplace_back([this] { context_.run(); });
    context_.run();
    for (std::thread& each : others) each.join();
  }

  /// Takes a descriptor over.
  template <class Executor>
  static asio_socket<Executor> adopt(const Executor& executor, bool tcp, int descriptor) {
    const boost::asio::generic::stream_protocol protocol{tcp ? AF_INET : AF_UNIX, tcp ? IPPROTO_TCP : 0};
    return asio_socket<Executor>{executor, protocol, descriptor};
  }

 private:
  unsigned threads_;
  boost::asio::io_context context_;
};

}  // namespace bench
