#pragma once
/// Requests that one client sends, one after the other, as a connection reads them.

#include <tartan/http/body_reader.h>
#include <tartan/http/request.h>
#include <tartan/http/request_parser.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tartan::http::fuzz {

/// What was found, without views: to be compared.
struct seen_request {
  http::method method{};
  std::string target;
  std::string fields;
  std::uint64_t content_length = 0;
  std::size_t head_size = 0;
  unsigned flags = 0;
  bool body_is_complete = false;
  std::string content;  ///< of the body, as far as it has come

  [[nodiscard]] bool operator==(const seen_request&) const = default;
};

/// How far a client has come.
struct transcript {
  std::vector<seen_request> requests;
  int refused = 0;         ///< the status; 1: within a body; 0: not refused
  bool has_begun = false;  ///< a head that has not ended
  std::size_t used = 0;    ///< bytes behind which the next request begins

  [[nodiscard]] bool operator==(const transcript&) const = default;
};

/// Feeds the parser and the body. Each call is given a copy of exactly what has come, at an address of its own, so that a read beyond it or by an
/// old address is seen.
class conversation {
 public:
  explicit conversation(const request_limits& limits) : limits_{limits}, parser_{limits}, body_{limits.body} {}

  /// More bytes have come.
  void receive(std::string_view bytes);

  [[nodiscard]] const transcript& seen() const noexcept { return seen_; }

 private:
  [[nodiscard]] bool drop_body();
  [[nodiscard]] bool parse_head();
  void check(std::string_view bytes, const request& found) const;

  request_limits limits_;
  request_parser parser_;
  body_reader body_;
  std::string in_;
  transcript seen_;
};

}  // namespace tartan::http::fuzz
