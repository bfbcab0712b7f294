#include <tartan/http/status.h>

namespace tartan::http {

namespace {

std::string_view informational_text(status s) noexcept {
  switch (s) {
    case status::continue_sending:
      return "100 Continue";
    case status::switching_protocols:
      return "101 Switching Protocols";
    case status::early_hints:
      return "103 Early Hints";
    default:
      return {};
  }
}

std::string_view success_text(status s) noexcept {
  switch (s) {
    case status::ok:
      return "200 OK";
    case status::created:
      return "201 Created";
    case status::accepted:
      return "202 Accepted";
    case status::no_content:
      return "204 No Content";
    case status::reset_content:
      return "205 Reset Content";
    case status::partial_content:
      return "206 Partial Content";
    default:
      return {};
  }
}

std::string_view redirection_text(status s) noexcept {
  switch (s) {
    case status::multiple_choices:
      return "300 Multiple Choices";
    case status::moved_permanently:
      return "301 Moved Permanently";
    case status::found:
      return "302 Found";
    case status::see_other:
      return "303 See Other";
    case status::not_modified:
      return "304 Not Modified";
    case status::temporary_redirect:
      return "307 Temporary Redirect";
    case status::permanent_redirect:
      return "308 Permanent Redirect";
    default:
      return {};
  }
}

std::string_view client_error_text(status s) noexcept {
  switch (s) {
    case status::bad_request:
      return "400 Bad Request";
    case status::unauthorized:
      return "401 Unauthorized";
    case status::forbidden:
      return "403 Forbidden";
    case status::not_found:
      return "404 Not Found";
    case status::method_not_allowed:
      return "405 Method Not Allowed";
    case status::not_acceptable:
      return "406 Not Acceptable";
    case status::request_timeout:
      return "408 Request Timeout";
    case status::conflict:
      return "409 Conflict";
    case status::gone:
      return "410 Gone";
    case status::length_required:
      return "411 Length Required";
    case status::precondition_failed:
      return "412 Precondition Failed";
    case status::content_too_large:
      return "413 Content Too Large";
    case status::uri_too_long:
      return "414 URI Too Long";
    case status::unsupported_media_type:
      return "415 Unsupported Media Type";
    case status::range_not_satisfiable:
      return "416 Range Not Satisfiable";
    case status::expectation_failed:
      return "417 Expectation Failed";
    case status::misdirected_request:
      return "421 Misdirected Request";
    case status::unprocessable_content:
      return "422 Unprocessable Content";
    case status::too_early:
      return "425 Too Early";
    case status::upgrade_required:
      return "426 Upgrade Required";
    case status::precondition_required:
      return "428 Precondition Required";
    case status::too_many_requests:
      return "429 Too Many Requests";
    case status::fields_too_large:
      return "431 Request Header Fields Too Large";
    case status::unavailable_for_legal_reasons:
      return "451 Unavailable For Legal Reasons";
    default:
      return {};
  }
}

std::string_view server_error_text(status s) noexcept {
  switch (s) {
    case status::not_implemented:
      return "501 Not Implemented";
    case status::bad_gateway:
      return "502 Bad Gateway";
    case status::unavailable:
      return "503 Service Unavailable";
    case status::gateway_timeout:
      return "504 Gateway Timeout";
    case status::version_not_supported:
      return "505 HTTP Version Not Supported";
    default:
      return {};
  }
}

}  // namespace

std::string_view text_of(status s) noexcept {
  std::string_view text;
  switch (static_cast<unsigned>(s) / 100) {
    case 1:
      text = informational_text(s);
      break;
    case 2:
      text = success_text(s);
      break;
    case 3:
      text = redirection_text(s);
      break;
    case 4:
      text = client_error_text(s);
      break;
    case 5:
      text = server_error_text(s);
      break;
    default:
      break;
  }
  return text.empty() ? "500 Internal Server Error" : text;
}

}  // namespace tartan::http
