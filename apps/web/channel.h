#pragma once
/// The stream to a client.

#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/http/ip_address.h>
#include <tartan/io/tcp.h>
#include <tartan/tls/server.h>
#include <tartan/tls/stream.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace web {

/// A socket, or TLS over one: read and written in the same way. What only one of the two can do, or has to do, has a name here.
///
/// Color, lifetime: the stream's. One read and one write at a time. Errors: the stream's.
class channel {
 public:
  explicit channel(tartan::tcp::stream plain) noexcept : plain_{std::move(plain)}, socket_{&plain_} {}
  /// TLS; the handshake is still to be done. Errors: std::bad_alloc.
  channel(tartan::tcp::stream under, tartan::tls::server& with)
      : sealed_{with.begin(tartan::any_stream{std::move(under)})}, socket_{sealed_.under()->as<tartan::tcp::stream>()} {}
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  /// Speaks TLS: begins with a handshake, and the client can trust that nobody else listens.
  [[nodiscard]] bool is_sealed() const noexcept { return socket_ != &plain_; }
  /// Its end is told under seal before the socket's, and has to be waited for.
  [[nodiscard]] bool has_farewell() const noexcept { return is_sealed(); }
  /// The kernel can send a file on the socket, which this program then need not read.
  [[nodiscard]] bool sends_files() const noexcept { return !is_sealed(); }
  /// Bytes that a write keeps if the client does not take them: as much is handed over at a time.
  [[nodiscard]] std::size_t most_at_once(std::size_t wanted) const noexcept { return is_sealed() && wanted > record ? record : wanted; }
  /// Whether some of what try_write took has not left. Then writable() waits until it has.
  [[nodiscard]] bool holds_back() { return is_sealed() && !sealed_.try_write(parts_of_bytes{}); }

  /// For the awaited reads of a coroutine that is made for either kind.
  [[nodiscard]] tartan::tls::stream& sealed() noexcept { return sealed_; }
  /// The socket, also under TLS: closing, canceling and addresses are its own.
  [[nodiscard]] tartan::tcp::stream& socket() noexcept { return *socket_; }
  [[nodiscard]] const tartan::tcp::stream& socket() const noexcept { return *socket_; }

  using parts_of_bytes = std::span<const std::span<const std::byte>>;

  [[nodiscard]] tartan::result<std::size_t> try_read_some(std::span<std::byte> into) {
    return is_sealed() ? sealed_.try_read_some(into) : plain_.try_read_some(into);
  }
  /// Parts that may be empty; at least one is not.
  [[nodiscard]] tartan::result<std::size_t> try_write(std::span<const std::byte> first, std::span<const std::byte> second = {});

  [[nodiscard]] tartan::task<tartan::result<>> write(std::string_view all);
  [[nodiscard]] tartan::task<tartan::result<>> writable();
  /// Reads the header of the PROXY protocol from the socket, and nothing behind it. Before all else. Gives the client's address; nothing if the proxy
  /// speaks for itself.
  ///
  /// Errors: also std::errc::protocol_error, for what is no such header.
  [[nodiscard]] tartan::task<tartan::result<std::optional<tartan::http::ip_address>>> read_proxy_header();
  [[nodiscard]] tartan::task<tartan::result<>> handshake() { return sealed_.handshake(); }
  /// Tells the client that nothing more comes.
  [[nodiscard]] tartan::task<tartan::result<>> say_farewell() { return sealed_.shutdown_send(); }

 private:
  static constexpr std::size_t record = 16 * 1024;  ///< of TLS

  tartan::tcp::stream plain_;   ///< closed, if it is sealed
  tartan::tls::stream sealed_;  ///< closed, if it is not
  tartan::tcp::stream* socket_;
};

}  // namespace web
