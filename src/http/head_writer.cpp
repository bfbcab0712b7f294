#include <tartan/http/field.h>
#include <tartan/http/head_writer.h>
#include <tartan/http/host_name.h>
#include <tartan/http/request_writer.h>
#include <tartan/http/response_writer.h>

#include <algorithm>
#include <stdexcept>

namespace tartan::http {

namespace {

void check(bool holds, const char* what, std::string_view text) {
  if (!holds) throw std::invalid_argument{what + ("'" + std::string{text.substr(0, 100)} + "'")};
}

bool is_visible(std::string_view text) noexcept {
  return !text.empty() && is_plain(text) && text.find(' ') == std::string_view::npos;
}

}  // namespace

head_writer& head_writer::field(std::string_view name, std::string_view value) {
  check(is_token(name), "this cannot be the name of a header field: ", name);
  check(is_value(value), "this cannot be the value of a header field: ", value);
  out_.reserve(std::max(out_.capacity(), out_.size() + name.size() + value.size() + 4));
  out_.append(name).append(": ").append(value).append("\r\n");
  return *this;
}

head_writer& head_writer::field(std::string_view name, std::uint64_t value) {
  return field(name, std::to_string(value));
}

void head_writer::length(std::uint64_t bytes) {
  field("Content-Length", bytes);
  end();
}

void head_writer::chunked() {
  field("Transfer-Encoding", "chunked");
  end();
}

void head_writer::end() {
  out_.append("\r\n");
}

request_writer::request_writer(std::string& out, std::string_view method, std::string_view target,
                               std::string_view host)
    : head_writer{out} {
  check(is_token(method), "this cannot be a method: ", method);
  check(is_visible(target), "this cannot be the target of a request: ", target);
  check(is_host(host), "this is no host: ", host);
  check(is_value(host), "this is no host: ", host);
  out_.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
  field("Host", host);
}

response_writer::response_writer(std::string& out, status s) : head_writer{out} {
  const auto code = static_cast<unsigned>(s);
  const std::string number = std::to_string(code);
  check(code >= 100 && code <= 999, "a status is between 100 and 999: ", number);
  const std::string_view text = text_of(s);
  out_.append("HTTP/1.1 ");
  if (text.starts_with(number)) {
    out_.append(text).append("\r\n");
  } else {
    out_.append(number).append(" \r\n");
  }
}

}  // namespace tartan::http
