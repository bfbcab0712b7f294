#pragma once
/// A request as llhttp sees it, and why ours may see it in another way.

#include <tartan/http/request_parser.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tartan::http::fuzz {

/// The first request of some bytes, as far as llhttp has read it, with nothing of its leniency on.
struct llhttp_request {
  bool has_head = false;
  bool is_complete = false;
  std::string method;
  std::string target;
  std::string version;
  std::vector<std::pair<std::string, std::string>> fields;  ///< without blanks around the values
  bool has_length = false;
  std::uint64_t content_length = 0;
  bool chunked = false;
  bool keep_alive = false;
  std::string content;        ///< of the body, as far as it has come
  std::size_t head_size = 0;  ///< up to and with the empty line
  std::size_t used = 0;       ///< bytes that it has read: all, or up to the end of the request, or up to a mistake
  std::string error;          ///< empty: none
};
[[nodiscard]] llhttp_request read_by_llhttp(std::string_view bytes);

/// A head that ours takes, written so that llhttp has to take it, too, and find the same fields: what stands in docs/design/fuzzing.md as
/// "taken on purpose" is replaced. Nothing of what ours has found in it is used.
struct translated_head {
  std::string text;
  std::string_view target;  ///< as it was sent
  bool same_method = false;
  bool same_target = false;
};
[[nodiscard]] translated_head for_llhttp(std::string_view head);

/// Why ours refuses a head that llhttp takes: one of the reasons that docs/design/fuzzing.md lists, or nothing.
[[nodiscard]] std::string_view why_head_is_refused(std::string_view head, const llhttp_request& theirs,
                                                   const request_limits& limits);

/// The same of a body in chunks.
[[nodiscard]] std::string_view why_body_is_refused(std::string_view body, const request_limits& limits);

/// Why llhttp refuses a body that ours takes; `at`: where it has seen the mistake.
[[nodiscard]] std::string_view why_llhttp_refuses(std::string_view body, std::size_t at, const std::string& error);

}  // namespace tartan::http::fuzz
