#include "tls/key_hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <new>
#include <string_view>

namespace tartan::tls::detail {

namespace {

constexpr std::string_view kind = "sha256/";
constexpr std::size_t digest_bytes = 32;
constexpr std::size_t text_bytes = 44;  // of such a digest in base64

}  // namespace

std::string key_hash(const X509& of) {
  unsigned char* der = nullptr;
  const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(&of), &der);
  if (size <= 0) throw std::bad_alloc{};
  std::array<unsigned char, digest_bytes> digest{};
  const bool done = EVP_Q_digest(nullptr, "SHA256", nullptr, der, static_cast<std::size_t>(size), digest.data(), nullptr) == 1;
  OPENSSL_free(der);
  if (!done) throw std::bad_alloc{};
  std::array<unsigned char, text_bytes + 1> text{};
  EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(digest.size()));
  return std::string{kind} + reinterpret_cast<const char*>(text.data());
}

bool is_key_hash(const std::string& text) noexcept {
  if (!text.starts_with(kind) || text.size() != kind.size() + text_bytes || text.back() != '=') return false;
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(kind.size()), text.end() - 1,
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '+' || c == '/'; });
}

}  // namespace tartan::tls::detail
