#include <tartan/io/tcp.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <chrono>

#include "io/object_fixture.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;
using test::here_color;

class socket_options : public test::with_objects_on_either {
 protected:
  /// Runs with the two ends of a connection.
  template <class F>
  void connected(F body) {
    in_color([&]() -> task<> {
      auto door = tcp::listen(rt(), "127.0.0.1:0", {.color = here_color});
      auto client = co_await tcp::connect(*door.local_address());
      auto server = co_await door.accept(here_color);
      EXPECT_TRUE(client && server);
      co_await body(*client, *server);
      client->close();
      EXPECT_EQ(client->set_keep_alive(true).error(), errc::closed);
      EXPECT_EQ(client->set_reset_on_close(true).error(), errc::closed);
      EXPECT_EQ(client->set_send_buffer(1000).error(), errc::closed);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(on, socket_options, testing::ValuesIn(test::both_machines()), test::place_name);

TEST_P(socket_options, say_how_to_ask_a_silent_peer) {
  connected([](tcp::stream& client, tcp::stream&) -> task<> {
    EXPECT_TRUE(client.set_keep_alive(60s, 5s, 3));
    EXPECT_EQ(*client.option(SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(*client.option(IPPROTO_TCP, TCP_KEEPIDLE), 60);
    EXPECT_EQ(*client.option(IPPROTO_TCP, TCP_KEEPINTVL), 5);
    EXPECT_EQ(*client.option(IPPROTO_TCP, TCP_KEEPCNT), 3);
    EXPECT_TRUE(client.set_keep_alive(false));
    EXPECT_EQ(*client.option(SOL_SOCKET, SO_KEEPALIVE), 0);
    EXPECT_EQ(client.set_keep_alive(0s).error(), std::errc::invalid_argument);
    EXPECT_EQ(client.set_keep_alive(24h).error(), std::errc::invalid_argument);
    EXPECT_EQ(client.set_keep_alive(60s, 5s, 1000).error(), std::errc::invalid_argument);
    co_return;
  });
}

TEST_P(socket_options, reset_a_connection_when_it_closes) {
  connected([](tcp::stream& client, tcp::stream& server) -> task<> {
    EXPECT_TRUE(client.set_reset_on_close(true));
    client.close();
    std::array<std::byte, 8> room{};
    EXPECT_EQ((co_await server.read_some(room)).error(), std::errc::connection_reset);
  });
  connected([](tcp::stream& client, tcp::stream& server) -> task<> {
    EXPECT_TRUE(client.set_reset_on_close(true));
    EXPECT_TRUE(client.set_reset_on_close(false));
    client.close();
    std::array<std::byte, 8> room{};
    EXPECT_EQ((co_await server.read_some(room)).error(), errc::end_of_stream);
  });
}

TEST_P(socket_options, set_how_much_is_buffered) {
  connected([](tcp::stream& client, tcp::stream&) -> task<> {
    EXPECT_TRUE(client.set_send_buffer(20'000));
    EXPECT_TRUE(client.set_receive_buffer(30'000));
    EXPECT_EQ(*client.option(SOL_SOCKET, SO_SNDBUF), 40'000);
    EXPECT_EQ(*client.option(SOL_SOCKET, SO_RCVBUF), 60'000);
    EXPECT_TRUE(client.set_no_delay(false));
    EXPECT_EQ(*client.option(IPPROTO_TCP, TCP_NODELAY), 0);
    co_return;
  });
}

}  // namespace
}  // namespace tartan
