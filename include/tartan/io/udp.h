#pragma once
/// UDP.

#include <cstddef>
#include <optional>
#include <source_location>
#include <span>
#include <string_view>
#include <tartan/buf/bytes.h>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/io/address.h>
#include <tartan/io/datagram.h>
#include <tartan/io/object.h>
#include <utility>

namespace tartan::udp {

/// How to bind.
struct options {
  /// Lets several sockets, of this program and of others of this user, share the port: the system spreads datagrams.
  bool reuse_port = false;
  /// Allows sending to broadcast addresses.
  bool broadcast = false;
  /// The socket's color.
  tartan::color color{};
};

/// A socket for datagrams: bound, and maybe connected.
///
/// Each operation comes in two forms: awaited, and with a callback that takes the same result, called later, never inside the call.
/// Lifetime: what is sent from or received into must live until the operation has ended.
/// Errors: errc::canceled, errc::closed; else what the system says. std::errc::connection_refused on a connected socket: an earlier
/// datagram found nobody there. An error does not end the socket.
/// Cost: one system call if it completes at once.
class socket : public io_object {
 public:
  /// Closed.
  socket() noexcept = default;

  /// Takes over a UDP socket, in a color; makes it non-blocking.
  ///
  /// Errors: what the system says; then the descriptor is still the caller's.
  [[nodiscard]] static result<socket> from_fd(int descriptor, tartan::color c,
                                              std::source_location site = std::source_location::current());
  [[nodiscard]] static result<socket> from_fd(runtime& rt, int descriptor, tartan::color c);

  /// From now on, send and receive mean this peer only. Returns at once: nothing is sent.
  result<> connect(const address& peer, std::source_location site = std::source_location::current()) noexcept;

  /// How much the system buffers (SO_RCVBUF, SO_SNDBUF); what comes in beyond that is lost.
  ///
  /// Errors: what the system says; errc::closed. More than net.core.rmem_max or wmem_max is cut to that.
  result<> set_receive_buffer(int bytes) noexcept;
  result<> set_send_buffer(int bytes) noexcept;

  /// One datagram as it is; from the peer if connected.
  [[nodiscard]] auto receive(mutable_bytes into) noexcept {
    return detail::io_awaitable<detail::receive_op>{std::in_place, key(), into};
  }
  template <detail::completion_of<detail::receive_op> F>
  void receive(mutable_bytes into, F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::receive_op>(std::forward<F>(f), site, key(), into);
  }

  /// The same, and who has sent it.
  [[nodiscard]] auto receive_from(mutable_bytes into) noexcept {
    return detail::io_awaitable<detail::receive_from_op>{std::in_place, key(), into};
  }
  template <detail::completion_of<detail::receive_from_op> F>
  void receive_from(mutable_bytes into, F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::receive_from_op>(std::forward<F>(f), site, key(), into);
  }

  /// Sends one datagram.
  ///
  /// Errors: std::errc::message_size if that is more than a datagram holds.
  /// Limits: 65507 bytes over IPv4.
  [[nodiscard]] auto send_to(const_bytes all, const address& to) noexcept {
    return detail::io_awaitable<detail::send_datagram_op>{std::in_place, key(), all, to};
  }
  template <detail::completion_of<detail::send_datagram_op> F>
  void send_to(const_bytes all, const address& to, F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::send_datagram_op>(std::forward<F>(f), site, key(), all, to);
  }

  /// The same to the peer that it is connected to.
  ///
  /// Errors: std::errc::destination_address_required if it is not.
  [[nodiscard]] auto send(const_bytes all) noexcept { return send_to(all, address{}); }
  template <detail::completion_of<detail::send_datagram_op> F>
  void send(const_bytes all, F&& f, std::source_location site = std::source_location::current()) {
    send_to(all, address{}, std::forward<F>(f), site);
  }

  /// Receives the datagrams that are there, one into each place, with one system call; waits for the first. Gives the
  /// number of places filled, from the front: at least one, unless the span is empty.
  ///
  ///     std::array<std::array<std::byte, 1500>, 32> rooms;
  ///     std::array<tartan::udp::incoming, 32> places;
  ///     for (std::size_t n = 0; n < places.size(); ++n) places[n].room = rooms[n];
  ///     const auto got = co_await s.receive_many(places);
  ///
  /// Lifetime: the places and their rooms must live until the operation has ended.
  /// Limits: max_datagrams_per_call; places behind that stay as they are.
  [[nodiscard]] auto receive_many(std::span<incoming> into) noexcept {
    return detail::io_awaitable<detail::receive_many_op>{std::in_place, key(), into};
  }
  template <detail::completion_of<detail::receive_many_op> F>
  void receive_many(std::span<incoming> into, F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::receive_many_op>(std::forward<F>(f), site, key(), into);
  }

  /// Sends datagrams in order, up to 64 with one system call; waits for room. Gives the number sent.
  ///
  /// Lifetime: the span and the bytes must live until the operation has ended.
  /// Errors: the error of the first datagram. If a later datagram fails, the result is the number sent before it; call
  /// again from there to get its error. After errc::canceled some may have been sent.
  [[nodiscard]] auto send_many(std::span<const outgoing> all) noexcept {
    return detail::io_awaitable<detail::send_many_op>{std::in_place, key(), all};
  }
  template <detail::completion_of<detail::send_many_op> F>
  void send_many(std::span<const outgoing> all, F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::send_many_op>(std::forward<F>(f), site, key(), all);
  }

 private:
  friend result<socket> try_bind(runtime& rt, const address& at, const options& with);
  explicit socket(detail::slot_key key) noexcept : io_object{key} {}
};

/// A socket at an address; port 0: the system picks one, see local_address().
///
/// Threads: any, before or during a run.
/// Errors: bind throws std::system_error, or std::invalid_argument for a text that is no address; try_bind gives them.
/// errc::canceled on a foreign thread after runtime::stop().
[[nodiscard]] result<socket> try_bind(runtime& rt, const address& at, const options& with = {});
[[nodiscard]] socket bind(runtime& rt, const address& at, const options& with = {});
[[nodiscard]] socket bind(runtime& rt, std::string_view at, const options& with = {});

}  // namespace tartan::udp
