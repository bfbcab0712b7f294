#pragma once
/// The fields that say where a body ends, as requests and responses have them.

#include <tartan/http/framing.h>
#include <tartan/http/status.h>
#include <tartan/http/text.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace tartan::http::detail {

/// Takes the value of Content-Length. Gives what is wrong with it.
inline std::optional<status> take_length(std::string_view value, framing& into) noexcept {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (into.length || value.empty() || !std::all_of(value.begin(), value.end(), digit)) return status::bad_request;
  std::uint64_t length = 0;
  if (std::from_chars(value.data(), value.data() + value.size(), length).ec != std::errc{})
    return status::content_too_large;
  into.length = length;
  return std::nullopt;
}

/// Takes the value of Transfer-Encoding: a list of codings, perhaps in several lines. chunked must be the last one, and
/// there once, or the body has no end (RFC 9112, 6.3). Gives what is wrong with it.
inline std::optional<status> take_coding(std::string_view value, framing& into) noexcept {
  into.coded = true;
  for (;;) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view word = trimmed(value.substr(0, comma));
    // A recipient is to ignore empty elements (RFC 9110, 5.6.1.2). They are refused here on purpose: a proxy in between
    // may not ignore them, and see another message behind this one.
    if (word.empty() || into.chunked) return status::bad_request;
    if (same_letters(word, "chunked")) {
      into.chunked = true;
    } else {
      into.otherwise_coded = true;
    }
    if (comma == value.size()) return std::nullopt;
    value.remove_prefix(comma + 1);
  }
}

}  // namespace tartan::http::detail
