#pragma once
/// What can be wrong with a TLS connection.

#include <system_error>

namespace tartan::tls {

/// As std::error_code values of tls::error_category(). What the transport says comes as it is.
enum class errc {
  protocol = 1,        ///< what has come is no TLS, or does not fit what came before
  plain_http,          ///< a request of HTTP without TLS: answer it on stream::under(), or close
  no_common_protocol,  ///< neither end offers one of ALPN that the other has
  truncated,           ///< the connection has ended, and nobody has said so under seal: what came may not be all
  pin_missing,         ///< no certificate of the peer's chain has one of the keys that were pinned
  no_certificate,      ///< the peer has none, and one is required
};

[[nodiscard]] const std::error_category& error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), error_category()}; }

/// Why a certificate is not trusted: values X509_V_ERR_... of OpenSSL, with its texts. Of another host: X509_V_ERR_HOSTNAME_MISMATCH.
[[nodiscard]] const std::error_category& certificate_category() noexcept;

/// What the peer has refused this end for: the alert's number (RFC 8446, 6).
[[nodiscard]] const std::error_category& alert_category() noexcept;

}  // namespace tartan::tls

template <>
struct std::is_error_code_enum<tartan::tls::errc> : std::true_type {};
