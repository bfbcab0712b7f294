#pragma once
/// What a client asks for.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tartan/buf/bytes.h>
#include <tartan/buf/chain.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/http/field_list.h>
#include <tartan/io/address.h>
#include <utility>

namespace tartan::http {

struct client_settings;
class client_request;
struct url;

namespace detail {
class client_exchange;
/// Where a redirect leads; changes the request as it demands.
[[nodiscard]] result<url> redirect_of(const client_exchange& from, client_request& what, const client_settings& with);
}  // namespace detail

/// Where the body of a request is written to, piece by piece.
///
/// Color: any; the bytes leave in the connection's.
/// Errors: what the stream says; errc::timed_out if the server takes nothing for client_settings::piece_limit;
/// http::errc::too_large beyond the length that was told. errc::canceled once the server has answered without waiting for
/// the rest.
class upload {
 public:
  [[nodiscard]] task<result<>> write(const_bytes piece);
  [[nodiscard]] task<result<>> write(buf::chain piece);

 private:
  friend class detail::client_exchange;
  explicit upload(detail::client_exchange& of) noexcept : of_{&of} {}
  detail::client_exchange* of_;
};

/// Writes a body, in the color of the caller. What it returns as an error ends the request with that.
using upload_function = std::function<task<result<>>(upload&)>;

/// `client_request{"POST", "https://example.org/"}.body(text, "text/plain")`.
///
/// Host, Content-Length, Transfer-Encoding, Connection and Expect are the client's. Anything else may be in the fields;
/// what cannot stand in a head gives std::errc::invalid_argument when it is sent.
/// Threads: as a std::string.
class client_request {
 public:
  explicit client_request(std::string_view url) : client_request{"GET", url} {}
  client_request(std::string_view method, std::string_view url) : method_{method}, url_{url} {}

  client_request& add(std::string_view name, std::string_view value) {
    fields_.add(name, value);
    return *this;
  }
  client_request& set(std::string_view name, std::string_view value) {
    fields_.set(name, value);
    return *this;
  }
  client_request& body(std::string content, std::string_view type) {
    content_ = std::move(content);
    return set("Content-Type", type);
  }
  /// A body that comes piece by piece, of a length that is known, or in chunks. It is sent once: no redirect that would
  /// need it again is followed, and nothing is tried again.
  client_request& body_from(upload_function from, std::string_view type, std::optional<std::uint64_t> length = {}) {
    from_ = std::move(from);
    length_ = length;
    return set("Content-Type", type);
  }
  /// Asks whether the server wants the body before it is sent (100-continue).
  client_request& ask_first() noexcept {
    asks_first_ = true;
    return *this;
  }
  /// Connects there, whatever the URL's host is: a Unix socket, or one of several servers.
  client_request& at(const address& where) {
    at_ = where;
    return *this;
  }
  /// Instead of client_settings::piece_limit, for streams of events that are silent for long.
  client_request& piece_limit(std::chrono::nanoseconds limit) noexcept {
    piece_limit_ = limit;
    return *this;
  }

  [[nodiscard]] const std::string& method() const noexcept { return method_; }
  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  [[nodiscard]] const field_list& fields() const noexcept { return fields_; }

 private:
  friend class client;
  friend class detail::client_exchange;
  friend result<http::url> detail::redirect_of(const detail::client_exchange& from, client_request& what,
                                               const client_settings& with);

  std::string method_;
  std::string url_;
  field_list fields_;
  std::string content_;
  upload_function from_;
  std::optional<std::uint64_t> length_;
  std::optional<address> at_;
  std::optional<std::chrono::nanoseconds> piece_limit_;
  bool asks_first_ = false;
};

}  // namespace tartan::http
