#include "tls/ticket_keys.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <new>
#include <stdexcept>

namespace tartan::tls::detail {

namespace {

template <class Bytes>
void fill(Bytes& bytes) {
  if (RAND_priv_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1) return;
  ERR_clear_error();
  throw std::runtime_error{"there are no random bytes for the keys of TLS tickets"};
}

}  // namespace

/// Called by OpenSSL within a handshake.
struct ticket_keys::calls {
  // As SSL_CTX_set_tlsext_ticket_key_evp_cb has them.
  enum outcome : int { failed = -1, none = 0, done = 1, renew = 2 };

  static bool begin_mac(const key& by, EVP_MAC_CTX* mac) noexcept {
    std::array<char, 7> digest{"SHA256"};
    auto secret = by.mac;
    const std::array params{OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, secret.data(), secret.size()),
                            OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
                            OSSL_PARAM_construct_end()};
    const bool is_set = EVP_MAC_CTX_set_params(mac, params.data()) == 1;
    OPENSSL_cleanse(secret.data(), secret.size());
    return is_set;
  }

  static int seal(const key& by, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                  EVP_MAC_CTX* mac) noexcept {
    const EVP_CIPHER* const kind = EVP_aes_256_cbc();
    if (RAND_bytes(iv, EVP_CIPHER_get_iv_length(kind)) != 1) return failed;
    std::copy(by.name.begin(), by.name.end(), name);
    const bool is_ready = EVP_EncryptInit_ex2(cipher, kind, by.cipher.data(), iv, nullptr) == 1 && begin_mac(by, mac);
    return is_ready ? done : failed;
  }

  /// By TLS 1.3 a client uses a ticket once, and so needs another one (RFC 8446, C.4).
  static int open(const ticket_keys& keys, bool used_once, const unsigned char* name, const unsigned char* iv, EVP_CIPHER_CTX* cipher,
                  EVP_MAC_CTX* mac) noexcept {
    const auto is = [name](const key& each) { return std::equal(each.name.begin(), each.name.end(), name); };
    const bool is_current = is(keys.seals_);
    if (!is_current && !is(keys.opens_)) return none;
    const key& by = is_current ? keys.seals_ : keys.opens_;
    const EVP_CIPHER* const kind = EVP_aes_256_cbc();
    const bool is_ready = EVP_DecryptInit_ex2(cipher, kind, by.cipher.data(), iv, nullptr) == 1 && begin_mac(by, mac);
    return !is_ready ? failed : is_current && !used_once ? done : renew;
  }

  static int call(SSL* of, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac,
                  int is_sealed) noexcept {
    const auto* const keys = static_cast<const ticket_keys*>(SSL_get_app_data(of));
    if (keys == nullptr) return none;
    return is_sealed != 0 ? seal(keys->seals_, name, iv, cipher, mac) : open(*keys, SSL_version(of) == TLS1_3_VERSION, name, iv, cipher, mac);
  }
};

ticket_keys::ticket_keys() {
  for (key* const each : {&seals_, &opens_}) {
    fill(each->name);
    fill(each->cipher);
    fill(each->mac);
  }
}

ticket_keys::~ticket_keys() {
  for (key* const each : {&seals_, &opens_}) OPENSSL_cleanse(each, sizeof *each);
}

std::shared_ptr<const ticket_keys> ticket_keys::after(const ticket_keys& before) {
  auto made = std::make_shared<ticket_keys>();
  made->opens_ = before.seals_;
  return made;
}

void ticket_keys::set_up(ssl_ctx_st& of, std::chrono::seconds life) noexcept {
  SSL_CTX_set_tlsext_ticket_key_evp_cb(&of, &calls::call);
  SSL_CTX_set_timeout(&of, life.count());
}

void ticket_keys::give(ssl_st& to, const ticket_keys* keys) {
  if (SSL_set_app_data(&to, const_cast<ticket_keys*>(keys)) != 1) throw std::bad_alloc{};
}

}  // namespace tartan::tls::detail
