#pragma once
/// What a client asks for.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "web/header_lines.h"

namespace web {

enum class method : std::uint8_t {
  get,
  head,
  known,    ///< one that HTTP defines and this server does not answer
  unknown,  ///< any other word
};

/// The head of a request.
///
/// Lifetime: its views point into the bytes that it was parsed from; and its lines into the parser, which may be reset meanwhile, but must parse no other head.
struct request {
  web::method method = method::unknown;
  std::string_view target;          ///< as it was sent: visible ASCII
  std::uint64_t content_length = 0; ///< of the body behind the head
  std::size_t head_size = 0;        ///< bytes, with the empty line
  bool chunked = false;             ///< the body comes in chunks instead: its length is not known
  bool http_1_0 = false;
  bool keep_alive = false;          ///< the client would send another request on this connection
  bool expects_continue = false;    ///< the client holds the body back until it is told to go on
  bool is_conditional = false;      ///< there is an If-Match, If-None-Match, If-Modified-Since or If-Unmodified-Since
  bool asks_for_range = false;      ///< there is a Range
  header_lines fields;              ///< its header lines, for who asks by name

  [[nodiscard]] bool has_body() const noexcept { return chunked || content_length != 0; }
};

/// Whether it is a host with or without a port, as a Host header or "http://" has it (RFC 3986, 3.2.2); without a name before an '@'.
[[nodiscard]] bool is_host(std::string_view text) noexcept;

}  // namespace web
