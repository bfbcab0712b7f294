#pragma once
/// The client side of TLS.

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
  /// The authorities to trust: a file in PEM; "": the system's (on Debian, the package ca-certificates).
  std::string authorities = {};
  /// Pinned keys: in addition, the server's verified chain must contain one of them, or without `verify` the server's own certificate. Each is "sha256/"
  /// and the SHA-256 of the public key in base64, as in curl.
  /// Empty: any key.
  std::vector<std::string> pins = {};
  /// Whether the server's certificate must be trusted and match the host name. For tests only: without it anybody may be at the other end.
  bool verify = true;
  /// Application protocols (ALPN) to offer, in order of preference.
  std::vector<std::string> protocols = {};
  /// The client's own certificate and key, for servers that ask for one: files in PEM.
  std::string certificate = {};
  std::string key = {};
  /// For the handshake.
  std::chrono::nanoseconds handshake_limit = std::chrono::seconds{10};
  /// Number of hosts whose last session is kept to be resumed; the oldest is dropped first. 0: none.
  unsigned most_sessions = 256;
  /// As server_settings::key_log.
  std::string key_log = {};
};

/// Makes sealed streams of connected ones: `auto peer = co_await secure.connect(std::move(connected), "example.org")`.
///
/// Threads: any.
/// Lifetime: streams do not need the client once they are made.
class client {
 public:
  /// Errors: std::invalid_argument; std::runtime_error, with the file and OpenSSL's reason. Reads the files on the calling thread.
  explicit client(client_settings with = {});
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client();

  /// Performs the handshake with the server of that host name or IP address. The stream may have carried plain text before (STARTTLS), all of which has been
  /// read. The certificate of a resumed session was verified when the session began.
  ///
  /// Errors: those of stream::handshake; std::errc::invalid_argument for an invalid host name. The stream is closed.
  [[nodiscard]] task<result<stream>> connect(any_stream under, std::string host);

  /// Makes the stream without the handshake, which the caller performs.
  ///
  /// Errors: std::bad_alloc; std::invalid_argument for an invalid host name.
  [[nodiscard]] stream begin(any_stream under, std::string_view host);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace tartan::tls
