// W14 by Boost.Asio: a coroutine per connection on an io_context that N threads run, and a mutex per shard.
// The number is not that of a strand per shard, which would cost two posts for each command.

#include <utility>  // Boost 1.74 forgot it

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/w14_key_value/conversation.h"
#include "bench/w14_key_value/workload.h"

namespace {

namespace asio = boost::asio;
using executor = asio::io_context::executor_type;
using tcp_socket = asio::basic_stream_socket<asio::ip::tcp, executor>;
using tcp_acceptor = asio::basic_socket_acceptor<asio::ip::tcp, executor>;
constexpr asio::use_awaitable_t<executor> token;

struct store {
  struct alignas(128) locked_shard {
    std::mutex mutex;
    bench::shard keys;
  };

  locked_shard& of(std::string_view key) {
    std::uint64_t x = std::hash<std::string_view>{}(key);
    return all[(x ^ x >> 32) % all.size()];
  }

  std::array<locked_shard, bench::shard_count> all;
};

void run_command(bench::conversation& with, store& keys) {
  store::locked_shard& here = keys.of(with.key());
  const std::lock_guard alone{here.mutex};
  with.run(here.keys);
}

asio::awaitable<void, executor> serve(tcp_socket peer, store& keys) {
  bench::conversation with;
  using step = bench::conversation::step;
  for (boost::system::error_code error;;) {
    const auto room = with.room();
    const std::size_t got =
        co_await peer.async_read_some(asio::buffer(room.data(), room.size()), asio::redirect_error(token, error));
    if (error) co_return;
    with.add(got);
    step is = step::full;
    while (is == step::full) {
      while ((is = with.next()) == step::shard) run_command(with, keys);
      if (!with.output().empty())
        co_await asio::async_write(peer, asio::buffer(with.output()), asio::redirect_error(token, error));
      if (error) co_return;
      with.clear_output();
    }
    if (is == step::over) co_return;
  }
}

asio::awaitable<void, executor> accept_all(tcp_acceptor door, store& keys) {
  for (;;) {
    boost::system::error_code error;
    tcp_socket peer = co_await door.async_accept(asio::redirect_error(token, error));
    if (error) continue;
    peer.set_option(asio::ip::tcp::no_delay{true}, error);
    const executor on = peer.get_executor();
    asio::co_spawn(on, serve(std::move(peer), keys), asio::detached);
  }
}

void run(unsigned workers, std::uint16_t port) {
  asio::io_context context{static_cast<int>(workers)};
  store keys;
  tcp_acceptor door{context.get_executor(), {asio::ip::address_v4::loopback(), port}};
  asio::co_spawn(context.get_executor(), accept_all(std::move(door), keys), asio::detached);
  std::vector<std::thread> others;
  for (unsigned n = 1; n < workers; ++n) others.emplace_back([&context] { context.run(); });
  context.run();
}

}  // namespace

int main(int argc, char** argv) {
  const bench::request asked{argc, argv, "asio_mutex"};
  return bench::key_value(asked, [&](std::uint16_t port, bench::server_counters&) { run(asked.workers, port); });
}
