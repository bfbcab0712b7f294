#pragma once
/// What can be wrong with a message of HTTP on its way.

#include <system_error>

namespace tartan::http {

/// As std::error_code values of http::error_category(). What the stream says comes as it is.
enum class errc {
  malformed = 1,       ///< the peer sends what is no message of HTTP
  too_large,           ///< the message, or a part of it, exceeds a limit
  truncated,           ///< the connection ended within the message
  no_answer,           ///< the server closed the connection without an answer
  already_answered,    ///< a second answer to one request; the first goes on
  too_many_redirects,  ///< more than client_settings::most_redirects
  insecure_redirect,   ///< from https to http, which is not followed
  bad_redirect,        ///< Location is missing, or is no URL
};

[[nodiscard]] const std::error_category& error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(errc e) noexcept {
  return {static_cast<int>(e), error_category()};
}

}  // namespace tartan::http

template <>
struct std::is_error_code_enum<tartan::http::errc> : std::true_type {};
