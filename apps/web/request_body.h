#pragma once
/// What comes behind the head of a request.

#include <cstdint>
#include <string_view>

#include "web/read_buffer.h"
#include "web/request.h"
#include "web/status.h"

namespace web {

/// Drops the body, which this server never wants, and so finds the next request.
///
/// Chunks (RFC 9112, 7.1) are read as strictly as heads: each line ends in CRLF, a size is given in at most eight hexadecimal digits, with blanks
/// behind them only before an extension, what comes behind the last one are header lines.
/// Limits: a body in chunks has as many bytes as one with a length may have, with all that is around the chunks; one of their lines 4096.
class request_body {
 public:
  explicit request_body(std::uint64_t most) noexcept : most_{most} {}

  enum class outcome : std::uint8_t {
    incomplete,  ///< all bytes are dropped, but for a line that has not ended
    complete,    ///< what is left belongs to the next request
    refused,     ///< where the next request begins is not known
  };

  void begin(const request& of) noexcept;

  [[nodiscard]] outcome drop_from(read_buffer& in) noexcept;

  /// Why it is refused: too much of it, or it is none.
  [[nodiscard]] status error() const noexcept { return taken_ > most_ ? status::content_too_large : status::bad_request; }

  [[nodiscard]] bool is_complete() const noexcept { return left_ == 0 && next_ == part::end; }

 private:
  /// What comes behind the bytes that are left.
  enum class part : std::uint8_t { end, size, end_of_chunk, trailer };
  [[nodiscard]] bool take_line(std::string_view line) noexcept;
  [[nodiscard]] bool take_size(std::string_view line) noexcept;

  std::uint64_t most_;
  std::uint64_t taken_ = 0;  ///< bytes of chunks and lines
  std::uint64_t left_ = 0;   ///< bytes that are to be dropped unseen
  part next_ = part::end;
};

}  // namespace web
