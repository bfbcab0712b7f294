#pragma once
/// Errors of TLS connections.

#include <system_error>

namespace tartan::tls {

/// std::error_code values of tls::error_category(). Errors of the underlying stream come unchanged.
enum class errc {
  protocol = 1,        ///< the peer violates the protocol, or does not speak TLS
  plain_http,          ///< the peer has sent an HTTP request without TLS: answer it on stream::under(), or close
  no_common_protocol,  ///< ALPN: the two ends have no application protocol in common
  truncated,           ///< the connection has ended without a closing alert, so data may be missing
  pin_missing,         ///< no certificate of the peer's chain has a pinned key
  no_certificate,      ///< a certificate is required, and the peer has none
};

[[nodiscard]] const std::error_category& error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), error_category()}; }

/// Why a certificate is not trusted: OpenSSL's values X509_V_ERR_..., with its texts. A wrong host name is X509_V_ERR_HOSTNAME_MISMATCH.
[[nodiscard]] const std::error_category& certificate_category() noexcept;

/// Why the peer has refused the connection: the number of its alert (RFC 8446, 6).
[[nodiscard]] const std::error_category& alert_category() noexcept;

}  // namespace tartan::tls

template <>
struct std::is_error_code_enum<tartan::tls::errc> : std::true_type {};
