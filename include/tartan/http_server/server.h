#pragma once
/// A small HTTP server: routes to handlers.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/core/runtime.h>
#include <tartan/core/task.h>
#include <tartan/http_server/exchange.h>
#include <tartan/http_server/handler.h>
#include <tartan/http_server/reply.h>
#include <tartan/io/address.h>
#include <tartan/io/any_stream.h>
#include <tartan/io/local.h>
#include <tartan/io/tcp.h>
#include <utility>

namespace tartan::http {

namespace detail {
class server_state;
struct route_entry;
}  // namespace detail

/// A handler has thrown.
struct failed_request {
  std::string_view method;
  std::string_view target;
  std::string_view what;
};

/// The limits of a server. What is beyond one is answered, where that is possible, and the connection ends.
struct server_settings {
  std::size_t most_line = 8 * 1024;                  ///< bytes of the request line: 414
  std::size_t most_head = 32 * 1024;                 ///< bytes of all header lines: 431
  std::size_t most_fields = 100;                     ///< header lines: 431
  std::uint64_t most_body = std::uint64_t{1} << 20;  ///< bytes of a body, unless the route says otherwise: 413
  std::size_t most_connections = 10'000;             ///< 503; of 100 more at a time, others are closed at once
  std::uint64_t most_requests = 100'000;             ///< on one connection: the last answer says Connection: close
  std::chrono::nanoseconds head_limit = std::chrono::seconds{10};  ///< from the first byte to the end of the head: 408
  std::chrono::nanoseconds body_limit =
      std::chrono::seconds{30};  ///< for each piece of the body: 408, or what the handler says
  std::chrono::nanoseconds idle_limit = std::chrono::seconds{60};   ///< for the next request: closed without an answer
  std::chrono::nanoseconds write_limit = std::chrono::seconds{30};  ///< for each 256 KB of an answer: closed
  std::chrono::nanoseconds linger_limit =
      std::chrono::seconds{2};  ///< for a client to notice the end, behind the last answer

  /// Gets an exception that left a handler, in the handler's color. Empty: one line on stderr.
  std::function<void(const failed_request&)> on_failure = {};
};

/// Turns an accepted stream into the one that requests come on.
using seal_function = std::function<task<result<any_stream>>(any_stream)>;

/// A seal_function that calls `secure.accept`, as that of tls::server: `site.listen("0.0.0.0:8443", {sealed_by(secure)})`.
///
/// Lifetime: `secure` must outlive the server's connections.
template <class Secure>
[[nodiscard]] seal_function sealed_by(Secure& secure) {
  return [&secure](any_stream plain) -> task<result<any_stream>> {
    auto made = co_await secure.accept(std::move(plain));
    if (!made) co_return made.error();
    co_return any_stream{*std::move(made)};
  };
}

/// How to listen.
struct listen_with {
  /// Has head_limit to do so. Empty: requests come on the stream as it is.
  seal_function seal = {};
};

/// A route that was added: what is said of it here goes for requests that come later.
class route {
 public:
  /// The handler runs in that color: with `in(color{})`, one request at a time, together with the default color's events.
  route& in(color c) noexcept;
  /// Bytes of a body: 413.
  route& most_body(std::uint64_t bytes) noexcept;

 private:
  friend class server;
  explicit route(detail::route_entry& entry) noexcept : entry_{&entry} {}
  detail::route_entry* entry_;
};

/// Serves HTTP/1.1 and 1.0:
///
///     http::server site{rt};
///     site.get("/hello/{name}", [](http::exchange& x) { return http::reply::text(x.parameter("name")); });
///     site.listen("127.0.0.1:8080");
///     rt.shutdown_on({SIGINT, SIGTERM}, 10s);
///     return rt.run();
///
/// A pattern consists of segments: a text, `{name}` for any one segment, and at the end `{name...}` for the rest of the
/// path. A text goes before a name, and a name before a rest. HEAD is answered by the handler of GET, without the body;
/// OPTIONS with the methods that there are, unless a route says otherwise; another method with 405; another path with 404.
/// Handlers are functions that give a reply, coroutines that give one, or coroutines that answer by the exchange. One that
/// throws is answered with 500, and reported.
/// Color: each connection has one of its own, in which its handlers run, unless the route names another one.
/// Threads: routes are added, and listening begins, while nobody else uses the object; handlers of routes of different
/// colors, and of different connections, run in parallel.
/// Lifetime: must not outlive its runtime. runtime::shutdown() ends it gracefully, as close() does. Its destructor asks all
/// connections to end, and does not wait: what handlers refer to must live until close() or the run has ended.
/// Errors: those of its requests are told by exchange; what a client breaks ends its connection.
/// Limits: server_settings.
/// Order: the requests of a connection are answered one by one, in their order (pipelining).
/// Source: RFC 9110, RFC 9112.
class server {
 public:
  /// Errors: std::bad_alloc.
  explicit server(runtime& rt, server_settings with = {});
  server(server&& other) noexcept = default;
  server& operator=(server&& other) noexcept = delete;
  ~server();

  /// Errors: std::invalid_argument for a pattern that is none, or that there is already for this method, and for a method that
  /// is no token.
  template <detail::answers_requests F>
  route add(std::string_view method, std::string_view pattern, F&& f) {
    return add_handler(method, pattern, std::make_unique<detail::handler_of<std::decay_t<F>>>(std::forward<F>(f)));
  }
  template <detail::answers_requests F>
  route get(std::string_view pattern, F&& f) {
    return add("GET", pattern, std::forward<F>(f));
  }
  template <detail::answers_requests F>
  route post(std::string_view pattern, F&& f) {
    return add("POST", pattern, std::forward<F>(f));
  }
  template <detail::answers_requests F>
  route put(std::string_view pattern, F&& f) {
    return add("PUT", pattern, std::forward<F>(f));
  }
  template <detail::answers_requests F>
  route patch(std::string_view pattern, F&& f) {
    return add("PATCH", pattern, std::forward<F>(f));
  }
  template <detail::answers_requests F>
  route delete_resource(std::string_view pattern, F&& f) {
    return add("DELETE", pattern, std::forward<F>(f));
  }

  /// Accepts connections at "127.0.0.1:8080" or "unix:/run/x", from now on. Gives the address, with the port that the
  /// system chose for port 0.
  ///
  /// Threads: any, before or during a run.
  /// Errors: std::invalid_argument for a text that is no address; std::system_error.
  address listen(std::string_view at, listen_with with = {});
  /// The same with a listener that there is.
  void serve(tcp::listener from, listen_with with = {});
  void serve(local::listener from, listen_with with = {});

  /// Ends gracefully: accepts no more, closes idle connections and streams of events, answers what is under way with
  /// Connection: close, and ends what is left when the time has passed. Returns when no connection is left.
  [[nodiscard]] task<> close(std::chrono::nanoseconds within);

  /// How many connections there are.
  [[nodiscard]] task<std::size_t> connections() const;

 private:
  route add_handler(std::string_view method, std::string_view pattern, std::unique_ptr<detail::handler> h);

  std::shared_ptr<detail::server_state> state_;
};

}  // namespace tartan::http
