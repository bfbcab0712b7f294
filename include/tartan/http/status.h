#pragma once
/// Status codes of responses.

#include <cstdint>
#include <string_view>

namespace tartan::http {

/// A status code; any number from 100 to 999 may be one, with or without a name here.
///
/// Source: RFC 9110, 15; RFC 6585 (428, 429, 431), RFC 8297 (103), RFC 7725 (451), RFC 8470 (425).
enum class status : std::uint16_t {
  continue_sending = 100,
  switching_protocols = 101,
  early_hints = 103,
  ok = 200,
  created = 201,
  accepted = 202,
  no_content = 204,
  reset_content = 205,
  partial_content = 206,
  multiple_choices = 300,
  moved_permanently = 301,
  found = 302,
  see_other = 303,
  not_modified = 304,
  temporary_redirect = 307,
  permanent_redirect = 308,
  bad_request = 400,
  unauthorized = 401,
  forbidden = 403,
  not_found = 404,
  method_not_allowed = 405,
  not_acceptable = 406,
  request_timeout = 408,
  conflict = 409,
  gone = 410,
  length_required = 411,
  precondition_failed = 412,
  content_too_large = 413,
  uri_too_long = 414,
  unsupported_media_type = 415,
  range_not_satisfiable = 416,
  expectation_failed = 417,
  misdirected_request = 421,
  unprocessable_content = 422,
  too_early = 425,
  upgrade_required = 426,
  precondition_required = 428,
  too_many_requests = 429,
  fields_too_large = 431,
  unavailable_for_legal_reasons = 451,
  internal_error = 500,
  not_implemented = 501,
  bad_gateway = 502,
  unavailable = 503,
  gateway_timeout = 504,
  version_not_supported = 505,
};

/// As a status line has it: "404 Not Found". Of a code without a name, "500 Internal Server Error".
///
/// Lifetime: static.
[[nodiscard]] std::string_view text_of(status s) noexcept;

}  // namespace tartan::http
