#pragma once
/// A sealed stream of bytes: TLS 1.2 or 1.3 over another stream.

#include <cstddef>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <tartan/buf/bytes.h>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/io/any_stream.h>
#include <tartan/io/stream_reads.h>

namespace tartan::tls {

namespace detail {
class link;  // a connection: what this object and the operations under way share
}

/// One end of a connection, made by a server or a client of this module. A stream_of_bytes; operations do what byte_stream says of them, and here also:
///
/// Color: that of the stream under it. The cryptography is done in the events that read and write; a handshake takes a worker about a millisecond
/// (RSA) or a third of that (ECDSA), in one event for each message of the peer.
/// Lifetime: when it is destroyed the stream under it is closed, and what waits ends with errc::closed. The server or client may be gone.
/// Errors: those of the stream under it; tls::errc. After any error but errc::canceled of a read, nothing more can be sent or received. A write that is
/// canceled may have sent a part, so it is such an error.
/// Limits: any number of reads and writes may wait; each direction serves them in their order. A handshake has the time that the settings say.
/// Order: the end that the peer has told (errc::end_of_stream) comes behind all its bytes; an end that nobody has told is tls::errc::truncated.
/// Cost: the bytes are copied twice more than by TCP. A connection that waits keeps no buffer for that; 10 to 20 KB are OpenSSL's.
class stream : public tartan::detail::stream_reads<stream> {
  using reads = tartan::detail::stream_reads<stream>;

 public:
  /// Closed.
  stream() noexcept = default;
  stream(stream&& other) noexcept = default;
  stream& operator=(stream&& other) noexcept;
  ~stream();

  /// First of all, unless accept() or connect() have done so. Done again it gives what it has given before.
  ///
  /// Errors: tls::errc; certificate_category(), alert_category(); tartan::errc::timed_out.
  [[nodiscard]] task<result<>> handshake();

  using reads::read_some;
  [[nodiscard]] task<result<std::size_t>> read_some(mutable_bytes into);
  /// May complete although a read finds nothing: what has come may be no data.
  [[nodiscard]] task<result<>> readable();
  [[nodiscard]] result<std::size_t> try_read_some(mutable_bytes into);

  [[nodiscard]] task<result<std::size_t>> write(const_bytes all);
  [[nodiscard]] task<result<std::size_t>> write(tartan::detail::byte_parts parts);
  [[nodiscard]] task<result<>> writable();
  /// Seals up to 64 KB. What the stream under it does not take at once is kept, and sent as soon as it does; until then the next try_write would block.
  [[nodiscard]] result<std::size_t> try_write(const_bytes all);
  [[nodiscard]] result<std::size_t> try_write(tartan::detail::byte_parts parts);

  /// Tells the peer, under seal, that nothing more will be sent; then the same of the stream under it. Waits for the writes before it.
  [[nodiscard]] task<result<>> shutdown_send();

  /// Without a farewell, which shutdown_send says.
  void close(std::source_location site = std::source_location::current());
  void cancel(std::source_location site = std::source_location::current());
  [[nodiscard]] bool is_open() const noexcept;
  [[nodiscard]] tartan::color color() const noexcept;

  // Of the peer, once the handshake is over.

  /// What ALPN has chosen; "": nothing.
  [[nodiscard]] std::string_view protocol() const noexcept;
  /// "TLSv1.3"
  [[nodiscard]] std::string_view version() const noexcept;
  /// Whether the handshake was a short one, by a ticket of an earlier connection.
  [[nodiscard]] bool is_resumed() const noexcept;
  /// The host that the client has asked for; "": none.
  [[nodiscard]] std::string_view host() const noexcept;
  /// Its certificate's subject, as RFC 2253 writes it; "": it has shown none.
  [[nodiscard]] std::string peer_subject() const;
  /// "sha256/" and the hash of its public key in base64, as client_settings::pins has it; "": it has shown no certificate.
  [[nodiscard]] std::string peer_key_hash() const;

  /// The stream under it: to ask for addresses, and to speak in plain text after a failed handshake. What is read from it or written to it during the
  /// connection breaks that. Null: there is none.
  [[nodiscard]] any_stream* under() noexcept;

 private:
  friend class server;
  friend class client;
  explicit stream(std::shared_ptr<detail::link> of) noexcept : link_{std::move(of)} {}

  std::shared_ptr<detail::link> link_;
};

}  // namespace tartan::tls
