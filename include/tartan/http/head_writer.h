#pragma once
/// Writing the head of a message, field by field. Base of request_writer and response_writer.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tartan::http {

/// Appends header lines to a string, which may hold other messages before this one.
///
/// A name or value that would end its line is refused, so no data of a user can add fields or another message (response
/// splitting). What says where the body ends is written by length(), chunked() or no_body(), once, and ends the head.
/// Threads: one at a time.
/// Lifetime: the string's.
/// Errors: std::invalid_argument for a name that is no token and for a value with control characters; std::bad_alloc.
/// Then nothing of that line is in the string.
/// Cost: a scan of the text, and a copy.
/// Source: RFC 9112, 5 and 6.
class head_writer {
 public:
  head_writer(const head_writer&) = delete;
  head_writer& operator=(const head_writer&) = delete;

  /// Adds a line.
  head_writer& field(std::string_view name, std::string_view value);
  head_writer& field(std::string_view name, std::uint64_t value);

  /// Adds "Connection: close": this is the last message on its connection.
  head_writer& close() { return field("Connection", "close"); }

  /// Ends the head: a body of so many bytes follows.
  void length(std::uint64_t bytes);
  /// Ends the head: a body in chunks follows, see chunk.h. HTTP/1.1 only.
  void chunked();
  /// Ends the head and says nothing of a body: for 1xx, 204, 304, the answer to HEAD, and requests without one.
  void no_body() { end(); }

 protected:
  explicit head_writer(std::string& out) noexcept : out_{out} {}
  ~head_writer() = default;

  void end();

  std::string& out_;
};

}  // namespace tartan::http
