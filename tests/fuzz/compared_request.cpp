#include "compared_request.h"

#include <tartan/http/request.h>
#include <tartan/http/target.h>
#include <tartan/http/text.h>

#include <arpa/inet.h>
#include <llhttp.h>
#include <netinet/in.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace tartan::http::fuzz {

namespace {

/// llhttp's callbacks have no other place for what they see.
struct reading {
  llhttp_request found;
  std::string name;
  std::string value;
};

reading& of(llhttp_t* parser) {
  return *static_cast<reading*>(parser->data);
}

int end_field(llhttp_t* parser) {
  reading& r = of(parser);
  if (!r.found.has_head) r.found.fields.emplace_back(r.name, trimmed(r.value));
  r.name.clear();
  r.value.clear();
  return 0;
}

int end_head(llhttp_t* parser) {
  llhttp_request& found = of(parser).found;
  found.has_head = true;
  found.has_length = (parser->flags & F_CONTENT_LENGTH) != 0;
  found.content_length = parser->content_length;
  found.chunked = (parser->flags & F_CHUNKED) != 0;
  found.keep_alive = llhttp_should_keep_alive(parser) != 0;
  return HPE_PAUSED;
}

int end_request(llhttp_t* parser) {
  of(parser).found.is_complete = true;
  return HPE_PAUSED;
}

template <std::string llhttp_request::* Part>
int take(llhttp_t* parser, const char* at, std::size_t size) {
  (of(parser).found.*Part).append(at, size);
  return 0;
}

template <std::string reading::* Part>
int take_of_field(llhttp_t* parser, const char* at, std::size_t size) {
  (of(parser).*Part).append(at, size);
  return 0;
}

llhttp_settings_t callbacks() {
  llhttp_settings_t all;
  llhttp_settings_init(&all);
  all.on_method = take<&llhttp_request::method>;
  all.on_url = take<&llhttp_request::target>;
  all.on_version = take<&llhttp_request::version>;
  all.on_header_field = take_of_field<&reading::name>;
  all.on_header_value = take_of_field<&reading::value>;
  all.on_header_value_complete = end_field;
  all.on_headers_complete = end_head;
  all.on_body = take<&llhttp_request::content>;
  all.on_message_complete = end_request;
  return all;
}

/// Methods that llhttp takes in an HTTP request, but for CONNECT, whose targets are others.
constexpr std::string_view known_methods[] = {
    "DELETE", "GET",   "HEAD",   "POST",     "PUT",       "OPTIONS",    "TRACE",     "COPY",
    "LOCK",   "MKCOL", "MOVE",   "PROPFIND", "SEARCH",    "UNLOCK",     "BIND",      "REBIND",
    "UNBIND", "ACL",   "REPORT", "CHECKOUT", "MERGE",     "M-SEARCH",   "NOTIFY",    "PROPPATCH",
    "PATCH",  "PURGE", "LINK",   "UNLINK",   "SUBSCRIBE", "MKACTIVITY", "MKCALENDAR"};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\r\n"), text.size());
    found.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return found;
}

bool has_bare_newline(std::string_view text) {
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (text[n] == '\n' && (n == 0 || text[n - 1] != '\r')) return true;
  }
  return false;
}

std::string_view why_line_is_refused(std::string_view line) {
  if (line.starts_with(' ') || line.starts_with('\t')) return "folded line";
  if (line.starts_with(':')) return "field without a name";
  return {};
}

bool is_number(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_one_of(char c, std::string_view marks) {
  return (static_cast<unsigned char>(c) < 0x80 && std::isalnum(static_cast<unsigned char>(c)) != 0) ||
         marks.find(c) != std::string_view::npos;
}

/// "v", hexadecimal digits, a dot, an address.
bool is_future_address(const std::string& text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string::npos || dot < 2 || dot + 1 == text.size() || (text.front() | 0x20) != 'v') return false;
  return text.find_first_not_of("0123456789abcdefABCDEF", 1) == dot &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_one_of(c, "-._~!$&'()*+,;=:"); });
}

/// RFC 3986, 3.2.2, in other words than is_host's.
bool is_plausible_host(std::string text) {
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos && is_number(std::string_view{text}.substr(colon + 1)) &&
      (text.front() != '[' || text[colon - 1] == ']')) {
    text.resize(colon);
  }
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) return false;
    const std::string inside = text.substr(1, text.size() - 2);
    in6_addr unused{};
    return ::inet_pton(AF_INET6, inside.c_str(), &unused) == 1 || is_future_address(inside);
  }
  for (std::size_t n = 0; n < text.size(); ++n) {
    const auto is_digit = [&](std::size_t at) {
      return at < text.size() && std::isxdigit(static_cast<unsigned char>(text[at])) != 0;
    };
    if (text[n] == '%' && is_digit(n + 1) && is_digit(n + 2)) {
      n += 2;
    } else if (!is_one_of(text[n], "-._~!$&'()*+,;=")) {
      return false;
    }
  }
  return true;
}

std::string_view why_request_line_is_refused(std::string_view line) {
  if (std::count(line.begin(), line.end(), ' ') != 2 || line.find("  ") != std::string_view::npos ||
      line.ends_with(' ')) {
    return "request line that is not three words with one space between them";
  }
  const std::string_view version = line.substr(line.rfind(' ') + 1);
  if (!version.starts_with("HTTP/1.")) return "version that is not 1";
  return {};
}

std::string_view why_fields_are_refused(const llhttp_request& theirs, const request_limits& limits) {
  const bool is_1_0 = theirs.version == "1.0";
  int hosts = 0;
  int codings = 0;
  for (const auto& [name, value] : theirs.fields) {
    if (same_letters(name, "host")) {
      if (++hosts > 1) return "Host twice";
      if (!is_plausible_host(value)) return "Host that is none";
    }
    if (!same_letters(name, "transfer-encoding")) continue;
    if (!same_letters(value, "chunked")) return "coding that is not chunked alone";
    if (++codings > 1) return "Transfer-Encoding twice";
    if (is_1_0) return "chunks in 1.0";
  }
  if (hosts == 0 && !is_1_0) return "no Host";
  if (theirs.has_length && theirs.content_length > limits.body) return "limit of bodies";
  return theirs.fields.size() > limits.fields ? "limit of header lines" : std::string_view{};
}

}  // namespace

llhttp_request read_by_llhttp(std::string_view bytes) {
  static const llhttp_settings_t settings = callbacks();
  reading r;
  llhttp_t parser;
  llhttp_init(&parser, HTTP_REQUEST, &settings);
  parser.data = &r;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  for (;;) {
    const llhttp_errno_t error = llhttp_execute(&parser, at, static_cast<std::size_t>(end - at));
    at = error == HPE_OK ? end : llhttp_get_error_pos(&parser);
    r.found.used = static_cast<std::size_t>(at - bytes.data());
    if (r.found.has_head && r.found.head_size == 0) r.found.head_size = r.found.used;
    if (error == HPE_OK || r.found.is_complete) return r.found;
    if (error != HPE_PAUSED) {
      r.found.error = llhttp_errno_name(error) + std::string{": "} + (parser.reason != nullptr ? parser.reason : "");
      return r.found;
    }
    llhttp_resume(&parser);
  }
}

translated_head for_llhttp(std::string_view head) {
  if (head.starts_with("\r\n")) head.remove_prefix(2);
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const std::string_view method = line.substr(0, line.find(' '));
  const std::string_view version = line.substr(line.rfind(' ') + 1);
  translated_head into;
  into.target = line.substr(method.size() + 1, line.size() - method.size() - version.size() - 2);
  into.same_method = std::find(std::begin(known_methods), std::end(known_methods), method) != std::end(known_methods);
  std::string scratch;
  into.same_target = !path_of(into.target, scratch).error;
  into.text.append(into.same_method ? method : "GET").append(" ").append(into.same_target ? into.target : "/");
  into.text.append(" ").append(version == "HTTP/1.0" ? version : "HTTP/1.1").append(head.substr(line.size()));
  std::replace(into.text.begin(), into.text.end(), '\t', ' ');
  return into;
}

std::string_view why_head_is_refused(std::string_view head, const llhttp_request& theirs,
                                     const request_limits& limits) {
  if (has_bare_newline(head)) return "bare LF";
  if (head.starts_with("\r\n")) head.remove_prefix(2);
  if (head.starts_with('\r')) return "empty lines before the request line";
  const std::vector<std::string_view> lines = lines_of(head);
  for (const std::string_view line : lines) {
    if (const std::string_view why = why_line_is_refused(line); !why.empty()) return why;
  }
  if (const std::string_view why = why_request_line_is_refused(lines.front()); !why.empty()) return why;
  if (lines.front().size() > limits.line || head.size() - lines.front().size() > limits.head) return "limit of a head";
  return why_fields_are_refused(theirs, limits);
}

std::string_view why_body_is_refused(std::string_view body, const request_limits& limits) {
  if (body.size() > limits.body) return "limit of bodies";
  while (!body.empty()) {
    const std::size_t end = body.find('\n');
    if (end == 0 || end == std::string_view::npos || body[end - 1] != '\r') return "bare LF";
    const std::string_view line = body.substr(0, end - 1);
    const std::size_t digits = std::min(line.find_first_not_of("0123456789abcdefABCDEF"), line.size());
    if (digits > 8) return "limit of a chunk's size";
    if (line.size() > 4094) return "limit of a line";
    const std::size_t size = std::stoul(std::string{line.substr(0, digits)}, nullptr, 16);
    body.remove_prefix(end + 1);
    if (size == 0) break;
    body.remove_prefix(std::min(size + 2, body.size()));
  }
  if (has_bare_newline(body)) return "bare LF";
  for (const std::string_view line : lines_of(body)) {
    if (const std::string_view why = why_line_is_refused(line); !why.empty()) return why;
    if (line.size() > 4094) return "limit of a line";
  }
  return {};
}

std::string_view why_llhttp_refuses(std::string_view body, std::size_t at, const std::string& error) {
  const std::string_view before = body.substr(0, at);
  const std::size_t begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const std::string_view line = body.substr(begin, body.find('\n', begin) - begin);
  const bool in_chunk = error.starts_with("HPE_STRICT") || error.starts_with("HPE_INVALID_CHUNK_SIZE");
  if (in_chunk && line.find(';') != std::string_view::npos) return "chunk extension";
  // An empty value is refused behind its line.
  const std::string_view until = begin == at ? before.substr(0, before.size() - std::min<std::size_t>(before.size(), 2)) : before;
  const std::size_t field_begin = until.rfind('\n') == std::string_view::npos ? 0 : until.rfind('\n') + 1;
  const std::string_view name = body.substr(field_begin, body.find_first_of(":\n", field_begin) - field_begin);
  if (same_letters(name, "content-length") || same_letters(name, "transfer-encoding"))
    return "field of framing in a trailer";
  return {};
}

}  // namespace tartan::http::fuzz
