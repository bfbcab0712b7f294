// Two steps. The first looks for the empty line that ends the head, goes on where it stopped when more bytes come, and sees to the
// limits; so a client that sends one byte at a time costs no more than any other. The second runs once, over the whole head, and has
// everything in one piece in front of it.
#include "request_parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

namespace web {

namespace {

using bytes_set = std::array<bool, 256>;

consteval bytes_set token_bytes() {
  bytes_set set{};
  for (const char c : std::string_view{"!#$%&'*+-.^_`|~0123456789"}) set[static_cast<unsigned char>(c)] = true;
  for (char c = 'a'; c <= 'z'; ++c) set[static_cast<unsigned char>(c)] = set[static_cast<unsigned char>(c - 'a' + 'A')] = true;
  return set;
}
constexpr bytes_set token_set = token_bytes();

bool is_token(std::string_view word) noexcept {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return token_set[static_cast<unsigned char>(c)]; });
}

bool is_visible(char c) noexcept { return c > 0x20 && c < 0x7f; }

/// A header's value: no control but the tab; bytes beyond ASCII are allowed, and mean nothing.
bool is_value(std::string_view value) noexcept {
  return std::all_of(value.begin(), value.end(), [](char c) { return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f); });
}

method method_of(std::string_view word) noexcept {
  if (word == "GET") return method::get;
  if (word == "HEAD") return method::head;
  for (const std::string_view known : {"POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "PATCH"}) {
    if (word == known) return method::known;
  }
  return method::unknown;
}

/// What must be known of the headers to find the end of the request, and the next one.
struct framing {
  std::size_t hosts = 0;
  std::optional<std::uint64_t> length;
  bool chunked = false;
  bool close = false;
  bool keep_alive = false;
  bool expects_continue = false;
};

/// Whether a list "a, b, c" has this word.
bool list_has(std::string_view list, std::string_view word) noexcept {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (same_letters(trimmed(list.substr(0, comma)), word)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

/// Gives the reason why the length is none.
std::optional<status> take_length(std::string_view value, framing& into) noexcept {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (into.length || value.empty() || !std::all_of(value.begin(), value.end(), digit)) return status::bad_request;
  std::uint64_t length = 0;
  if (std::from_chars(value.data(), value.data() + value.size(), length).ec != std::errc{}) return status::content_too_large;
  into.length = length;
  return std::nullopt;
}

/// A server has to know `chunked` (RFC 9112, 7.1), and no other.
std::optional<status> take_coding(std::string_view value, framing& into) noexcept {
  if (into.chunked) return status::bad_request;
  if (!same_letters(value, "chunked")) return status::not_implemented;
  into.chunked = true;
  return std::nullopt;
}

std::optional<status> take_field(const header_field& field, framing& into) noexcept {
  if (!is_token(field.name) || !is_value(field.value)) return status::bad_request;
  switch (field.name.size()) {  // most headers are none of these
    case 4:
      if (!same_letters(field.name, "host")) break;
      if (!is_host(field.value)) return status::bad_request;
      ++into.hosts;
      break;
    case 6:
      if (same_letters(field.name, "expect")) into.expects_continue = into.expects_continue || list_has(field.value, "100-continue");
      break;
    case 10:
      if (same_letters(field.name, "connection")) {
        into.close = into.close || list_has(field.value, "close");
        into.keep_alive = into.keep_alive || list_has(field.value, "keep-alive");
      }
      break;
    case 14:
      if (same_letters(field.name, "content-length")) return take_length(field.value, into);
      break;
    case 17:
      if (same_letters(field.name, "transfer-encoding")) return take_coding(field.value, into);
      break;
    default:
      break;
  }
  return std::nullopt;
}

/// "GET /path HTTP/1.1"
std::optional<status> parse_line(std::string_view line, request& into) noexcept {
  const std::size_t first = line.find(' ');
  const std::size_t second = line.find(' ', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return status::bad_request;
  const std::string_view word = line.substr(0, first);
  const std::string_view version = line.substr(second + 1);
  into.target = line.substr(first + 1, second - first - 1);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!is_token(word) || into.target.empty() || !std::all_of(into.target.begin(), into.target.end(), is_visible)) return status::bad_request;
  if (version.size() != 8 || !version.starts_with("HTTP/") || !digit(version[5]) || version[6] != '.' || !digit(version[7])) {
    return status::bad_request;
  }
  if (version[5] != '1') return status::version_not_supported;
  into.method = method_of(word);
  into.http_1_0 = version[7] == '0';
  return std::nullopt;
}

std::optional<status> parse_fields(std::string_view lines, const request_limits& limits, request& into) noexcept {
  framing found;
  while (!lines.empty()) {
    // A line without a name, as the continuation of the one before (obs-fold) is one, is no token.
    const std::string_view line = lines.substr(0, lines.find("\r\n"));
    if (line.find(':') == std::string_view::npos) return status::bad_request;
    if (const std::optional<status> wrong = take_field(cut_field(lines), found)) return wrong;
  }
  if (found.hosts > 1 || (found.hosts == 0 && !into.http_1_0)) return status::bad_request;
  // Version 1.0 has no chunks: there, too, the ends of such a request may be seen in two ways (RFC 9112, 6.1).
  if (found.chunked && (found.length || into.http_1_0)) return status::bad_request;
  into.chunked = found.chunked;
  into.content_length = found.length.value_or(0);
  if (into.content_length > limits.body) return status::content_too_large;
  into.keep_alive = !found.close && (!into.http_1_0 || found.keep_alive);
  into.expects_continue = found.expects_continue && !into.http_1_0 && (into.chunked || into.content_length > 0);
  return std::nullopt;
}

/// Why a request line is too long: no method that there is has so many letters.
status too_long(std::string_view line) noexcept {
  return line.substr(0, 32).find(' ') == std::string_view::npos ? status::not_implemented : status::uri_too_long;
}

}  // namespace

request_parser::outcome request_parser::parse(std::string_view bytes, request& into) noexcept {
  while (searched_ < bytes.size()) {
    const void* found = std::memchr(bytes.data() + searched_, '\n', bytes.size() - searched_);
    if (found == nullptr) break;
    const auto newline = static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
    const outcome ended = end_line(bytes, newline);
    searched_ = line_ = newline + 1;
    if (ended == outcome::refused) return ended;
    if (ended == outcome::complete) return parse_head(bytes.substr(0, line_), into);
  }
  searched_ = bytes.size();
  return check_rest(bytes);
}

/// A line has ended; complete: it was the empty one that ends the head.
request_parser::outcome request_parser::end_line(std::string_view bytes, std::size_t newline) noexcept {
  if (newline == line_ || bytes[newline - 1] != '\r') return refuse(status::bad_request);
  const std::size_t length = newline - 1 - line_;
  if (fields_at_ == 0) {
    if (length == 0) {  // RFC 9112, 2.2: one is to be ignored
      if (line_ != 0) return refuse(status::bad_request);
      begin_ = newline + 1;
      return outcome::incomplete;
    }
    if (!token_set[static_cast<unsigned char>(bytes[line_])]) return refuse(status::bad_request);
    if (length > limits_.line) return refuse(too_long(bytes.substr(line_)));
    fields_at_ = newline + 1;
    return outcome::incomplete;
  }
  if (length == 0) return outcome::complete;
  if (++fields_ > limits_.fields || newline - fields_at_ > limits_.head) return refuse(status::fields_too_large);
  return outcome::incomplete;
}

/// No line ends in the rest: is it too long already, or can it be none?
request_parser::outcome request_parser::check_rest(std::string_view bytes) noexcept {
  if (fields_at_ != 0) return bytes.size() - fields_at_ > limits_.head ? refuse(status::fields_too_large) : outcome::incomplete;
  const std::string_view rest = bytes.substr(line_);
  if (rest.size() > limits_.line + 1) return refuse(too_long(rest));
  // A client that speaks another protocol, TLS for one, would wait for an answer without ever ending a line.
  if (!rest.empty() && rest.front() != '\r' && !token_set[static_cast<unsigned char>(rest.front())]) return refuse(status::bad_request);
  return outcome::incomplete;
}

request_parser::outcome request_parser::parse_head(std::string_view bytes, request& into) noexcept {
  into = {};
  into.head_size = bytes.size();
  if (const std::optional<status> wrong = parse_line(bytes.substr(begin_, fields_at_ - 2 - begin_), into)) return refuse(*wrong);
  const std::string_view lines = bytes.substr(fields_at_, bytes.size() - 2 - fields_at_);
  if (const std::optional<status> wrong = parse_fields(lines, limits_, into)) return refuse(*wrong);
  return outcome::complete;
}

}  // namespace web
