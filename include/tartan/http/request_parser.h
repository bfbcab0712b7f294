#pragma once
/// From bytes to requests.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tartan/http/framing.h>
#include <tartan/http/header_lines.h>
#include <tartan/http/request.h>
#include <tartan/http/status.h>

namespace tartan::buf {
class chain;
class slice;
}  // namespace tartan::buf

namespace tartan::http {

/// What a request may have; one that has more is refused with the status named.
struct request_limits {
  std::size_t line = 8 * 1024;                  ///< bytes of the request line: 414, or 501 for an endless method
  std::size_t head = 32 * 1024;                 ///< bytes of all header lines: 431
  std::size_t fields = 100;                     ///< header lines: 431
  std::uint64_t body = std::uint64_t{1} << 20;  ///< bytes of the body: 413

  [[nodiscard]] bool operator==(const request_limits&) const = default;
};

/// Parses the heads of one connection's requests, one after the other. The body is body_reader's.
///
///     request_parser parser;
///     request req;
///     const auto got = parser.parse(received, req);
///     if (got == request_parser::outcome::incomplete) return;                             // until there is more behind `received`
///     if (got == request_parser::outcome::refused) return answer_and_close(parser.error());
///     handle(req);
///     received.erase(0, req.head_size);                                                   // then the body
///     parser.reset();
///
/// It is strict, because a proxy that reads the same bytes in another way could be tricked into seeing other requests
/// (request smuggling): lines end in CRLF, no field is continued on the next line, a length is given once and in digits,
/// and a chunked body has no length and no other coding. HTTP/1.1 needs a Host.
/// Threads: one at a time.
/// Lifetime: nothing is kept of the bytes; they may lie elsewhere at each call.
/// Errors: a status with which to answer; the connection is to be closed then.
/// Limits: request_limits, set by the caller.
/// Cost: each byte is looked at a fixed number of times, in however many pieces it comes; no allocation. 400 bytes.
/// Source: RFC 9112, 2 to 6; what is refused beyond it: 2.2, 5.2, 6.3 and 11.2.
class request_parser {
 public:
  explicit request_parser(const request_limits& limits = {}) noexcept : limits_{limits} {}

  enum class outcome : std::uint8_t {
    incomplete,  ///< call again with the same bytes and more behind them
    complete,    ///< `into` is filled; the next request begins behind its head and body
    refused,     ///< error() says why, the same in however many pieces the bytes come
  };

  /// `bytes`: everything received since the end of the last request.
  [[nodiscard]] outcome parse(std::string_view bytes, request& into) noexcept;

  /// The same for a chain. Once it is complete, the head was moved from the chain to `head`, and the views lie there.
  ///
  /// Errors: std::bad_alloc.
  /// Cost: as chain::take_slice: no copy if the head lies in one slice.
  [[nodiscard]] outcome parse(buf::chain& received, buf::slice& head, request& into);

  /// After `refused`: with which status to answer.
  [[nodiscard]] status error() const noexcept { return error_; }

  /// Whether a request has begun and not ended. An empty line before it does not count.
  [[nodiscard]] bool has_begun() const noexcept { return searched_ > begin_; }

  /// Whether a response must have no body, because the method is HEAD; also for a request that was refused, or came only
  /// in part. `bytes`: as parse was given.
  [[nodiscard]] bool asks_for_head(std::string_view bytes) const noexcept {
    return bytes.substr(begin_).starts_with("HEAD ");
  }

  /// Turns to the next request.
  void reset() noexcept { *this = request_parser{limits_}; }

 private:
  [[nodiscard]] outcome refuse(status why) noexcept {
    error_ = why;
    return outcome::refused;
  }
  [[nodiscard]] outcome take_line(std::string_view bytes, std::size_t newline) noexcept;
  [[nodiscard]] outcome take_request_line(std::string_view bytes, std::size_t newline) noexcept;
  [[nodiscard]] outcome take_field(std::string_view bytes, std::size_t newline) noexcept;
  [[nodiscard]] outcome end_head(std::string_view bytes, request& into) noexcept;
  [[nodiscard]] outcome check_rest(std::string_view bytes) noexcept;

  request_limits limits_;
  std::size_t begin_ = 0;      ///< of the request line: an empty line may precede it
  std::size_t line_ = 0;       ///< where the line begins that has not ended yet
  std::size_t searched_ = 0;   ///< no line ends between line_ and here
  std::size_t fields_at_ = 0;  ///< where the header lines begin; 0: the request line has not ended yet
  std::size_t fields_ = 0;     ///< header lines that have ended
  std::size_t target_at_ = 0;  ///< an offset, as the bytes may lie elsewhere next time
  std::size_t target_size_ = 0;
  method method_ = method::other;
  bool http_1_0_ = false;
  detail::framing framing_;
  line_places places_;  ///< of the header lines, from fields_at_ on
  std::size_t chain_searched_ = 0;  ///< of a chain: no head ends before
  status error_ = status::bad_request;
};

}  // namespace tartan::http
