// Boost.Beast, a strand per connection on an io_context that N threads run: beast_strand ROOT PORT WORKERS
// Requests are read by Beast's parser; an answer is a head made at the start, a Date of this second, and the file in memory, sent as one gathered
// write, which is less work than Beast's own serializer. The number is not that of a finished server: there are no timeouts.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "bench/web/files.h"
#include "bench/web/port.h"

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using strand = asio::strand<asio::io_context::executor_type>;
using tcp_socket = asio::basic_stream_socket<asio::ip::tcp, strand>;

struct file {
  std::string head;
  std::string body;
};
using files = std::unordered_map<std::string_view, const file*>;

/// "Date: ...", the end of a head. Made once a second by each thread.
const std::string& date_line() {
  thread_local std::time_t made = 0;
  thread_local std::string line;
  const std::time_t now = std::time(nullptr);
  if (now != made) {
    std::tm parts{};
    std::array<char, 64> text;
    gmtime_r(&now, &parts);
    line.assign(text.data(), std::strftime(text.data(), text.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n\r\n", &parts));
    made = now;
  }
  return line;
}

class connection : public std::enable_shared_from_this<connection> {
 public:
  connection(tcp_socket socket, const files& known) : socket_{std::move(socket)}, known_{&known} {}

  void read() {
    parser_.emplace();
    http::async_read(socket_, buffer_, *parser_, [self = shared_from_this()](beast::error_code failed, std::size_t) {
      if (!failed) self->answer();
    });
  }

 private:
  void answer() {
    static const file missing{"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n", ""};
    const http::request<http::empty_body>& request = parser_->get();
    const auto found = known_->find({request.target().data(), request.target().size()});
    const file& with = found == known_->end() ? missing : *found->second;
    stays_ = request.keep_alive();
    end_ = stays_ ? date_line() : "Connection: close\r\n" + date_line();
    const std::array<asio::const_buffer, 3> pieces{asio::buffer(with.head), asio::buffer(end_), asio::buffer(with.body)};
    asio::async_write(socket_, pieces, [self = shared_from_this()](beast::error_code failed, std::size_t) {
      if (failed) return;
      if (self->stays_) return self->read();
      self->socket_.shutdown(asio::socket_base::shutdown_send, failed);
    });
  }

  tcp_socket socket_;
  const files* known_;
  beast::flat_static_buffer<8192> buffer_;
  boost::optional<http::request_parser<http::empty_body>> parser_;
  std::string end_;
  bool stays_ = true;
};

class door {
 public:
  door(asio::io_context& context, unsigned short port, const files& known)
      : context_{&context}, acceptor_{context, {asio::ip::address_v4::loopback(), port}}, known_{&known} {
    acceptor_.listen(asio::socket_base::max_listen_connections);
  }

  void accept() {
    acceptor_.async_accept(strand{context_->get_executor()}, [this](beast::error_code failed, tcp_socket socket) {
      if (!failed) {
        socket.set_option(asio::ip::tcp::no_delay{true}, failed);
        std::make_shared<connection>(std::move(socket), *known_)->read();
      }
      accept();
    });
  }

 private:
  asio::io_context* context_;
  asio::ip::tcp::acceptor acceptor_;
  const files* known_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return std::fprintf(stderr, "beast_strand ROOT PORT WORKERS\n"), 2;
  const auto found = bench::files_below(argv[1]);
  std::vector<file> kept;
  kept.reserve(found.size());
  files known;
  for (const auto& [target, body] : found) known[target] = &kept.emplace_back(file{bench::head_of(body.size(), "Beast"), body});
  const int workers = std::atoi(argv[3]);
  asio::io_context context{workers};
  door in{context, bench::port_of(argv[2]), known};
  in.accept();
  std::vector<std::thread> others;
  for (int n = 1; n < workers; ++n) others.emplace_back([&context] { context.run(); });
  context.run();
}
