#pragma once
/// What contexts of both ends have in common.

#include <openssl/ssl.h>

#include <string>
#include <vector>

#include "tls/openssl.h"

namespace tartan::tls::detail {

/// A file of secrets; see server_settings::key_log.
///
/// Threads: any.
class key_log {
 public:
  /// "": none. Errors: std::runtime_error.
  explicit key_log(const std::string& path);
  key_log(const key_log&) = delete;
  key_log& operator=(const key_log&) = delete;
  ~key_log();

  /// Has the context's connections write here. Lifetime: longer than those.
  void attach(SSL_CTX& to) const noexcept;

 private:
  static void write(const SSL* of, const char* line) noexcept;
  int file_ = -1;
};

/// TLS 1.2 and 1.3. Errors: std::bad_alloc.
[[nodiscard]] owned<SSL_CTX> new_context(const SSL_METHOD* kind);

/// Errors: std::runtime_error, with the file.
void use_identity(SSL_CTX& of, const std::string& certificate, const std::string& key);

/// Of ALPN, as it goes over the wire. Errors: std::invalid_argument.
[[nodiscard]] std::string protocol_list(const std::vector<std::string>& protocols);

}  // namespace tartan::tls::detail
