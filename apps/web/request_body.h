#pragma once
/// The body of a request, which this server never wants.

#include <tartan/http/body_reader.h>

#include "web/read_buffer.h"

namespace web {

/// Drops the body, and so finds the next request.
class request_body : public tartan::http::body_reader {
 public:
  using body_reader::body_reader;

  /// complete: what is left belongs to the next request. incomplete: all of it is dropped, except for a line that has
  /// not ended.
  [[nodiscard]] outcome drop_from(read_buffer& in) noexcept {
    while (!is_complete()) {
      const taken part = take(in.text());
      in.drop(part.used);
      if (part.what != outcome::content) return part.what;
    }
    return outcome::complete;
  }
};

}  // namespace web
