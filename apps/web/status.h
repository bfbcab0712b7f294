#pragma once
/// The status codes that this server answers with.

#include <cstdint>
#include <string_view>

namespace web {

enum class status : std::uint16_t {
  ok = 200,
  partial_content = 206,
  moved_permanently = 301,
  not_modified = 304,
  bad_request = 400,
  forbidden = 403,
  not_found = 404,
  method_not_allowed = 405,
  request_timeout = 408,
  precondition_failed = 412,
  content_too_large = 413,
  uri_too_long = 414,
  range_not_satisfiable = 416,
  fields_too_large = 431,
  internal_error = 500,
  not_implemented = 501,
  unavailable = 503,
  version_not_supported = 505,
};

/// As a response's first line has it: "404 Not Found".
[[nodiscard]] std::string_view text_of(status s) noexcept;

}  // namespace web
