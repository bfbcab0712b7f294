#pragma once
/// The head of a request.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tartan/http/header_lines.h>
#include <tartan/http/method.h>

namespace tartan::http {

/// What a request_parser found.
///
/// Threads: one at a time.
/// Lifetime: its views point into the bytes that were parsed, and `fields` into the parser too (see header_lines). The
/// parser may be reset, but must not parse another head while the request is in use.
struct request {
  http::method method = method::other;
  std::string_view method_text;      ///< as it was sent
  std::string_view target;           ///< as it was sent: visible ASCII; path_of (target.h) takes it apart
  std::uint64_t content_length = 0;  ///< bytes of the body; 0 if it comes in chunks
  std::size_t head_size = 0;         ///< bytes of the head, with the empty line
  bool chunked = false;              ///< the body comes in chunks: its length is not known
  bool http_1_0 = false;
  bool keep_alive = false;        ///< the client would send another request on this connection
  bool expects_continue = false;  ///< the client waits for "100 Continue" before it sends the body
  bool is_conditional = false;    ///< has If-Match, If-None-Match, If-Modified-Since or If-Unmodified-Since
  bool asks_for_range = false;    ///< is a GET with a Range
  header_lines fields;

  [[nodiscard]] bool has_body() const noexcept { return chunked || content_length != 0; }
};

}  // namespace tartan::http
