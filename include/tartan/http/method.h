#pragma once
/// Methods of requests.

#include <cstdint>
#include <string_view>

namespace tartan::http {

/// A request's method. `other` is any token that is not one of those with a name: request::method_text says which.
///
/// Source: RFC 9110, 9.3; RFC 5789 (PATCH).
enum class method : std::uint8_t { get, head, post, put, delete_resource, connect, options, trace, patch, other };

namespace detail {
[[nodiscard]] method rare_method_of(std::string_view word) noexcept;
}

/// The method that a word names. Methods are case-sensitive: "get" is `other`.
[[nodiscard]] inline method method_of(std::string_view word) noexcept {
  if (word == "GET") return method::get;  // without a call: nearly all requests
  if (word == "HEAD") return method::head;
  return detail::rare_method_of(word);
}

/// "GET"; empty for `other`.
///
/// Lifetime: static.
[[nodiscard]] std::string_view text_of(method m) noexcept;

}  // namespace tartan::http
