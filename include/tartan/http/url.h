#pragma once
/// Addresses of resources: "https://example.org:8443/a?b=c".

#include <cstdint>
#include <string>
#include <string_view>
#include <tartan/core/result.h>

namespace tartan::http {

/// A URL of http or https, taken apart.
///
/// Threads: any, as a value.
/// Source: RFC 3986; RFC 9110, 4.2.
struct url {
  bool secure = false;       ///< https
  std::string host;          ///< in small letters; an IPv6 address without brackets
  std::uint16_t port = 80;   ///< 80 or 443 if the text has none
  std::string target = "/";  ///< path and query, as a request has them

  /// The part behind '#' is dropped: it is not sent.
  ///
  /// Errors: std::errc::invalid_argument for another scheme, a user name, an empty host, port 0, and bytes that are
  /// not visible ASCII: those have to be percent-encoded. std::bad_alloc is thrown.
  [[nodiscard]] static result<url> parse(std::string_view text);

  /// Where a reference leads that was found here, as the value of Location: "../b?c", "//other.example/", "/a". Bytes
  /// that are not visible ASCII are percent-encoded.
  ///
  /// Errors: as parse.
  [[nodiscard]] result<url> resolve(std::string_view reference) const;

  /// "example.org", "[::1]:8080": the value of Host.
  [[nodiscard]] std::string authority() const;
  /// "https://example.org": what cookies and credentials belong to.
  [[nodiscard]] std::string origin() const;
  [[nodiscard]] std::string to_string() const { return origin() + target; }

  [[nodiscard]] bool operator==(const url&) const = default;
};

}  // namespace tartan::http
