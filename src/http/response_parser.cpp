// Line by line, as request_parser does it.
#include <tartan/http/field.h>
#include <tartan/http/response_parser.h>
#include <tartan/http/text.h>

#include <cstring>

#include "http/body_fields.h"

namespace tartan::http {

namespace {

constexpr std::string_view too_long = "the head is too long";
constexpr std::string_view no_status_line = "the status line is malformed";
constexpr std::string_view no_field = "a header line is malformed";
constexpr std::string_view no_end = "the fields contradict each other about the end of the body";

bool digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// What is wrong with the field; empty: nothing.
std::string_view take(const field& found, detail::framing& into) noexcept {
  switch (found.name.size()) {
    case 10:
      if (!same_letters(found.name, "connection")) break;
      into.close = into.close || list_has(found.value, "close");
      into.keep_alive = into.keep_alive || list_has(found.value, "keep-alive");
      break;
    case 14:
      if (same_letters(found.name, "content-length") && detail::take_length(found.value, into)) {
        return "the Content-Length is malformed, or there are two";
      }
      break;
    case 17:
      if (same_letters(found.name, "transfer-encoding") && detail::take_coding(found.value, into)) {
        return "the Transfer-Encoding is malformed";
      }
      break;
    default:
      break;
  }
  return {};
}

}  // namespace

void response_parser::reset(method asked) noexcept {
  *this = response_parser{limits_};
  asked_ = asked;
}

response_parser::outcome response_parser::parse(std::string_view bytes, response& into) noexcept {
  while (searched_ < bytes.size()) {
    const void* found = std::memchr(bytes.data() + searched_, '\n', bytes.size() - searched_);
    if (found == nullptr) break;
    const auto newline = static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
    const outcome ended = take_line(bytes, newline);
    searched_ = line_ = newline + 1;
    if (ended == outcome::refused) return ended;
    if (ended == outcome::complete) return end_head(bytes, into);
  }
  searched_ = bytes.size();
  return check_rest(bytes);
}

/// A line has ended; complete: it is the empty one that ends the head. Whatever check_rest would have refused is refused
/// first, for the same reason, so that the outcome does not depend on the pieces.
response_parser::outcome response_parser::take_line(std::string_view bytes, std::size_t newline) noexcept {
  const bool ends_well = newline != line_ && bytes[newline - 1] == '\r';
  const std::string_view line = bytes.substr(line_, newline - line_ - (ends_well ? 1 : 0));
  if (fields_at_ == 0) {
    if (line.size() > limits_.line) return refuse(too_long);
    if (!ends_well) return refuse(no_status_line);
    fields_at_ = newline + 1;
    return take_status_line(line);
  }
  if (ends_well && line.empty()) return outcome::complete;
  if (++fields_ > limits_.fields || newline - fields_at_ > limits_.head) return refuse(too_long);
  return ends_well ? take_field(line, newline + 1) : refuse(no_field);
}

/// "HTTP/1.1 200 OK"; the reason may be missing, and the space before it too.
response_parser::outcome response_parser::take_status_line(std::string_view line) noexcept {
  constexpr std::size_t least = std::string_view{"HTTP/1.1 200"}.size();
  const bool has_version = line.size() >= least && line.starts_with("HTTP/1.") && digit(line[7]) && line[8] == ' ';
  const bool has_code = has_version && line[9] != '0' && digit(line[9]) && digit(line[10]) && digit(line[11]);
  if (!has_code || (line.size() > least && line[least] != ' ') || !is_value(line)) return refuse(no_status_line);
  status_ = static_cast<status>((line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0'));
  http_1_0_ = line[7] == '0';
  return outcome::incomplete;
}

response_parser::outcome response_parser::take_field(std::string_view line, std::size_t behind) noexcept {
  const std::optional<field> found = field::of(line);
  if (!found) return refuse(no_field);
  places_.add(line_ - fields_at_, found->name.size(), behind - fields_at_);
  const std::string_view wrong = take(*found, framing_);
  return wrong.empty() ? outcome::incomplete : refuse(wrong);
}

/// No line ends in the rest: is it too long already, or can it be none?
response_parser::outcome response_parser::check_rest(std::string_view bytes) noexcept {
  std::string_view rest = bytes.substr(line_);
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  if (fields_at_ != 0) {
    return !rest.empty() && bytes.size() - fields_at_ > limits_.head ? refuse(too_long) : outcome::incomplete;
  }
  // A server that speaks another protocol may never end a line.
  constexpr std::string_view begin = "HTTP/";
  if (rest.substr(0, begin.size()) != begin.substr(0, rest.size())) return refuse(no_status_line);
  return rest.size() > limits_.line ? refuse(too_long) : outcome::incomplete;
}

body_end response_parser::end_of_body() const noexcept {
  const auto code = static_cast<unsigned>(status_);
  if (asked_ == method::head || code < 200 || status_ == status::no_content || status_ == status::not_modified ||
      (asked_ == method::connect && code < 300)) {
    return body_end::nothing;
  }
  if (framing_.coded) return framing_.chunked ? body_end::chunks : body_end::connection;
  if (framing_.length) return *framing_.length == 0 ? body_end::nothing : body_end::length;
  return body_end::connection;
}

response_parser::outcome response_parser::end_head(std::string_view bytes, response& into) noexcept {
  const detail::framing& found = framing_;
  const auto code = static_cast<unsigned>(status_);
  // Between a response with both and the next one, a proxy may see the border elsewhere (RFC 9112, 6.3). A response
  // that cannot have a body, and says that it has one, is as doubtful.
  if (found.coded && (found.length || http_1_0_)) return refuse(no_end);
  if (code < 200 && (found.coded || found.length.value_or(0) != 0)) return refuse(no_end);
  if (found.otherwise_coded) return refuse("the Transfer-Encoding is not chunked alone");
  const body_end ends = end_of_body();
  if (ends == body_end::length && *found.length > limits_.body) return refuse("the body is too long");
  into.status = status_;
  into.reason = trimmed(bytes.substr(0, bytes.find('\r')).substr(std::string_view{"HTTP/1.1 200"}.size()));
  into.body = ends;
  into.content_length = into.body == body_end::length ? *found.length : 0;
  into.head_size = line_;
  into.http_1_0 = http_1_0_;
  // A 204 that announces a body may be followed by one; behind the other two comes no HTTP.
  const bool has_odd_body = status_ == status::no_content && (found.coded || found.length.value_or(0) != 0);
  const bool is_tunnel = asked_ == method::connect && code >= 200 && code < 300;
  into.keep_alive = !found.close && (!http_1_0_ || found.keep_alive) && ends != body_end::connection && !has_odd_body &&
                    !is_tunnel && status_ != status::switching_protocols;
  into.fields = header_lines{bytes.substr(fields_at_, line_ - fields_at_ - 2), &places_};
  return outcome::complete;
}

}  // namespace tartan::http
