#pragma once
/// From bytes to the content of a body, with a length, in chunks, or up to the end of the connection.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tartan/http/request.h>
#include <tartan/http/response.h>
#include <tartan/http/status.h>

namespace tartan::buf {
class chain;
}

namespace tartan::http {

/// Reads the bodies of one connection's messages, one after the other.
///
///     body.begin(req);
///     for (body_reader::taken part; !body.is_complete(); received.remove_prefix(part.used)) {
///       part = body.take(received);
///       if (part.what == body_reader::outcome::incomplete) return received.remove_prefix(part.used);  // until more has come
///       if (part.what == body_reader::outcome::refused) return refuse(body.error());
///       use(part.content);
///     }
///
/// Chunks are read as strictly as heads: a line ends in CRLF, a size has at most eight hexadecimal digits, blanks behind
/// it are allowed only before an extension, and the trailer consists of fields. Extensions and trailer are checked and
/// dropped.
/// Threads: one at a time.
/// Lifetime: nothing is kept of the bytes.
/// Errors: 413 for a body beyond the limit, known before its bytes come; 400 for what is no body. The connection is to
/// be closed then: where the next message begins is not known.
/// Limits: `most` bytes, the lines around the chunks included; a line of 4096 bytes.
/// Cost: content is not looked at; no allocation. 40 bytes.
/// Source: RFC 9112, 6 and 7.1.
class body_reader {
 public:
  /// The body of a message with a length is not checked against `most`: its parser has done so.
  explicit body_reader(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) noexcept : most_{most} {}

  enum class outcome : std::uint8_t {
    content,     ///< there is some: use it, drop `used` bytes, and call again with what follows
    incomplete,  ///< drop `used` bytes, and call again when more has come
    complete,    ///< behind `used` bytes the next message begins
    refused,     ///< error() says why
  };

  struct taken {
    outcome what = outcome::incomplete;
    std::size_t used = 0;      ///< bytes at the front that are dealt with, `content` among them
    std::string_view content;  ///< lies in the bytes
  };

  /// Turns to the body of this message.
  void begin(const request& of) noexcept { begin(of.content_length, of.chunked); }
  void begin(const response& of) noexcept {
    begin(of.body == body_end::connection ? no_end : of.content_length, of.body == body_end::chunks);
  }

  /// `bytes`: what follows what was used so far.
  [[nodiscard]] taken take(std::string_view bytes) noexcept;

  /// Moves all content that has come from one chain to the end of the other, without a copy.
  ///
  /// Errors: std::bad_alloc; then the connection is to be closed.
  [[nodiscard]] outcome take(buf::chain& from, buf::chain& content);

  [[nodiscard]] status error() const noexcept {
    return taken_ > most_ ? status::content_too_large : status::bad_request;
  }

  /// Also after begin() for a message without a body.
  [[nodiscard]] bool is_complete() const noexcept { return left_ == 0 && next_ == stage::end; }

  /// Whether the next byte is content, and the number of bytes of it that are sure to come.
  [[nodiscard]] bool in_content() const noexcept { return left_ != 0; }
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }

  /// The peer has closed the connection: whether the body ends there. If not, it was cut off.
  [[nodiscard]] bool may_end_here() const noexcept { return is_complete() || left_ == no_end; }

 private:
  static constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t longest_line = 4096;  ///< bytes, with its end

  /// What comes behind the content that is left.
  enum class stage : std::uint8_t { end, size, end_of_chunk, trailer };

  void begin(std::uint64_t length, bool chunked) noexcept {
    taken_ = 0;
    left_ = length;
    next_ = chunked ? stage::size : stage::end;
  }
  [[nodiscard]] std::size_t content_in(std::size_t bytes) noexcept;
  [[nodiscard]] bool take_line(std::string_view line) noexcept;
  [[nodiscard]] bool take_size(std::string_view line) noexcept;

  std::uint64_t most_;
  std::uint64_t taken_ = 0;  ///< bytes of chunks and of the lines around them, or up to the end of the connection
  std::uint64_t left_ = 0;   ///< bytes of content before the next line; no_end: up to the end of the connection
  stage next_ = stage::end;
};

}  // namespace tartan::http
