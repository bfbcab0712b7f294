#include "response.h"

namespace web {

namespace {

/// What comes behind the date, up to the body.
std::string_view end_of_head(const response_form& form) noexcept {
  if (!form.keep_alive) return "\r\nConnection: close\r\n\r\n";
  return form.http_1_0 ? "\r\nConnection: keep-alive\r\n\r\n" : "\r\n\r\n";
}

void append(std::string& out, status s, std::string_view more_headers, const response_form& form) {
  const std::string_view text = text_of(s);
  out.append("HTTP/1.1 ").append(text).append("\r\nServer: tartan\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ");
  out.append(std::to_string(text.size() + 1)).append(more_headers);
  out.append("\r\nDate: ").append(form.date).append(end_of_head(form));
  if (form.with_body) out.append(text).push_back('\n');
}

}  // namespace

void append_page(std::string& out, const page& what, const response_form& form) {
  out.append(what.head).append(form.date).append(end_of_head(form));
  if (form.with_body) out.append(what.body);
}

void append_status(std::string& out, status s, const response_form& form) {
  append(out, s, s == status::method_not_allowed ? "\r\nAllow: GET, HEAD" : "", form);
}

void append_redirect(std::string& out, const target_path& from, const response_form& form) {
  append(out, status::moved_permanently, std::string{"\r\nLocation: "}.append(from.sent).append("/").append(from.query), form);
}

}  // namespace web
