#pragma once
/// An HTTP client: https and http, by host name.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <tartan/core/result.h>
#include <tartan/core/runtime.h>
#include <tartan/core/task.h>
#include <tartan/dns/resolver.h>
#include <tartan/http_client/answer.h>
#include <tartan/http_client/client_request.h>
#include <tartan/tls/client.h>

namespace tartan::http {

namespace detail {
class pool;
}

struct client_settings {
  tls::client_settings secure = {};  ///< servers are verified unless it says otherwise; ALPN is "http/1.1"
  dns::resolver_options names = {};

  // Connections are kept, and used again.
  std::size_t most_per_origin = 8;
  std::size_t most_connections = 256;  ///< to all servers together; an idle one makes room
  std::size_t most_waiting = 1024;     ///< requests that wait for a connection; further ones give errc::busy
  std::chrono::nanoseconds idle_limit =
      std::chrono::seconds{60};  ///< one that was not used for so long is not used again

  // Each gives errc::timed_out.
  std::chrono::nanoseconds wait_limit = std::chrono::seconds{30};     ///< for a connection that others have
  std::chrono::nanoseconds connect_limit = std::chrono::seconds{10};  ///< look-up, connection and TLS
  std::chrono::nanoseconds head_limit = std::chrono::seconds{30};  ///< from the end of the request to the answer's head
  std::chrono::nanoseconds piece_limit = std::chrono::seconds{30};  ///< for each piece of either body
  std::chrono::nanoseconds whole_limit = std::chrono::minutes{5};   ///< for get and send; for open, up to the head
  std::chrono::nanoseconds ask_limit = std::chrono::seconds{1};  ///< for "100 Continue"; then the body is sent anyway

  std::size_t most_head = std::size_t{64} * 1024;  ///< bytes of an answer's head
  std::size_t most_body = std::size_t{16} << 20;   ///< bytes of a body for get and send: http::errc::too_large

  unsigned most_redirects = 0;         ///< that are followed; 0: a redirect is the answer
  bool follows_to_plain_http = false;  ///< redirects from https to http
  std::string user_agent = "tartan";   ///< empty: none is sent
};

/// Sends requests: `auto answer = co_await web.get("https://example.org/")`.
///
/// Connections are kept for later requests to the same scheme, host and port, up to idle_limit. A request that may be
/// repeated (GET, HEAD, PUT, DELETE, OPTIONS, TRACE, with a body that is at hand) is sent again on a new connection if a
/// kept one ends before the first byte of its answer.
/// Redirects, where they are followed: 303, and 301 and 302 to a POST, are followed by a GET without the body; 307 and 308
/// keep both. Authorization, Cookie and Proxy-Authorization are not sent to another origin, and at() counts for the first only.
/// Color: any; each connection has one of its own.
/// Threads: any.
/// Lifetime: requests under way go on without the object; it must not outlive its runtime.
/// Errors: std::errc::invalid_argument for a URL or a field that is none, and for CONNECT; those of tcp::connect,
/// tls::client::connect and dns::resolver; http::errc; errc::timed_out, errc::canceled, errc::busy, errc::closed.
/// std::runtime_error is thrown by the first https request if the TLS settings cannot be used. A canceled request's
/// connection is closed.
/// Limits: client_settings. Bodies are given as they come: nothing is decompressed, and no coding is asked for.
/// Source: RFC 9110, RFC 9112.
class client {
 public:
  /// Errors: std::invalid_argument as dns::resolver; std::bad_alloc.
  explicit client(runtime& rt, client_settings with = {});
  /// In the runtime of the running event.
  explicit client(client_settings with = {}, std::source_location site = std::source_location::current());
  client(client&&) noexcept = default;
  client& operator=(client&&) = delete;
  ~client();

  /// All of the answer, whatever its status.
  [[nodiscard]] task<result<answer>> get(std::string url) const;
  [[nodiscard]] task<result<answer>> send(client_request what) const;

  /// The answer's head; the body can be read then.
  [[nodiscard]] task<result<open_answer>> open(client_request what) const;

  /// Closes connections that are idle; requests that wait for a connection, and new ones, give errc::closed.
  ///
  /// Threads: any.
  void close() noexcept;

 private:
  static task<result<open_answer>> open_within(std::shared_ptr<detail::pool> of, client_request what);
  static task<result<answer>> send_within(std::shared_ptr<detail::pool> of, client_request what);

  std::shared_ptr<detail::pool> pool_;
};

}  // namespace tartan::http
