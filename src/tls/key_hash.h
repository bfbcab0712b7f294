#pragma once
/// What a certificate's key is known by, where it is pinned.

#include <openssl/x509.h>

#include <string>

namespace tartan::tls::detail {

/// "sha256/" and the SHA-256 of the key, as a certificate has it (SubjectPublicKeyInfo), in base64. Source: RFC 7469, 2.4.
[[nodiscard]] std::string key_hash(const X509& of);

/// Whether that may be the text of one.
[[nodiscard]] bool is_key_hash(const std::string& text) noexcept;

}  // namespace tartan::tls::detail
