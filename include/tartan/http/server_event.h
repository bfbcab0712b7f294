#pragma once
/// Server-Sent Events: streams of type text/event-stream.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tartan::http {

/// One event, as it is sent.
///
/// Lifetime: that of the texts.
struct server_event_view {
  std::string_view id = {};                             ///< what a client that reconnects sends as Last-Event-ID
  std::string_view event = {};                          ///< its type; empty: "message"
  std::string_view data = {};                           ///< may have several lines
  std::optional<std::chrono::milliseconds> retry = {};  ///< when a client is to reconnect
};

/// One event, as it was received.
struct server_event {
  std::string id;     ///< of this event, or of the last one that had an id
  std::string event;  ///< empty: "message"
  std::string data;
  std::optional<std::chrono::milliseconds> retry;  ///< the last one since the event before
};

/// Appends an event.
///
/// Errors: std::invalid_argument for an id or a type with the end of a line or a zero byte in it: no data of a user can
/// add events. std::bad_alloc. Then nothing was appended.
void append_event(std::string& out, const server_event_view& e);

/// Appends a comment, which clients ignore: it keeps proxies from closing an idle connection.
void append_comment(std::string& out, std::string_view text);

/// From bytes to events.
///
///     parser.add(bytes);
///     while (auto e = parser.next()) use(*e);
///
/// Threads: one at a time.
/// Errors: is_full() once an event exceeds the limit; nothing comes from then on.
/// Limits: `most` bytes that are not given yet.
/// Source: the HTML standard, 9.2.6.
class event_parser {
 public:
  explicit event_parser(std::size_t most = std::size_t{1} << 20) noexcept : most_{most} {}

  /// Errors: std::bad_alloc.
  void add(std::string_view bytes);
  [[nodiscard]] std::optional<server_event> next();
  [[nodiscard]] bool is_full() const noexcept { return is_full_; }

 private:
  [[nodiscard]] bool take_line(std::string_view line, std::optional<server_event>& done);

  std::size_t most_;
  std::string received_;
  server_event coming_;
  bool has_data_ = false;
  bool has_begun_ = false;  ///< a byte order mark can no longer come
  bool after_cr_ = false;   ///< an LF that follows belongs to the line before
  bool is_full_ = false;
};

}  // namespace tartan::http
