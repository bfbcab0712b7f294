#pragma once
/// One request and its answer, as a handler sees them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tartan/buf/bytes.h>
#include <tartan/buf/chain.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/http/header_lines.h>
#include <tartan/http/method.h>
#include <tartan/http/server_event.h>
#include <tartan/http_io/body_stream.h>
#include <tartan/http_server/reply.h>
#include <tartan/io/address.h>
#include <tartan/io/any_stream.h>

namespace tartan::http {

namespace detail {
class connection;
struct exchange_state;
}  // namespace detail

/// Sends events: see exchange::begin_events.
///
/// Color, Threads and Lifetime: the exchange's.
/// Errors: errc::closed once the client has gone, and for a HEAD; errc::timed_out if it takes nothing any more
/// (server_settings::write_limit); std::invalid_argument is thrown for an id or a type of several lines.
class event_sink {
 public:
  /// `co_await events.send({.id = "7", .event = "price", .data = text})`: goes out at once.
  [[nodiscard]] task<result<>> send(server_event_view e);
  /// A line that clients ignore: proxies close a stream that is silent for long, some after 30 s.
  [[nodiscard]] task<result<>> comment(std::string_view text);
  /// What a client that reconnects has seen last: its Last-Event-ID. Empty: nothing.
  [[nodiscard]] std::string_view last_id() const noexcept;

 private:
  friend class exchange;
  explicit event_sink(detail::exchange_state& of) noexcept : of_{&of} {}
  detail::exchange_state* of_;
};

/// A request, and the way to answer it.
///
/// Answer it once: by what the handler returns, by send(), by begin() with write() and end(), or by begin_events().
/// A handler that returns without any of these has its request answered with the status of what its body was refused
/// for (413, 408, 400), else with 500.
/// Color: any; what goes over the connection is done in the connection's, and a coroutine goes on in its own.
/// Threads: one operation at a time; the body may be read while the answer is written.
/// Lifetime: until the handler's coroutine has ended. Views of the request live as long.
/// Errors: http::errc::already_answered; errc::timed_out if the client takes nothing for write_limit; what the stream says.
/// After that the connection ends. std::invalid_argument is thrown for fields that cannot stand in a head, and for a
/// status below 200.
/// Order: 100-continue is sent when the body is first read.
class exchange {
 public:
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  // The request.

  [[nodiscard]] http::method method() const noexcept;
  [[nodiscard]] std::string_view method_text() const noexcept;
  /// Decoded; leads nowhere outside (target.h).
  [[nodiscard]] std::string_view path() const noexcept;
  /// Without its '?'.
  [[nodiscard]] std::string_view query() const noexcept;
  [[nodiscard]] std::string_view target() const noexcept;
  /// As Host or the target has it.
  [[nodiscard]] std::string_view host() const noexcept;
  [[nodiscard]] const header_lines& fields() const noexcept;
  /// The value of the only field of that name; empty if there is none, or several.
  [[nodiscard]] std::string_view field(std::string_view name) const { return fields().only(name); }
  /// What stands in the path for `{name}`, decoded; empty if the route has no such parameter.
  [[nodiscard]] std::string_view parameter(std::string_view name) const noexcept;
  /// The value of a parameter of the query, decoded.
  [[nodiscard]] std::optional<std::string> query_value(std::string_view name) const;
  [[nodiscard]] body_stream& body() noexcept;

  /// Of the client, or of the proxy in front of it; nowhere for an unnamed Unix socket.
  [[nodiscard]] const address& peer() const noexcept;
  /// For what only that kind of stream can say, as tls::stream::peer_subject.
  ///
  /// Color: the connection's.
  [[nodiscard]] any_stream& stream() noexcept;

  // The answer.

  /// All of it. To HEAD, the head that GET would have.
  [[nodiscard]] task<result<>> send(reply whole);

  /// The head of an answer whose body comes by write(): of a length that is known, or in chunks; to a client of HTTP/1.0
  /// up to the end of the connection. The reply's own body is not sent.
  [[nodiscard]] task<result<>> begin(reply head, std::optional<std::uint64_t> length = {});
  /// The next piece, which goes out at once. To HEAD, nothing.
  ///
  /// Errors: http::errc::too_large beyond the length.
  [[nodiscard]] task<result<>> write(const_bytes piece);
  [[nodiscard]] task<result<>> write(buf::chain piece);
  /// The end of the body. A handler that returns has ended it; one that throws has not, so the client sees that it was cut.
  [[nodiscard]] task<result<>> end();

  /// Begins a stream of Server-Sent Events; `head` may bring fields. It ends when the handler returns. A client that goes away
  /// ends the handler: what it waits for ends with errc::canceled. So does a graceful end of the server.
  [[nodiscard]] task<result<event_sink>> begin_events(reply head = {});

  [[nodiscard]] bool is_answered() const noexcept;

  /// Library code.
  explicit exchange(detail::exchange_state& state) noexcept : state_{&state} {}

 private:
  detail::exchange_state* state_;
};

}  // namespace tartan::http
