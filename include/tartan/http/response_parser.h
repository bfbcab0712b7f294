#pragma once
/// From bytes to responses.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tartan/http/framing.h>
#include <tartan/http/header_lines.h>
#include <tartan/http/method.h>
#include <tartan/http/response.h>

namespace tartan::buf {
class chain;
class slice;
}  // namespace tartan::buf

namespace tartan::http {

/// What a response may have; one that has more is refused.
struct response_limits {
  std::size_t line = 8 * 1024;                  ///< bytes of the status line
  std::size_t head = 64 * 1024;                 ///< bytes of all header lines
  std::size_t fields = 200;                     ///< header lines
  std::uint64_t body = std::uint64_t{1} << 50;  ///< bytes of a body whose length is given

  [[nodiscard]] bool operator==(const response_limits&) const = default;
};

/// Parses the heads of one connection's responses, one after the other. The body is body_reader's.
///
///     response_parser parser;
///     parser.reset(method::head);  // the method of the request
///     response answer;
///     if (parser.parse(received, answer) == response_parser::outcome::complete) body.begin(answer);
///
/// It is as strict as request_parser: whatever leaves in doubt where the body ends is refused, so that no response can
/// be taken for the answer to the next request.
/// Threads: one at a time.
/// Lifetime: nothing is kept of the bytes; they may lie elsewhere at each call.
/// Errors: error() says why; the connection is to be closed then.
/// Limits: response_limits, set by the caller.
/// Cost: each byte is looked at a fixed number of times, in however many pieces it comes; no allocation. 400 bytes.
/// Source: RFC 9112, 4 to 6.
class response_parser {
 public:
  explicit response_parser(const response_limits& limits = {}) noexcept : limits_{limits} {}

  enum class outcome : std::uint8_t {
    incomplete,  ///< call again with the same bytes and more behind them
    complete,    ///< `into` is filled; its body follows, or, if it is interim, another head
    refused,     ///< error() says why
  };

  /// `bytes`: everything received since the end of the last response.
  [[nodiscard]] outcome parse(std::string_view bytes, response& into) noexcept;

  /// The same for a chain. Once it is complete, the head was moved from the chain to `head`, and the views lie there.
  ///
  /// Errors: std::bad_alloc.
  /// Cost: as chain::take_slice: no copy if the head lies in one slice.
  [[nodiscard]] outcome parse(buf::chain& received, buf::slice& head, response& into);

  /// After `refused`: what is wrong, in words. Static text.
  [[nodiscard]] std::string_view error() const noexcept { return error_; }

  /// Turns to the next response: the answer to a request with this method, or what follows an interim one. HEAD and
  /// CONNECT change where the body ends.
  void reset(method asked = method::get) noexcept;

 private:
  [[nodiscard]] outcome refuse(std::string_view why) noexcept {
    error_ = why;
    return outcome::refused;
  }
  [[nodiscard]] outcome take_line(std::string_view bytes, std::size_t newline) noexcept;
  [[nodiscard]] outcome take_status_line(std::string_view line) noexcept;
  [[nodiscard]] outcome take_field(std::string_view line, std::size_t behind) noexcept;
  [[nodiscard]] outcome end_head(std::string_view bytes, response& into) noexcept;
  [[nodiscard]] outcome check_rest(std::string_view bytes) noexcept;
  [[nodiscard]] body_end end_of_body() const noexcept;

  response_limits limits_;
  std::size_t line_ = 0;       ///< where the line begins that has not ended yet
  std::size_t searched_ = 0;   ///< no line ends between line_ and here
  std::size_t fields_at_ = 0;  ///< where the header lines begin; 0: the status line has not ended yet
  std::size_t fields_ = 0;     ///< header lines that have ended
  status status_ = status::ok;
  method asked_ = method::get;
  bool http_1_0_ = false;
  detail::framing framing_;
  line_places places_;  ///< of the header lines, from fields_at_ on
  std::size_t chain_searched_ = 0;  ///< of a chain: no head ends before
  std::string_view error_;
};

}  // namespace tartan::http
