#pragma once
/// OpenSSL's objects, with an owner each.

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace tartan::tls::detail {

struct releases {
  void operator()(SSL_CTX* of) const noexcept { SSL_CTX_free(of); }
  void operator()(SSL* of) const noexcept { SSL_free(of); }
  void operator()(SSL_SESSION* of) const noexcept { SSL_SESSION_free(of); }
  void operator()(X509* of) const noexcept { X509_free(of); }
  void operator()(BIO* of) const noexcept { BIO_free(of); }
  void operator()(EVP_PKEY* of) const noexcept { EVP_PKEY_free(of); }
};
template <class T>
using owned = std::unique_ptr<T, releases>;

/// Throws std::runtime_error: what failed, and OpenSSL's reason, of which it has the oldest.
[[noreturn]] void fail(const std::string& what);

}  // namespace tartan::tls::detail
