#include "web/response.h"

#include <tartan/http/text.h>

#include <algorithm>
#include <cstddef>
#include <random>


namespace web {

namespace {

/// What comes behind the date, up to the body.
std::string_view end_of_head(const response_form& form) noexcept {
  if (!form.keep_alive) return "\r\nConnection: close\r\n\r\n";
  return form.http_1_0 ? "\r\nConnection: keep-alive\r\n\r\n" : "\r\n\r\n";
}

/// `explanation`: goes on with the body's line.
void append(std::string& out, http::status s, std::string_view more_headers, const response_form& form, std::string_view explanation = {}) {
  const std::string_view text = http::text_of(s);
  out.append("HTTP/1.1 ").append(text).append("\r\nServer: tartan\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ");
  out.append(std::to_string(text.size() + explanation.size() + 1)).append(more_headers).append(form.headers);
  out.append("\r\nDate: ").append(form.date).append(end_of_head(form));
  if (form.with_body) out.append(text).append(explanation).push_back('\n');
}

std::string content_range(const http::byte_range& part, std::uint64_t size) {
  return "bytes " + std::to_string(part.first) + "-" + std::to_string(part.first + part.size - 1) + "/" + std::to_string(size);
}

/// What stands before each part, and behind the last one; of one alone, nothing.
std::vector<std::string> frame_of(const page& what, std::span<const http::byte_range> parts, std::string_view boundary) {
  std::vector<std::string> frame(parts.size() + 1);
  if (parts.size() == 1) return frame;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    frame[n].append(n == 0 ? "--" : "\r\n--").append(boundary).append("\r\nContent-Type: ").append(what.type);
    frame[n].append("\r\nContent-Range: ").append(content_range(parts[n], what.size)).append("\r\n\r\n");
  }
  frame.back().append("\r\n--").append(boundary).append("--\r\n");
  return frame;
}

}  // namespace

std::string headers_of_any_answer(std::string_view lines, bool before_tls) {
  constexpr std::string_view metadata = "Content-";  // RFC 9110, 8; but for the policies, which browsers follow in any answer
  constexpr std::string_view policy = "Content-Security-Policy";
  std::string kept;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, std::min(lines.find("\r\n", 2), lines.size()));
    lines.remove_prefix(line.size());
    const std::string_view name = line.substr(2, line.find(':') - 2);
    const bool is_policy = http::same_letters(name.substr(0, policy.size()), policy);
    const bool is_of_page = (http::same_letters(name.substr(0, metadata.size()), metadata) && !is_policy) || http::same_letters(name, "Expires");
    if (!is_of_page && !(before_tls && http::same_letters(name, "Strict-Transport-Security"))) kept.append(line);
  }
  return kept;
}

std::string new_boundary() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::random_device random;
  std::string made = "tartan-";
  for (int word = 0; word < 4; ++word) {
    for (unsigned rest = random(), n = 0; n < 8; ++n, rest >>= 4) made.push_back(digits[rest & 15]);
  }
  return made;
}

void append_page(std::string& out, const page& what, const response_form& form, bool is_apart) {
  out.append(what.head).append(form.date).append(end_of_head(form));
  if (form.with_body && !is_apart) out.append(what.body.text());
}

void append_continue(std::string& out) { out.append("HTTP/1.1 100 Continue\r\n\r\n"); }

void append_not_modified(std::string& out, const page& what, const response_form& form) {
  out.append("HTTP/1.1 304 Not Modified\r\nServer: tartan").append(what.known_by);
  out.append("\r\nDate: ").append(form.date).append(end_of_head(form));
}

void append_not_satisfiable(std::string& out, const page& what, const response_form& form) {
  append(out, http::status::range_not_satisfiable, "\r\nContent-Range: bytes */" + std::to_string(what.size), form);
}

void append_parts(std::string& out, const page& what, std::span<const http::byte_range> parts, std::string_view boundary, const response_form& form,
                  std::vector<std::string>& frame) {
  frame = frame_of(what, parts, boundary);
  std::uint64_t length = 0;
  for (const std::string& each : frame) length += each.size();
  for (const http::byte_range& each : parts) length += each.size;
  out.append("HTTP/1.1 206 Partial Content\r\nServer: tartan\r\nContent-Type: ");
  if (parts.size() == 1) {
    out.append(what.type).append("\r\nContent-Range: ").append(content_range(parts.front(), what.size));
  } else {
    out.append("multipart/byteranges; boundary=").append(boundary);
  }
  if (what.as != http::coding::identity) out.append("\r\nContent-Encoding: ").append(http::name_of(what.as));
  out.append("\r\nContent-Length: ").append(std::to_string(length)).append(what.known_by);
  out.append("\r\nDate: ").append(form.date).append(end_of_head(form));
}

void append_status(std::string& out, http::status s, const response_form& form) {
  append(out, s, s == http::status::method_not_allowed ? "\r\nAllow: GET, HEAD" : "", form);
}

void append_plain_http(std::string& out, const response_form& form) {
  append(out, http::status::bad_request, "", form, ": this port speaks TLS, and the request came without it; use https://");
}

void append_error_page(std::string& out, http::status s, const page& what, const response_form& form, bool is_apart) {
  out.append("HTTP/1.1 ").append(http::text_of(s)).append("\r\nServer: tartan\r\nContent-Type: ").append(what.type);
  out.append("\r\nContent-Length: ").append(std::to_string(what.size)).append(form.headers);
  out.append("\r\nDate: ").append(form.date).append(end_of_head(form));
  if (form.with_body && !is_apart) out.append(what.body.text());
}

void append_redirect(std::string& out, std::string_view to, const response_form& form) {
  append(out, http::status::moved_permanently, std::string{"\r\nLocation: "}.append(to), form);
}

}  // namespace web
