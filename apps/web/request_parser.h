#pragma once
/// From bytes to a request, or to the reason why it is none.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "web/header_lines.h"
#include "web/request.h"
#include "web/status.h"

namespace web {

/// What a request may have; beyond it, it is refused.
struct request_limits {
  std::size_t line = 8 * 1024;              ///< bytes of the request line: 414, or 501 for a method without end
  std::size_t head = 32 * 1024;             ///< bytes of all header lines: 431
  std::size_t fields = 100;                 ///< header lines: 431
  std::uint64_t body = std::uint64_t{1} << 20;  ///< bytes of the body: 413

  [[nodiscard]] bool operator==(const request_limits&) const = default;
};

/// What must be known of the headers to find the end of the request, and the next one.
struct framing {
  std::optional<std::uint64_t> length;
  bool host = false;
  bool coded = false;            ///< there is a Transfer-Encoding
  bool chunked = false;          ///< its last coding
  bool otherwise_coded = false;  ///< another one, before that
  bool close = false;
  bool keep_alive = false;
  bool expects_continue = false;
  bool is_conditional = false;
  bool asks_for_range = false;
};

/// Parses one request after the other. Does no input and output: it is given bytes, and tells what they are.
///
/// It takes no liberties (RFC 9112, 2.2 and 6.3): lines end in CRLF, no header is continued on the next line, a length is given once
/// and in digits, and where a body comes in chunks there is none, and no other coding. Whoever reads the same bytes in another way, as a
/// proxy in front might, could be tricked into seeing other requests.
/// Cost: each byte is looked at a fixed number of times, however many pieces it comes in; no allocation.
class request_parser {
 public:
  explicit request_parser(const request_limits& limits = {}) noexcept : limits_{limits} {}

  enum class outcome : std::uint8_t {
    incomplete,  ///< give it the same bytes again, with more behind them
    complete,    ///< `into` is filled; the next request begins behind its head and body
    refused,     ///< error() says why, the same in whatever pieces the bytes come; where the next request begins is not known
  };

  /// `bytes`: all that was received from the end of the request before on.
  [[nodiscard]] outcome parse(std::string_view bytes, request& into) noexcept;

  [[nodiscard]] status error() const noexcept { return error_; }

  /// Whether a request has begun, but not ended: an empty line before it does not count.
  [[nodiscard]] bool has_begun() const noexcept { return searched_ > begin_; }

  /// Whether a response, be it to a request that is refused or came only in part, must have no body. `bytes`: as parse was given.
  [[nodiscard]] bool asks_for_head(std::string_view bytes) const noexcept { return bytes.substr(begin_).starts_with("HEAD "); }

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
  std::size_t begin_ = 0;       ///< of the request line: an empty line may stand before it
  std::size_t line_ = 0;        ///< where the line begins that has not ended yet
  std::size_t searched_ = 0;    ///< up to here there is no end of it
  std::size_t fields_at_ = 0;   ///< where the header lines begin; 0: the request line has not ended yet
  std::size_t fields_ = 0;      ///< header lines that have ended
  std::size_t target_at_ = 0;   ///< where the target is: the bytes may lie elsewhere next time
  std::size_t target_size_ = 0;
  method method_ = method::unknown;
  bool http_1_0_ = false;
  framing framing_;
  line_places places_;          ///< of the header lines, from fields_at_ on
  status error_ = status::bad_request;
};

}  // namespace web
