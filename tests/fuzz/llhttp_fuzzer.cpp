// Our parser and llhttp, side by side. What ours takes, llhttp has to take, and see as the same; what ours refuses and llhttp takes must have a reason that
// docs/design/fuzzing.md lists.
//
// Input: what a client sends.
#include <tartan/http/body_reader.h>
#include <tartan/http/field.h>
#include <tartan/http/request_parser.h>
#include <tartan/http/text.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compared_request.h"
#include "fuzz_target.h"

namespace tartan::http::fuzz {

namespace {

constexpr request_limits limits;

void check_request_line(const request& ours, const translated_head& sent, const llhttp_request& theirs) {
  if (sent.same_method) {
    const bool same = theirs.method == "GET"    ? ours.method == method::get
                      : theirs.method == "HEAD" ? ours.method == method::head
                                                : true;
    promise(same, "the same method");
    promise(ours.method != method::get || theirs.method == "GET", "GET is GET");
    promise(ours.method != method::head || theirs.method == "HEAD", "HEAD is HEAD");
  }
  promise(ours.target == sent.target && (!sent.same_target || ours.target == theirs.target), "the same target");
  promise(theirs.version == (ours.http_1_0 ? "1.0" : "1.1"), "the same version");
}

void check_fields(const request& ours, const llhttp_request& theirs) {
  std::string_view rest = ours.fields.text();
  for (const auto& [name, value] : theirs.fields) {
    const std::size_t end = rest.find("\r\n");
    promise(end != std::string_view::npos, "no more header lines than ours");
    const auto one = field::of(rest.substr(0, end));
    promise(one.has_value() && one->name == name, "the same name");
    std::string blanks{one->value};
    std::replace(blanks.begin(), blanks.end(), '\t', ' ');
    promise(blanks == value, "the same value of " + name);
    rest.remove_prefix(end + 2);
  }
  promise(rest.empty(), "as many header lines as ours");
}

bool has_field(const llhttp_request& theirs, std::string_view wanted) {
  return std::any_of(theirs.fields.begin(), theirs.fields.end(),
                     [&](const auto& one) { return same_letters(one.first, wanted); });
}

void check_framing(const request& ours, const llhttp_request& theirs) {
  promise(ours.chunked == theirs.chunked, "chunks or none");
  promise(ours.chunked || ours.content_length == theirs.content_length, "the same length");
  if (has_field(theirs, "proxy-connection")) return;  // which llhttp takes for Connection
  if (!ours.keep_alive && ours.http_1_0 && theirs.keep_alive) {
    promise(has_field(theirs, "connection"), "1.0 ends unless it says otherwise");  // "close, keep-alive": ours closes
    return;
  }
  promise(ours.keep_alive == theirs.keep_alive, "the connection stays, or not");
}

/// Gives how many bytes of the body there are, or nothing if its end has not come or it is refused; then there is no next request.
std::optional<std::size_t> check_body(const request& ours, const std::string& head, std::string_view behind) {
  body_reader body{limits.body};
  body.begin(ours);
  std::size_t size = 0;
  std::string content;
  body_reader::taken part;
  do {
    part = body.take(behind.substr(size));
    content.append(part.content);
    size += part.used;
  } while (part.what == body_reader::outcome::content);
  const body_reader::outcome ended = part.what;
  const llhttp_request theirs = read_by_llhttp(head + std::string{behind});
  const std::size_t their_size = theirs.used - std::min(theirs.used, head.size());
  if (ended == body_reader::outcome::complete) {
    if (!theirs.error.empty()) {
      promise(!why_llhttp_refuses(behind, their_size, theirs.error).empty(),
              "a body that ours takes is none: " + theirs.error);
      return std::nullopt;
    }
    promise(theirs.is_complete, "the body ends for both");
    promise(size == their_size, "the body ends at the same byte");
    promise(content == theirs.content, "the body has the same content");
    return size;
  }
  promise(!theirs.is_complete || ended == body_reader::outcome::refused, "what is incomplete is so for both");
  if (theirs.is_complete)
    promise(!why_body_is_refused(behind.substr(0, their_size), limits).empty(), "a body is refused without a reason");
  return std::nullopt;
}

/// Gives the bytes of the request, or nothing if there is no next one.
std::optional<std::size_t> check_one(std::string_view bytes) {
  request_parser parser{limits};
  request ours;
  const request_parser::outcome ended = parser.parse(bytes, ours);
  if (ended != request_parser::outcome::complete) {
    const llhttp_request theirs = read_by_llhttp(bytes);
    if (!theirs.has_head) return std::nullopt;
    promise(ended == request_parser::outcome::refused, "a head is incomplete for ours only");
    promise(!why_head_is_refused(bytes.substr(0, theirs.head_size), theirs, limits).empty(),
            "a head is refused without a reason");
    return std::nullopt;
  }
  const translated_head sent = for_llhttp(bytes.substr(0, ours.head_size));
  const llhttp_request theirs = read_by_llhttp(sent.text);
  promise(theirs.has_head, "a head that ours takes is none: " + theirs.error);
  promise(theirs.head_size == sent.text.size(), "the head ends at the same byte");
  check_request_line(ours, sent, theirs);
  check_fields(ours, theirs);
  check_framing(ours, theirs);
  const std::optional<std::size_t> body = check_body(ours, sent.text, bytes.substr(ours.head_size));
  if (!body || !ours.keep_alive) return std::nullopt;
  return ours.head_size + *body;
}

}  // namespace

void fuzz_llhttp(std::string_view input) {
  for (std::size_t at = 0; at < input.size();) {
    const std::optional<std::size_t> size = check_one(input.substr(at));
    if (!size) return;
    at += *size;
  }
}

}  // namespace tartan::http::fuzz
