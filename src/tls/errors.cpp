#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <tartan/tls/errors.h>

#include <string>

namespace tartan::tls {

namespace {

class tls_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "tls"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::protocol: return "the peer does not speak TLS as it should";
      case errc::plain_http: return "a request of HTTP without TLS";
      case errc::no_common_protocol: return "no application protocol in common";
      case errc::truncated: return "the connection was cut without a farewell under TLS";
      case errc::pin_missing: return "no certificate has a pinned key";
      case errc::no_certificate: return "the peer shows no certificate";
    }
    return "unknown error " + std::to_string(value);
  }
};

class certificate_errors final : public std::error_category {
 public:
  const char* name() const noexcept override { return "certificate"; }
  std::string message(int value) const override { return std::string{"certificate not accepted: "} + X509_verify_cert_error_string(value); }
};

class alert_errors final : public std::error_category {
 public:
  const char* name() const noexcept override { return "TLS alert"; }
  std::string message(int value) const override { return std::string{"the peer refuses: "} + SSL_alert_desc_string_long(value); }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const tls_category only;
  return only;
}
const std::error_category& certificate_category() noexcept {
  static const certificate_errors only;
  return only;
}
const std::error_category& alert_category() noexcept {
  static const alert_errors only;
  return only;
}

}  // namespace tartan::tls
