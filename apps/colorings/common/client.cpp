#include "colorings/common/client.h"

namespace colorings {

next_step client::parse() {
  if (ends_) return next_step::close;
  const web::request_body::outcome body = body_.drop_from(in_);
  if (body == web::request_body::outcome::refused) return next_step::close;
  if (body == web::request_body::outcome::incomplete || in_.empty()) return next_step::read;
  switch (parser_.parse(in_.text(), request_)) {
    case tartan::http::request_parser::outcome::incomplete:
      return next_step::read;
    case tartan::http::request_parser::outcome::refused:
      request_ = {};
      answer(parser_.error(), nullptr);
      return next_step::write;
    case tartan::http::request_parser::outcome::complete:
      break;
  }
  // Whoever waits for "100 Continue" gets the answer instead.
  if (request_.expects_continue) request_.keep_alive = false;
  if (request_.method != tartan::http::method::get && request_.method != tartan::http::method::head) {
    answer(request_.method == tartan::http::method::other ? tartan::http::status::not_implemented : tartan::http::status::method_not_allowed, nullptr);
    return next_step::write;
  }
  const tartan::http::target_result target = tartan::http::path_of(request_.target, decoded_);
  target_ = target.found;
  if (!target.error) return next_step::look_up;
  answer(*target.error, nullptr);
  return next_step::write;
}

void client::answer(tartan::http::status code, web::shared_page page) {
  const bool with_body = request_.method != tartan::http::method::head;
  head_.clear();
  page_ = std::move(page);
  if (code == tartan::http::status::ok) {
    web::append_page(head_, *page_, form(false));
    set_parts(with_body ? page_->body.text() : std::string_view{});
  } else {
    if (code == tartan::http::status::moved_permanently) {
      web::append_redirect(head_, std::string{target_.sent}.append("/").append(target_.query), form(with_body));
    } else {
      web::append_status(head_, code, form(with_body));
    }
    set_parts({});
  }
  end_request();
}

void client::forget_file() {
  prefixes = {};
  from = {};
  file = {};
}

void client::set_parts(std::string_view body) noexcept { parts_ = {std::as_bytes(std::span{head_}), std::as_bytes(std::span{body})}; }

web::response_form client::form(bool with_body) { return {date_.text(), request_.keep_alive, request_.http_1_0, with_body}; }

void client::end_request() {
  ends_ = !request_.keep_alive;
  body_.begin(request_);
  in_.drop(request_.head_size);
  parser_.reset();
}

}  // namespace colorings
