#pragma once
/// The end of a TLS connection that is connected to.

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

/// Who a server is: files in PEM.
struct identity {
  std::string certificate;             ///< with those that vouch for it behind it
  std::string key;                     ///< its private key, without a passphrase
  std::vector<std::string> names = {}; ///< of the hosts that it is for; empty: as the certificate says
};

struct server_settings {
  /// The first also answers whoever asks for no host, or for one that nobody here has. At least one.
  std::vector<identity> identities;
  /// Application protocols (ALPN), the most wanted first: {"http/1.1"}. A client that offers others only is refused; one that offers none is not. Empty:
  /// whatever it offers is ignored.
  std::vector<std::string> protocols = {};

  enum class client_certificates : unsigned char { none, welcome, required };
  client_certificates clients = client_certificates::none;
  /// A file in PEM: who vouches for clients.
  std::string client_authorities = {};

  /// For the handshake, from the first byte on.
  std::chrono::nanoseconds handshake_limit = std::chrono::seconds{10};
  /// How long a ticket can be used to resume a session, and from one rotation of their keys to the next; zero: there are none. A key that is stolen opens
  /// recorded conversations of two such times at most.
  std::chrono::seconds ticket_life = std::chrono::hours{2};
  /// A file to which the secrets of each connection are appended, for Wireshark: for debugging alone, for who has it reads everything.
  std::string key_log = {};
};

/// Makes sealed streams of accepted ones: `auto peer = co_await secure.accept(std::move(accepted))`.
///
/// TLS 1.2 and 1.3, the ciphers that OpenSSL chooses by its configuration; no renegotiation, no compression. Sessions resume by tickets: nothing of them
/// is kept here.
/// Threads: any.
/// Lifetime: of no matter to its streams.
class server {
 public:
  /// Errors: std::invalid_argument, std::runtime_error with the file and OpenSSL's reason. Blocks as long as the disk takes.
  explicit server(server_settings with);
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server();

  /// From now on new connections have these settings; those that there are go on. If they cannot be used, everything stays as it was. Tickets
  /// stay good unless the first certificate is another one, for somebody else may have its key, or clients are asked for certificates, for one may be
  /// trusted no more.
  ///
  /// Errors: as of the constructor.
  void reload(server_settings with);

  /// The handshake of a stream that a client has begun; also of one on which plain text was spoken before (STARTTLS), all of which has been read.
  ///
  /// Errors: as stream::handshake. Then the stream is closed.
  [[nodiscard]] task<result<stream>> accept(any_stream under);

  /// The same without the handshake, which is the caller's to do: so it still has the stream if that fails.
  ///
  /// Errors: std::bad_alloc.
  [[nodiscard]] stream begin(any_stream under);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tartan::tls
