#pragma once
/// TCP: streams and listeners.

#include <chrono>
#include <optional>
#include <source_location>
#include <string_view>
#include <tartan/core/color.h>
#include <tartan/core/post.h>
#include <tartan/core/result.h>
#include <tartan/core/spawn.h>
#include <tartan/io/accept.h>
#include <tartan/io/address.h>
#include <tartan/io/byte_stream.h>

namespace tartan::tcp {

class listener;

/// A connection.
class stream : public socket_stream {
 public:
  /// Closed.
  stream() noexcept = default;

  /// Takes over a connected socket, in a color; makes it non-blocking and leaves its options as they are.
  ///
  /// Errors: what the system says; then the descriptor is still the caller's.
  [[nodiscard]] static result<stream> from_fd(int descriptor, tartan::color c,
                                              std::source_location site = std::source_location::current());
  [[nodiscard]] static result<stream> from_fd(runtime& rt, int descriptor, tartan::color c);

  /// Whether small writes are sent at once instead of being gathered (TCP_NODELAY). On unless it was turned off, here or in
  /// listen_options; but for from_fd.
  result<> set_no_delay(bool on) noexcept;

  /// Asks a silent peer whether it is still there (SO_KEEPALIVE): first after `idle`, then each `interval`; after `probes` without
  /// an answer, operations fail with std::errc::timed_out. Off unless it was turned on.
  ///
  /// Limits: 1 s to 32767 s; 1 to 127 probes.
  result<> set_keep_alive(std::chrono::seconds idle, std::chrono::seconds interval = std::chrono::seconds{10}, int probes = 6) noexcept;
  result<> set_keep_alive(bool on) noexcept;

  /// Whether close throws away what was not sent yet and resets the connection (SO_LINGER with no time), instead of sending the rest
  /// in the background. To linger for a time would keep the worker waiting in close: rather shutdown_send, and read to the end.
  result<> set_reset_on_close(bool on) noexcept;

 private:
  friend class detail::accept_op<stream>;
  friend class detail::connect_op<stream>;
  explicit stream(detail::slot_key key) noexcept : socket_stream{key} {}
};

/// How to listen.
struct listen_options {
  /// Connections that the system keeps until they are accepted; 0: SOMAXCONN. The system may keep fewer (net.core.somaxconn).
  int backlog = 0;
  /// Connections that are accepted in one event before others go first. Limit: 1 to 64.
  unsigned batch = 16;
  /// Lets several listeners, of this program and of others of this user, share the port: the system spreads connections.
  bool reuse_port = false;
  /// At an IPv6 address: takes clients of IPv6 alone, so that another listener may have the same port for IPv4. Without it "[::]:80" takes those of IPv4
  /// as well, with addresses like ::ffff:192.0.2.1, whatever net.ipv6.bindv6only says (not in a simulation, where
  /// the two families never meet). Not looked at for an IPv4 address; with one of IPv4 in IPv6's form the system says std::errc::invalid_argument.
  bool ipv6_only = false;
  /// The accepted connections' TCP_NODELAY.
  bool no_delay = true;
  /// The listener's own color.
  tartan::color color{};
};

/// Accepts connections: `auto peer = co_await listener.accept()`.
///
/// After runtime::stop() it is closed.
class listener : public detail::listener_of<stream> {
 public:
  listener() noexcept = default;

  /// Takes over a socket that listens, as one that a service manager has opened, in a color; makes it non-blocking and leaves its options
  /// as they are, TCP_NODELAY of what it accepts for one. `batch`: see listen_options.
  ///
  /// Errors: what the system says; std::errc::invalid_argument for a socket that does not listen for streams,
  /// std::errc::address_family_not_supported for one of another family; errc::canceled after runtime::stop(). Then the descriptor is
  /// still the caller's.
  [[nodiscard]] static result<listener> from_fd(int descriptor, tartan::color c, unsigned batch = 16,
                                                std::source_location site = std::source_location::current());
  [[nodiscard]] static result<listener> from_fd(runtime& rt, int descriptor, tartan::color c, unsigned batch = 16);

 private:
  friend result<listener> try_listen(runtime& rt, const address& at, const listen_options& with);
  explicit listener(detail::slot_key key) noexcept : listener_of{key} {}
};

/// A listener at an address; port 0: the system picks one, see local_address().
///
/// Threads: any, before or during a run.
/// Errors: listen throws std::system_error, or std::invalid_argument for a text that is no address; try_listen gives them.
/// errc::canceled after runtime::stop().
[[nodiscard]] result<listener> try_listen(runtime& rt, const address& at, const listen_options& with = {});
[[nodiscard]] listener listen(runtime& rt, const address& at, const listen_options& with = {});
[[nodiscard]] listener listen(runtime& rt, std::string_view at, const listen_options& with = {});

/// How to connect.
struct connect_options {
  /// The local end of the connection; the system chooses it by default. With port 0 the system chooses the port once
  /// the peer is known, so connections to different peers may share one. A port that is given may still be in TIME_WAIT
  /// from a connection that was made with this option (SO_REUSEADDR), unless that went to the same peer.
  address local_address{};
};

/// `auto peer = co_await connect(to)`: connects; the stream has the color that runs.
///
/// Ends early if the coroutine is canceled, as with_timeout does; with a callback, by a limit (below). Without one a peer that does not
/// answer takes as long as the system tries, some two minutes.
/// Errors: what the system says, as std::errc::connection_refused; std::errc::address_family_not_supported for a Unix
/// address, and for a local address of another family; std::errc::address_not_available for one that is not this
/// machine's, std::errc::address_in_use; errc::canceled.
/// Cost: the socket is made, and the connection begun, by this call: four system calls, then one, and two more if
/// it has to be waited for.
[[nodiscard]] inline auto connect(const address& to, const connect_options& with,
                                  std::source_location site = std::source_location::current()) {
  return detail::io_awaitable<detail::connect_op<stream>>{
      std::in_place, detail::begin_connection(detail::transport::tcp, to, with.local_address, site)};
}
[[nodiscard]] inline auto connect(const address& to, std::source_location site = std::source_location::current()) {
  return connect(to, connect_options{}, site);
}
template <detail::completion_of<detail::connect_op<stream>> F>
void connect(const address& to, const connect_options& with, F&& f,
             std::source_location site = std::source_location::current()) {
  detail::start_io<detail::connect_op<stream>>(
      std::forward<F>(f), site, detail::begin_connection(detail::transport::tcp, to, with.local_address, site));
}
template <detail::completion_of<detail::connect_op<stream>> F>
void connect(const address& to, F&& f, std::source_location site = std::source_location::current()) {
  connect(to, connect_options{}, std::forward<F>(f), site);
}
/// The same for so long at most, and not at once but in an event of its own.
///
/// Errors: errc::timed_out.
template <class Rep, class Period, detail::completion_of<detail::connect_op<stream>> F>
void connect(const address& to, const connect_options& with, std::chrono::duration<Rep, Period> limit, F&& f,
             std::source_location site = std::source_location::current()) {
  spawn_in(detail::placed_color{current_color(), site},
           &detail::connect_then_call<stream, std::chrono::duration<Rep, Period>, std::decay_t<F>>,
           detail::transport::tcp, to, with.local_address, limit, std::forward<F>(f), site)
      .detach();
}
template <class Rep, class Period, detail::completion_of<detail::connect_op<stream>> F>
void connect(const address& to, std::chrono::duration<Rep, Period> limit, F&& f,
             std::source_location site = std::source_location::current()) {
  connect(to, connect_options{}, limit, std::forward<F>(f), site);
}

}  // namespace tartan::tcp
