#pragma once
/// Serves RPC programs on listeners and datagram sockets.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>
#include <tartan/core/runtime.h>
#include <tartan/core/task.h>
#include <tartan/io/address.h>
#include <tartan/io/local.h>
#include <tartan/io/tcp.h>
#include <tartan/io/udp.h>
#include <tartan/rpc/connection.h>
#include <tartan/rpc/programs.h>
#include <tartan/rpc/settings.h>

namespace tartan::rpc {

namespace detail {
class server_state;
}  // namespace detail

/// The settings of a server: of each of its connections, and how many there may be.
struct server_settings : settings {
  std::size_t most_connections = 10'000;  ///< further clients are disconnected at once
};

/// Accepts connections and serves programs on each:
///
///     rpc::server site{rt, all};
///     site.listen("0.0.0.0:2049");
///     rt.shutdown_on({SIGINT, SIGTERM}, 10s);
///     return rt.run();
///
/// Color: each connection has one of its own, in which procedures run: different clients are served in parallel. A procedure
/// moves on with `on` or `in` to spread the calls of one client.
/// Threads: one at a time.
/// Lifetime: must not outlive its runtime. runtime::shutdown() ends it gracefully, as close() does, if it has a listener. The handlers of the
/// programs must live until close() or the run has ended.
/// Errors: what a client breaks ends its connection.
/// Limits: server_settings.
/// Source: RFC 5531.
class server {
 public:
  server(runtime& rt, std::shared_ptr<const programs> serves, server_settings with = {});
  /// The same with programs of its own.
  server(runtime& rt, programs serves, server_settings with = {});
  server(server&&) noexcept = default;
  server& operator=(server&&) noexcept = delete;
  ~server();

  /// Listens at "127.0.0.1:2049", "[::]:2049" or "unix:/run/x"; gives the address, with the port if the system picked it.
  /// `seal` turns each accepted stream into the one that messages come on: TLS from the first byte.
  ///
  /// Errors: std::invalid_argument for a text that is no address; std::system_error.
  address listen(std::string_view at, stream_upgrade seal = {});
  /// Receives datagrams there.
  ///
  /// Errors: as of listen.
  address listen_udp(std::string_view at);
  /// The same with sockets that are there, as those that a service manager has opened.
  void serve(tcp::listener from, stream_upgrade seal = {});
  void serve(local::listener from, stream_upgrade seal = {});
  void serve(udp::socket from);

  /// Accepts nothing more and reads no further call; waits until calls in progress are answered, but not longer than that,
  /// and closes what is left. When it ends, no coroutine of a procedure runs any more.
  [[nodiscard]] task<> close(std::chrono::nanoseconds within);
  /// Connections now, datagram sockets included. May be outdated at once.
  [[nodiscard]] task<std::size_t> connections() const;

 private:
  std::shared_ptr<detail::server_state> state_;
};

}  // namespace tartan::rpc
