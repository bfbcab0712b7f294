#pragma once
/// What a server answers.

#include <string>
#include <string_view>
#include <system_error>
#include <tartan/buf/chain.h>
#include <tartan/buf/slice.h>
#include <tartan/http/field_list.h>
#include <tartan/http/status.h>
#include <utility>

namespace tartan::http {

/// Status, fields and body of an answer: `return reply::text("hello\n")`, or
/// `reply{status::created}.set("Location", "/users/7")`.
///
/// Date, Connection, Content-Length and Transfer-Encoding are the server's. Its fields may hold anything; what could end a
/// line early (response splitting) is answered with 500 instead, and reported.
/// Threads: one at a time.
class reply {
 public:
  reply() noexcept = default;
  reply(http::status s) noexcept : status_{s} {}

  [[nodiscard]] static reply text(std::string_view body, http::status s = http::status::ok) {
    return std::move(reply{s}.body(std::string{body}, "text/plain; charset=utf-8"));
  }
  [[nodiscard]] static reply json(std::string_view body, http::status s = http::status::ok) {
    return std::move(reply{s}.body(std::string{body}, "application/json"));
  }
  [[nodiscard]] static reply redirect(std::string_view to, http::status s = http::status::see_other) {
    return std::move(reply{s}.set("Location", to));
  }
  /// For a body that could not be read: 413, 408 or 400, with the error's text.
  [[nodiscard]] static reply of_error(std::error_code error);

  reply& body(std::string content, std::string_view type) { return body(buf::slice{std::move(content)}, type); }
  /// Without a copy.
  reply& body(buf::slice content, std::string_view type) {
    body_ = {};
    body_.append(std::move(content));
    return set("Content-Type", type);
  }
  reply& body(buf::chain content, std::string_view type) {
    body_ = std::move(content);
    return set("Content-Type", type);
  }
  reply& add(std::string_view name, std::string_view value) {
    fields_.add(name, value);
    return *this;
  }
  reply& set(std::string_view name, std::string_view value) {
    fields_.set(name, value);
    return *this;
  }
  /// The connection ends behind this answer.
  reply& close() noexcept {
    closes_ = true;
    return *this;
  }

  [[nodiscard]] http::status status() const noexcept { return status_; }
  [[nodiscard]] const field_list& fields() const noexcept { return fields_; }
  [[nodiscard]] const buf::chain& body() const noexcept { return body_; }
  [[nodiscard]] buf::chain take_body() noexcept { return std::exchange(body_, {}); }
  [[nodiscard]] bool closes() const noexcept { return closes_; }

 private:
  http::status status_ = http::status::ok;
  field_list fields_;
  buf::chain body_;
  bool closes_ = false;
};

}  // namespace tartan::http
