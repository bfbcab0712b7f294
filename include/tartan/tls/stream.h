#pragma once
/// A sealed stream of bytes: TLS 1.2 or 1.3 over another stream.

#include <cstddef>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <tartan/buf/bytes.h>
#include <tartan/buf/chain.h>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/io/any_stream.h>

namespace tartan::tls {

namespace detail {
class link;  // a connection's state, shared with the operations in progress
}

/// One end of a connection, made by tls::server or tls::client. A stream_of_bytes: byte_stream documents the operations. In addition:
///
/// Color: that of the underlying stream. Cryptography runs in the events that read and write. A handshake takes about a millisecond of CPU (RSA) or a
/// third of that (ECDSA), in one event for each message from the peer.
/// Lifetime: destroying the stream closes the underlying one; pending operations end with errc::closed. In an event of another color this happens a moment
/// later. Pending operations survive a move.
/// Errors: those of the underlying stream; tls::errc; std::errc::not_connected before the handshake; std::errc::broken_pipe for a write after
/// shutdown_send(), after which reading goes on. After any other error except errc::canceled and tls::errc::truncated from a read, nothing more can be sent
/// or received. A canceled write may have sent a part, so it breaks the connection too; later operations then give std::errc::connection_aborted.
/// Limits: any number of reads and writes may wait; each direction serves them in order. The settings limit the handshake's time. A peer that makes this
/// end owe it more than 256 KB of answers (key updates that it does not read) gets tls::errc::protocol.
/// Order: errc::end_of_stream, the end that the peer has announced, comes after all its bytes. A connection that ends unannounced gives
/// tls::errc::truncated.
/// Cost: two copies of the bytes more than TCP. OpenSSL keeps 10 to 20 KB for each connection; an idle one has no buffers beyond that.
class stream {
 public:
  /// Closed.
  stream() noexcept = default;
  stream(stream&& other) noexcept = default;
  stream& operator=(stream&& other) noexcept;
  ~stream();

  /// Must come first, unless accept() or connect() made the stream. Later calls return the same result.
  ///
  /// Errors: tls::errc; certificate_category(), alert_category(); tartan::errc::timed_out.
  [[nodiscard]] task<result<>> handshake();

  [[nodiscard]] task<result<std::size_t>> read_some(mutable_bytes into);
  [[nodiscard]] task<result<std::size_t>> read_exactly(mutable_bytes into);
  [[nodiscard]] task<result<std::size_t>> read_until(std::string& into, std::string_view delimiter, std::size_t most);
  [[nodiscard]] task<result<std::size_t>> read_some(buf::chain& into, std::size_t most);
  [[nodiscard]] task<result<buf::line>> read_line(buf::chain& into, std::size_t most);
  [[nodiscard]] task<result<std::size_t>> read_until(buf::chain& into, std::string_view delimiter, std::size_t most);
  /// May complete although try_read_some() then finds nothing: TLS has messages without data.
  [[nodiscard]] task<result<>> readable();
  [[nodiscard]] result<std::size_t> try_read_some(mutable_bytes into);

  [[nodiscard]] task<result<std::size_t>> write(const_bytes all);
  [[nodiscard]] task<result<std::size_t>> write(tartan::detail::byte_parts parts);
  [[nodiscard]] task<result<>> writable();
  /// Takes up to 64 KB. What the underlying stream does not accept at once is buffered and sent later; until then try_write() would block.
  [[nodiscard]] result<std::size_t> try_write(const_bytes all);
  [[nodiscard]] result<std::size_t> try_write(tartan::detail::byte_parts parts);

  /// Sends the closing alert after all earlier writes, then shuts down the underlying stream for sending.
  [[nodiscard]] task<result<>> shutdown_send();

  /// Without a closing alert, which shutdown_send() sends.
  void close(std::source_location site = std::source_location::current());
  /// Also cancels sending what try_write() has buffered, and so breaks the connection in that case.
  void cancel(std::source_location site = std::source_location::current());
  [[nodiscard]] bool is_open() const noexcept;
  [[nodiscard]] tartan::color color() const noexcept;

  // After the handshake:

  /// The application protocol that ALPN has chosen; "": none.
  [[nodiscard]] std::string_view protocol() const noexcept;
  /// "TLSv1.3"
  [[nodiscard]] std::string_view version() const noexcept;
  /// Whether the handshake resumed a session by a ticket.
  [[nodiscard]] bool is_resumed() const noexcept;
  /// The host name that the client has sent (SNI); "": none.
  [[nodiscard]] std::string_view host() const noexcept;
  /// The subject of the peer's certificate in RFC 2253's form; "": the peer has sent none.
  [[nodiscard]] std::string peer_subject() const;
  /// "sha256/" and the hash of the peer's public key in base64, as in client_settings::pins; "": the peer has sent no certificate.
  [[nodiscard]] std::string peer_key_hash() const;

  /// The underlying stream, for its addresses, or for plain text after a failed handshake. Reading from it or writing to it during the connection breaks
  /// the connection. Null: there is none.
  [[nodiscard]] any_stream* under() noexcept;

 private:
  friend class server;
  friend class client;
  explicit stream(std::shared_ptr<detail::link> of) noexcept : link_{std::move(of)} {}

  std::shared_ptr<detail::link> link_;
};

}  // namespace tartan::tls
