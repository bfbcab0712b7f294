#pragma once
/// What it takes to answer.

#include <tartan/http/byte_range.h>
#include <tartan/http/content_coding.h>
#include <tartan/http/request.h>
#include <tartan/http/request_parser.h>
#include <tartan/http/status.h>
#include <tartan/http/target.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "web/host.h"
#include "web/http.h"
#include "web/page.h"
#include "web/read_buffer.h"
#include "web/request_body.h"

namespace web {

struct worker_store;

/// A request and its response, as far as they have come: what a connection has while there is something to answer, and not while it waits for the next
/// request.
///
/// So of thousands of connections that wait none has a buffer (but over TLS each keeps its exchange, for what comes has to be opened into it); and those
/// that a worker serves one after the other use the same memory, which is in its cache. What is a connection's own is read and written once for each
/// request, when it has long been out of the cache.
struct exchange {
  explicit exchange(const http::request_limits& limits) noexcept : parser{limits}, body{limits.body} {}
  exchange(exchange&&) = delete;

  read_buffer in;
  http::request_parser parser;
  http::request request;           ///< the one that is being answered; its views point into in, and into parser
  std::string decoded;            ///< its path, if that has to be decoded
  http::target_path target;
  web::host* host = nullptr;      ///< that is asked
  std::string sibling_key;        ///< of that which is wanted instead of the file
  http::coding as = http::coding::identity;   ///< what is asked for: the file under target, or that sibling
  http::coding_set gone;                ///< siblings that were to be sent, and cannot be
  http::status error = http::status::ok;      ///< else: the host's page that stands for it is asked for
  request_body body;              ///< the last request's: what is still to come of it is dropped
  std::string held;               ///< the head of a request whose body has not ended: it is answered then; request's views are dead meanwhile
  std::string out;                ///< responses that are to be written
  std::size_t response_at = 0;    ///< where in it the last one begins
  std::string log;                ///< lines for responses in out, if there is an access log
  shared_page kept;               ///< whose content comes behind out, from memory;
  large_file large;               ///< or this one's, from the disk
  std::vector<http::byte_range> parts;      ///< of it
  std::vector<std::string> frame;     ///< what is sent before each of them, and behind the last one
  worker_store* store = nullptr;      ///< of the worker that answers; not to be kept over a co_await
  bool is_stale = false;                  ///< made by settings that are no longer those of its connection

  /// It is answered. Few heads are held, and none for the sake of the next.
  void drop_held() noexcept {
    if (held.capacity() > read_buffer::usual) {
      std::string{}.swap(held);
    } else {
      held.clear();
    }
  }

  /// Forgets all that has come and was said. `limits`: as it was made by.
  void clear(const http::request_limits& limits) noexcept {
    in.drop(in.size());
    parser.reset();
    error = http::status::ok;
    body = request_body{limits.body};
    drop_held();
    out.clear();
    log.clear();
    kept = nullptr;
    large = nullptr;
  }

  /// In its buffers.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return in.capacity() + out.capacity() + held.capacity() + decoded.capacity() + sibling_key.capacity() + log.capacity();
  }

  /// Nothing of a request has come, or all of it is answered, and sent.
  [[nodiscard]] bool is_over() const noexcept {
    return in.empty() && !parser.has_begun() && body.is_complete() && held.empty() && out.empty() && log.empty() && kept == nullptr && large == nullptr;
  }
};

}  // namespace web
