#pragma once
/// The end of a TLS connection that connects.

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/io/any_stream.h>
#include <tartan/tls/errors.h>
#include <tartan/tls/stream.h>
#include <vector>

namespace tartan::tls {

struct client_settings {
  /// Whom to trust: a file in PEM; "": whom the system trusts (on Debian, the package ca-certificates).
  std::string authorities = {};
  /// Keys of which the server's chain must have one, in addition: "sha256/" and the SHA-256 of the public key in base64 (as HPKP and curl have it). Empty:
  /// any.
  std::vector<std::string> pins = {};
  /// Whether the server's certificate has to be one of a host of that name, and trusted. Without it anybody may be at the other end: for tests.
  bool verify = true;
  /// Application protocols (ALPN) to offer, the most wanted first.
  std::vector<std::string> protocols = {};
  /// Who this client is, if servers ask: files in PEM.
  std::string certificate = {};
  std::string key = {};
  /// For the handshake.
  std::chrono::nanoseconds handshake_limit = std::chrono::seconds{10};
  /// Servers whose last session is kept, to be resumed; the oldest goes first. 0: none.
  unsigned most_sessions = 256;
  /// As server_settings::key_log.
  std::string key_log = {};
};

/// Makes sealed streams of connected ones: `auto peer = co_await secure.connect(std::move(connected), "example.org")`.
///
/// Threads: any.
/// Lifetime: of no matter to its streams.
class client {
 public:
  /// Errors: std::invalid_argument, std::runtime_error with the file and OpenSSL's reason. Blocks as long as the disk takes.
  explicit client(client_settings with = {});
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client();

  /// The handshake with a server of that name, or of that IP address; also on a stream on which plain text was spoken before (STARTTLS), all of which has
  /// been read. With a session that is resumed, the certificate has been verified when that began.
  ///
  /// Errors: as stream::handshake; std::errc::invalid_argument for a name that no host can have. Then the stream is closed.
  [[nodiscard]] task<result<stream>> connect(any_stream under, std::string host);

  /// The same without the handshake, which is the caller's to do.
  ///
  /// Errors: std::bad_alloc; std::invalid_argument for a name that no host can have.
  [[nodiscard]] stream begin(any_stream under, std::string_view host);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace tartan::tls
