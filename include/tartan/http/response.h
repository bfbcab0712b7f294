#pragma once
/// The head of a response.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tartan/http/header_lines.h>
#include <tartan/http/status.h>

namespace tartan::http {

/// What says where a body ends.
enum class body_end : std::uint8_t {
  nothing,     ///< there is no body
  length,      ///< content_length
  chunks,      ///< the last chunk
  connection,  ///< the end of the connection
};

/// What a response_parser found.
///
/// Threads: one at a time.
/// Lifetime: its views point into the bytes that were parsed, and `fields` into the parser too (see header_lines). The
/// parser may be reset, but must not parse another head while the response is in use.
struct response {
  http::status status = status::ok;  ///< any number from 100 to 999
  std::string_view reason;           ///< the words behind it; may be empty, and mean nothing
  std::uint64_t content_length = 0;  ///< bytes of the body, if that is how it ends
  std::size_t head_size = 0;         ///< bytes of the head, with the empty line
  body_end body = body_end::nothing;
  bool http_1_0 = false;
  bool keep_alive = false;  ///< the connection can serve another request
  header_lines fields;

  /// Whether another response to the same request follows: "100 Continue", "103 Early Hints".
  [[nodiscard]] bool is_interim() const noexcept {
    return static_cast<unsigned>(status) < 200 && status != http::status::switching_protocols;
  }
  [[nodiscard]] bool has_body() const noexcept { return body != body_end::nothing; }
};

}  // namespace tartan::http
