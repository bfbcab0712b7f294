#pragma once
/// One request of a client on one connection, and its answer.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tartan/core/color.h>
#include <tartan/http/field_list.h>
#include <tartan/http/response_parser.h>
#include <tartan/http/server_event.h>
#include <tartan/http/url.h>
#include <tartan/http_client/answer.h>
#include <tartan/http_client/client_request.h>
#include <tartan/http_io/body_stream.h>

#include "http_client/pool.h"
#include "http_io/wire.h"

namespace tartan::http::detail {

/// Color: the connection's, unless a member says otherwise.
/// Lifetime: a connection whose answer was read to its end is kept when this is destroyed, any other is closed.
class client_exchange {
 public:
  client_exchange(std::shared_ptr<pool> of, url to) : of_{std::move(of)}, to_{std::move(to)} {}
  client_exchange(const client_exchange&) = delete;
  client_exchange& operator=(const client_exchange&) = delete;
  ~client_exchange();

  /// From the connection to the answer's head. Color: any.
  [[nodiscard]] task<result<>> run(const client_request& what, bool is_fresh);
  /// Whether a new connection may help: a kept one has ended before it brought a byte.
  [[nodiscard]] bool was_stale() const noexcept { return is_kept_ && !has_heard_; }

  [[nodiscard]] http::status status() const noexcept { return head_.status; }
  [[nodiscard]] const field_list& fields() const noexcept { return fields_; }
  [[nodiscard]] const url& to() const noexcept { return to_; }
  [[nodiscard]] body_stream& body() noexcept { return *body_; }
  /// Color: any.
  [[nodiscard]] task<result<server_event>> next_event();
  /// Color: any.
  [[nodiscard]] task<result<>> write_piece(buf::chain piece);

 private:
  task<result<>> reach(const client_request& what, bool is_fresh);
  task<result<any_stream>> connect(const client_request& what);
  result<std::string> head_for(const client_request& what) const;
  task<result<>> talk(const client_request& what, std::string head, color caller);
  task<result<>> ask(buf::chain head);
  task<result<>> send_all(const client_request& what, buf::chain first, color caller);
  static task<result<>> fill_upload(const client_request& what, upload& into, color caller);
  task<result<>> hear_early();
  /// Errors: std::errc::interrupted for "100 Continue", if that is asked for.
  task<result<>> hear_head(wire::time_point until, bool stops_at_continue = false);
  void begin_body(const client_request& what);

  std::shared_ptr<pool> of_;
  url to_;
  lease on_;
  wire* wire_ = nullptr;  ///< on_'s connection
  method method_ = method::get;
  response_parser parser_;
  response head_;
  buf::slice head_bytes_;
  field_list fields_;
  std::optional<body_stream> body_;
  event_parser events_;
  std::optional<std::uint64_t> left_;  ///< bytes of the request's body that are still to be written
  std::chrono::nanoseconds piece_limit_{};
  bool is_kept_ = false;
  bool has_heard_ = false;
  bool has_head_ = false;
  bool is_chunked_ = false;
  bool has_sent_all_ = false;
  bool is_torn_ = false;  ///< a piece of the body has gone in part, as far as is known
};

}  // namespace tartan::http::detail
