#include "web/status.h"

namespace web {

std::string_view text_of(status s) noexcept {
  switch (s) {
    case status::ok: return "200 OK";
    case status::partial_content: return "206 Partial Content";
    case status::moved_permanently: return "301 Moved Permanently";
    case status::not_modified: return "304 Not Modified";
    case status::bad_request: return "400 Bad Request";
    case status::forbidden: return "403 Forbidden";
    case status::not_found: return "404 Not Found";
    case status::method_not_allowed: return "405 Method Not Allowed";
    case status::request_timeout: return "408 Request Timeout";
    case status::precondition_failed: return "412 Precondition Failed";
    case status::content_too_large: return "413 Content Too Large";
    case status::uri_too_long: return "414 URI Too Long";
    case status::range_not_satisfiable: return "416 Range Not Satisfiable";
    case status::fields_too_large: return "431 Request Header Fields Too Large";
    case status::not_implemented: return "501 Not Implemented";
    case status::unavailable: return "503 Service Unavailable";
    case status::version_not_supported: return "505 HTTP Version Not Supported";
    case status::internal_error: break;
  }
  return "500 Internal Server Error";
}

}  // namespace web
