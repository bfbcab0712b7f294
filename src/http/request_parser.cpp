// Line by line, each in one pass once it is there in one piece. Only its end is looked for before, from where the search stopped when more
// bytes come: so a client that sends one byte at a time costs no more than any other.
#include <tartan/http/request_parser.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include <tartan/http/field.h>
#include <tartan/http/host_name.h>
#include <tartan/http/text.h>

#include "http/body_fields.h"

namespace tartan::http {

namespace {

/// Most headers are none of these.
std::optional<status> take(std::string_view name, std::string_view value, detail::framing& into) noexcept {
  switch (name.size()) {
    case 4:
      if (!same_letters(name, "host")) break;
      if (into.host || !is_host(value)) return status::bad_request;
      into.host = true;
      break;
    case 5:
      if (same_letters(name, "range")) into.asks_for_range = true;
      break;
    case 6:
      if (same_letters(name, "expect"))
        into.expects_continue = into.expects_continue || list_has(value, "100-continue");
      break;
    case 8:
      if (same_letters(name, "if-match")) into.is_conditional = true;
      break;
    case 10:
      if (same_letters(name, "connection")) {
        into.close = into.close || list_has(value, "close");
        into.keep_alive = into.keep_alive || list_has(value, "keep-alive");
      }
      break;
    case 13:
      if (same_letters(name, "if-none-match")) into.is_conditional = true;
      break;
    case 14:
      if (same_letters(name, "content-length")) return detail::take_length(value, into);
      break;
    case 17:
      if (same_letters(name, "transfer-encoding")) return detail::take_coding(value, into);
      if (same_letters(name, "if-modified-since")) into.is_conditional = true;
      break;
    case 19:
      if (same_letters(name, "if-unmodified-since")) into.is_conditional = true;
      break;
    default:
      break;
  }
  return std::nullopt;
}

/// What is wrong with "HTTP/1.1".
std::optional<status> check_version(std::string_view version) noexcept {
  if (version == "HTTP/1.1") return std::nullopt;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (version.size() != 8 || !version.starts_with("HTTP/") || !digit(version[5]) || version[6] != '.' ||
      !digit(version[7])) {
    return status::bad_request;
  }
  if (version[5] != '1') return status::version_not_supported;
  return std::nullopt;
}

/// What is wrong with a request line, or with as much as there is of it: is it too long, or can it be none? With its CR, without its LF.
std::optional<status> wrong_so_far(std::string_view line, std::size_t limit) noexcept {
  // A client that speaks another protocol, TLS for one, would wait for an answer without ever ending a line.
  if (!line.empty() && line.front() != '\r' && !token_bytes.has(line.front())) return status::bad_request;
  if (line.size() <= limit || line.size() - limit == 1) return std::nullopt;
  // No method that there is has so many letters.
  return line.substr(0, std::min<std::size_t>(32, limit)).find(' ') == std::string_view::npos ? status::not_implemented
                                                                                              : status::uri_too_long;
}

}  // namespace

request_parser::outcome request_parser::parse(std::string_view bytes, request& into) noexcept {
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

/// A line has ended; complete: it was the empty one that ends the head. First it is looked at whether check_rest would have refused it,
/// for the same reason: so the status is the same in whatever pieces the bytes come.
request_parser::outcome request_parser::take_line(std::string_view bytes, std::size_t newline) noexcept {
  if (fields_at_ == 0) return take_request_line(bytes, newline);
  const bool ends_well = newline != line_ && bytes[newline - 1] == '\r';
  if (ends_well && newline - line_ == 1) return outcome::complete;
  if (++fields_ > limits_.fields || newline - fields_at_ > limits_.head) return refuse(status::fields_too_large);
  if (!ends_well) return refuse(status::bad_request);
  return take_field(bytes, newline);
}

/// "GET /path HTTP/1.1"; or nothing, before that.
request_parser::outcome request_parser::take_request_line(std::string_view bytes, std::size_t newline) noexcept {
  std::string_view line = bytes.substr(line_, newline - line_);
  if (const std::optional<status> wrong = wrong_so_far(line, limits_.line)) return refuse(*wrong);
  if (!line.ends_with('\r')) return refuse(status::bad_request);
  line.remove_suffix(1);
  if (line.empty()) {  // RFC 9112, 2.2: one is to be ignored
    if (line_ != 0) return refuse(status::bad_request);
    begin_ = newline + 1;
    return outcome::incomplete;
  }
  fields_at_ = newline + 1;
  const std::size_t word = token_bytes.span(line);
  if (word == line.size() || line[word] != ' ') return refuse(status::bad_request);
  const std::string_view rest = line.substr(word + 1);
  target_size_ = rest.find(' ');
  if (target_size_ == 0 || target_size_ == std::string_view::npos || !is_plain(rest.substr(0, target_size_)))
    return refuse(status::bad_request);
  const std::string_view version = rest.substr(target_size_ + 1);
  if (const std::optional<status> wrong = check_version(version)) return refuse(*wrong);
  target_at_ = static_cast<std::size_t>(rest.data() - bytes.data());
  method_ = method_of(line.substr(0, word));
  http_1_0_ = version.back() == '0';
  return outcome::incomplete;
}

request_parser::outcome request_parser::take_field(std::string_view bytes, std::size_t newline) noexcept {
  const std::optional<field> found = field::of(bytes.substr(line_, newline - 1 - line_));
  if (!found) return refuse(status::bad_request);
  places_.add(line_ - fields_at_, found->name.size(), newline + 1 - fields_at_);
  if (const std::optional<status> wrong = take(found->name, found->value, framing_)) return refuse(*wrong);
  return outcome::incomplete;
}

/// No line ends in the rest: is it too long already, or can it be none?
request_parser::outcome request_parser::check_rest(std::string_view bytes) noexcept {
  const std::string_view rest = bytes.substr(line_);
  if (fields_at_ != 0) {
    const bool may_be_the_end = rest.empty() || rest == "\r";  // the empty line does not count
    return !may_be_the_end && bytes.size() - fields_at_ > limits_.head ? refuse(status::fields_too_large)
                                                                       : outcome::incomplete;
  }
  const std::optional<status> wrong = wrong_so_far(rest, limits_.line);
  return wrong ? refuse(*wrong) : outcome::incomplete;
}

request_parser::outcome request_parser::end_head(std::string_view bytes, request& into) noexcept {
  const detail::framing& found = framing_;
  if (!found.host && !http_1_0_) return refuse(status::bad_request);
  // Version 1.0 has no chunks: there, too, the ends of such a request may be seen in two ways (RFC 9112, 6.1).
  if (found.coded && (!found.chunked || found.length || http_1_0_)) return refuse(status::bad_request);
  if (found.otherwise_coded) return refuse(status::not_implemented);
  into.method = method_;
  into.method_text = bytes.substr(begin_, target_at_ - 1 - begin_);
  into.target = bytes.substr(target_at_, target_size_);
  into.content_length = found.length.value_or(0);
  into.head_size = line_;
  into.chunked = found.chunked;
  into.http_1_0 = http_1_0_;
  into.keep_alive = !found.close && (!http_1_0_ || found.keep_alive);
  into.expects_continue = found.expects_continue && !http_1_0_ && (found.chunked || into.content_length > 0);
  into.is_conditional = found.is_conditional;
  into.asks_for_range = found.asks_for_range && method_ == method::get;
  into.fields = header_lines{bytes.substr(fields_at_, line_ - fields_at_ - 2), &places_};
  return into.content_length > limits_.body ? refuse(status::content_too_large) : outcome::complete;
}

}  // namespace tartan::http
