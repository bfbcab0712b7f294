#pragma once
/// The server side of TLS.

#include <chrono>
#include <memory>
#include <string>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/io/any_stream.h>
#include <tartan/tls/errors.h>
#include <tartan/tls/stream.h>
#include <vector>

namespace tartan::tls {

/// A server's certificate and key: files in PEM.
struct identity {
  std::string certificate;             ///< followed by its chain
  std::string key;                     ///< the private key, without a passphrase
  std::vector<std::string> names = {}; ///< host names that it serves; empty: those in the certificate
};

struct server_settings {
  /// At least one. The first also serves clients that name no host, or an unknown one.
  std::vector<identity> identities;
  /// Application protocols (ALPN) in order of preference: {"http/1.1"}. A client that offers only others is refused; a client that offers none is not.
  /// Empty: ALPN is ignored.
  std::vector<std::string> protocols = {};

  enum class client_certificates : unsigned char { none, welcome, required };
  client_certificates clients = client_certificates::none;
  /// A file in PEM: the authorities that client certificates must come from.
  std::string client_authorities = {};

  /// For the handshake, from the first byte on.
  std::chrono::nanoseconds handshake_limit = std::chrono::seconds{10};
  /// How long a ticket can resume a session, and how often the ticket keys rotate. A stolen key opens recorded conversations of two such periods at most.
  /// Zero: no tickets.
  std::chrono::seconds ticket_life = std::chrono::hours{2};
  /// A file to which each connection's secrets are appended, for Wireshark. For debugging only: with this file anybody can read the connections.
  std::string key_log = {};
};

/// Makes sealed streams of accepted ones: `auto peer = co_await secure.accept(std::move(accepted))`.
///
/// TLS 1.2 and 1.3 with the ciphers of OpenSSL's configuration; no renegotiation, no compression. Sessions resume by tickets, so the server stores none.
/// Threads: any.
/// Lifetime: streams do not need the server once they are made.
class server {
 public:
  /// Errors: std::invalid_argument; std::runtime_error, with the file and OpenSSL's reason. Reads the files on the calling thread.
  explicit server(server_settings with);
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server();

  /// New connections use these settings; existing ones go on. If the settings cannot be used, the old ones stay. Old tickets stay valid, with two
  /// exceptions: the first certificate has changed (its key may have been stolen), or clients need certificates (one may have been revoked).
  ///
  /// Errors: those of the constructor.
  void reload(server_settings with);
  /// The same with the settings of another server, which is used up: a program can make all that a reload needs, and then change all of it without an error.
  void reload(server&& made) noexcept;

  /// Performs the handshake with a client. The stream may have carried plain text before (STARTTLS), all of which has been read.
  ///
  /// Errors: those of stream::handshake; the stream is closed.
  [[nodiscard]] task<result<stream>> accept(any_stream under);

  /// Makes the stream without the handshake. The caller performs it, and still has the stream if it fails.
  ///
  /// Errors: std::bad_alloc.
  [[nodiscard]] stream begin(any_stream under);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tartan::tls
