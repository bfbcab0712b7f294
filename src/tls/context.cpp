#include "tls/context.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>

#include "tls/chance.h"

namespace tartan::tls::detail {

namespace {

/// OpenSSL would ask on the terminal, and wait. `asked`: a bool.
int no_password(char* /*into*/, int /*size*/, int /*is_new*/, void* asked) {
  *static_cast<bool*>(asked) = true;
  return 0;
}

}  // namespace

key_log::key_log(const std::string& path) {
  if (path.empty()) return;
  file_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0) throw std::runtime_error{"cannot open the key log '" + path + "' (" + std::strerror(errno) + ")"};
}

key_log::~key_log() {
  if (file_ >= 0) ::close(file_);
}

void key_log::attach(SSL_CTX& to) const noexcept {
  if (file_ < 0) return;
  SSL_CTX_set_app_data(&to, const_cast<key_log*>(this));
  SSL_CTX_set_keylog_callback(&to, &key_log::write);
}

/// A line that cannot be written is missing there: a log for debugging ends no connection.
void key_log::write(const SSL* of, const char* line) noexcept {
  const auto* const to = static_cast<const key_log*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(of)));
  const std::array parts{iovec{const_cast<char*>(line), std::strlen(line)}, iovec{const_cast<char*>("\n"), 1}};
  static_cast<void>(::writev(to->file_, parts.data(), static_cast<int>(parts.size())));
}

owned<SSL_CTX> new_context(const SSL_METHOD* kind) {
  follow_simulation();  // it draws keys
  owned<SSL_CTX> made{SSL_CTX_new(kind)};
  if (made == nullptr) throw std::bad_alloc{};
  SSL_CTX_set_min_proto_version(made.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(made.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(made.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return made;
}

void use_identity(SSL_CTX& of, const std::string& certificate, const std::string& key) {
  bool has_passphrase = false;
  SSL_CTX_set_default_passwd_cb(&of, &no_password);
  SSL_CTX_set_default_passwd_cb_userdata(&of, &has_passphrase);
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(&of, certificate.c_str()) != 1) fail("cannot use the certificate '" + certificate + "'");
  if (SSL_CTX_use_PrivateKey_file(&of, key.c_str(), SSL_FILETYPE_PEM) != 1) {
    fail("cannot use the key '" + key + (has_passphrase ? "', which has a passphrase" : "'"));
  }
  if (SSL_CTX_check_private_key(&of) != 1) fail("cannot use the key '" + key + "' with the certificate '" + certificate + "'");
  SSL_CTX_set_default_passwd_cb_userdata(&of, nullptr);
}

std::string protocol_list(const std::vector<std::string>& protocols) {
  std::string list;
  for (const std::string& each : protocols) {
    if (each.empty() || each.size() > 255) {
      throw std::invalid_argument{"the name of an application protocol has 1 to 255 bytes, not " + std::to_string(each.size())};
    }
    list += static_cast<char>(each.size());
    list += each;
  }
  return list;
}

}  // namespace tartan::tls::detail
