#pragma once
/// Unix sockets: streams between processes of one machine, which can pass descriptors.

#include <chrono>
#include <cstddef>
#include <optional>
#include <source_location>
#include <span>
#include <string_view>
#include <tartan/buf/bytes.h>
#include <tartan/core/color.h>
#include <tartan/core/post.h>
#include <tartan/core/result.h>
#include <tartan/core/spawn.h>
#include <tartan/io/accept.h>
#include <tartan/io/address.h>
#include <tartan/io/byte_stream.h>
#include <tartan/io/pass_descriptors.h>
#include <utility>

namespace tartan::local {

class listener;

/// A connection.
///
/// Descriptors that arrive while a plain read runs are closed by the system.
class stream : public socket_stream {
 public:
  /// Closed.
  stream() noexcept = default;

  /// Takes over a connected socket, in a color; makes it non-blocking.
  ///
  /// Errors: what the system says; then the descriptor is still the caller's.
  [[nodiscard]] static result<stream> from_fd(int descriptor, tartan::color c,
                                              std::source_location site = std::source_location::current());
  [[nodiscard]] static result<stream> from_fd(runtime& rt, int descriptor, tartan::color c);

  /// Writes all bytes; the descriptors travel with the first of them. Gives how many bytes that was.
  ///
  /// Lifetime: the descriptors stay the caller's, and may be closed when the operation has ended.
  /// Errors: std::errc::invalid_argument for more than 16 descriptors, or without a byte to carry them.
  /// Limits: max_passed_descriptors.
  [[nodiscard]] auto send_with(const_bytes all, std::span<const int> descriptors) noexcept {
    return detail::io_awaitable<detail::send_with_op>{std::in_place, key(), all, descriptors};
  }
  template <detail::completion_of<detail::send_with_op> F>
  void send_with(const_bytes all, std::span<const int> descriptors, F&& f,
                 std::source_location site = std::source_location::current()) {
    detail::start_io<detail::send_with_op>(std::forward<F>(f), site, key(), all, descriptors);
  }

  /// Reads what there is, at least a byte, and the descriptors that came with it; they are the caller's from then on, close-on-exec.
  ///
  /// Errors: as read_some. std::errc::message_size if more descriptors came than there is room for, or than this process may open:
  /// then none is given, those that came are closed, and the bytes that were read with them are lost.
  [[nodiscard]] auto receive_with(mutable_bytes into, std::span<int> descriptors) noexcept {
    return detail::io_awaitable<detail::receive_with_op>{std::in_place, key(), into, descriptors};
  }
  template <detail::completion_of<detail::receive_with_op> F>
  void receive_with(mutable_bytes into, std::span<int> descriptors, F&& f,
                    std::source_location site = std::source_location::current()) {
    detail::start_io<detail::receive_with_op>(std::forward<F>(f), site, key(), into, descriptors);
  }

 private:
  friend class detail::accept_op<stream>;
  friend class detail::connect_op<stream>;
  friend result<std::pair<stream, stream>> pair(runtime& rt, tartan::color first, tartan::color second);
  friend result<std::pair<stream, stream>> pair(std::source_location site);
  [[nodiscard]] static result<std::pair<stream, stream>> open_pair(detail::runtime_state& rt, tartan::color first, tartan::color second);
  explicit stream(detail::slot_key key) noexcept : socket_stream{key, detail::channel_kind::local_socket} {}
};

/// How to listen.
struct listen_options {
  /// Connections that the system keeps until they are accepted; 0: SOMAXCONN. The system may keep fewer (net.core.somaxconn).
  int backlog = 0;
  /// Connections that are accepted in one event before others go first. Limit: 1 to 64.
  unsigned batch = 16;
  /// Whether close removes the path, if it still is this listener's. A path stays when the program is killed, and is in the way then.
  bool unlink_on_close = false;
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
  /// as they are; its path stays when it is closed. `batch`: see listen_options.
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

/// A listener at a path ("/run/x") or an abstract name ("@x").
///
/// Threads: any, before or during a run.
/// Errors: listen throws std::system_error; try_listen gives them. std::errc::address_in_use if the path exists, whatever it is.
/// errc::canceled after runtime::stop().
[[nodiscard]] result<listener> try_listen(runtime& rt, const address& at, const listen_options& with = {});
[[nodiscard]] listener listen(runtime& rt, const address& at, const listen_options& with = {});
[[nodiscard]] listener listen(runtime& rt, std::string_view path, const listen_options& with = {});

/// `auto peer = co_await connect(to)`: connects; the stream has the color that runs.
///
/// Is over at once, in one way or the other, but for what a security module may delay: a limit is for programs that treat all
/// connections alike.
/// Errors: what the system says: std::errc::no_such_file_or_directory, std::errc::connection_refused if nobody listens, and
/// std::errc::resource_unavailable_try_again at once if the listener's queue is full. std::errc::address_family_not_supported for an
/// address that is no path. errc::canceled.
[[nodiscard]] inline auto connect(const address& to, std::source_location site = std::source_location::current()) {
  return detail::io_awaitable<detail::connect_op<stream>>{
      std::in_place, detail::begin_connection(detail::transport::local, to, address{}, site)};
}
template <detail::completion_of<detail::connect_op<stream>> F>
void connect(const address& to, F&& f, std::source_location site = std::source_location::current()) {
  detail::start_io<detail::connect_op<stream>>(
      std::forward<F>(f), site, detail::begin_connection(detail::transport::local, to, address{}, site));
}
/// The same for so long at most, and not at once but in an event of its own.
///
/// Errors: errc::timed_out.
template <class Rep, class Period, detail::completion_of<detail::connect_op<stream>> F>
void connect(const address& to, std::chrono::duration<Rep, Period> limit, F&& f,
             std::source_location site = std::source_location::current()) {
  spawn_in(detail::placed_color{current_color(), site}, &detail::connect_then_call<stream, std::chrono::duration<Rep, Period>, std::decay_t<F>>,
           detail::transport::local, to, address{}, limit, std::forward<F>(f), site)
      .detach();
}

/// Two streams that are connected to each other, in a color each.
///
/// Threads: any, before or during a run; without a runtime inside an event, and both in its color.
[[nodiscard]] result<std::pair<stream, stream>> pair(runtime& rt, tartan::color first, tartan::color second);
[[nodiscard]] result<std::pair<stream, stream>> pair(std::source_location site = std::source_location::current());

}  // namespace tartan::local
