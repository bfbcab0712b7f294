#include <tartan/tls/self_signed.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>

#include "tls/chance.h"
#include "tls/openssl.h"

namespace tartan::tls {

namespace {

using detail::fail;
using detail::owned;

constexpr long day_s = 24L * 60 * 60;

void check(bool done, const char* what) {
  if (!done) fail(std::string{"cannot make a certificate: "} + what);
}

/// As X509V3_EXT_conf_nid reads them.
std::string alternative_names(const std::vector<std::string>& names) {
  std::string all;
  std::array<unsigned char, 16> bytes{};
  for (const std::string& each : names) {
    const bool is_address = ::inet_pton(AF_INET, each.c_str(), bytes.data()) == 1 || ::inet_pton(AF_INET6, each.c_str(), bytes.data()) == 1;
    if (each.find(',') != std::string::npos) throw std::invalid_argument{"tartan::tls::self_signed: a comma in '" + each + "'"};
    all += (all.empty() ? "" : ",") + std::string{is_address ? "IP:" : "DNS:"} + each;
  }
  return all;
}

void add_extension(X509& to, int kind, const std::string& value) {
  X509V3_CTX with{};
  X509V3_set_ctx(&with, &to, &to, nullptr, nullptr, 0);
  X509_EXTENSION* const one = X509V3_EXT_conf_nid(nullptr, &with, kind, value.c_str());
  const bool is_added = one != nullptr && X509_add_ext(&to, one, -1) == 1;
  X509_EXTENSION_free(one);
  check(is_added, value.c_str());
}

owned<X509> issue(EVP_PKEY& key, const std::vector<std::string>& names, int days) {
  owned<X509> made{X509_new()};
  if (made == nullptr) throw std::bad_alloc{};
  X509& of = *made;
  X509_NAME* const subject = X509_get_subject_name(&of);
  const auto* const name = reinterpret_cast<const unsigned char*>(names.front().c_str());
  check(X509_set_version(&of, X509_VERSION_3) == 1 && X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, -1, -1, 0) == 1, "the subject");
  check(X509_set_issuer_name(&of, subject) == 1 && X509_set_pubkey(&of, &key) == 1, "the key");
  check(ASN1_INTEGER_set(X509_get_serialNumber(&of), 1) == 1, "the number");
  check(X509_gmtime_adj(X509_getm_notBefore(&of), -day_s) != nullptr && X509_gmtime_adj(X509_getm_notAfter(&of), day_s * days) != nullptr, "the time");
  add_extension(of, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(of, NID_subject_alt_name, alternative_names(names));
  check(X509_sign(&of, &key, EVP_sha256()) != 0, "the signature");
  return made;
}

/// Anew, and whole before it has its name.
template <class Write>
void write_file(const std::string& path, mode_t mode, Write write) {
  const auto give_up = [&] { throw std::runtime_error{"cannot write '" + path + "' (" + std::strerror(errno) + ")"}; };
  const std::string fresh = path + ".new";
  static_cast<void>(::unlink(fresh.c_str()));
  const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0) give_up();
  const owned<BIO> to{BIO_new_fd(file, BIO_CLOSE)};
  if (to == nullptr) {
    ::close(file);
    throw std::bad_alloc{};
  }
  if (!write(*to) || ::rename(fresh.c_str(), path.c_str()) != 0) give_up();
}

}  // namespace

identity self_signed(const std::string& folder, const std::vector<std::string>& names, int days) {
  if (names.empty() || names.front().empty()) throw std::invalid_argument{"tartan::tls::self_signed: no name"};
  ERR_clear_error();
  detail::follow_simulation();
  const owned<EVP_PKEY> key{EVP_EC_gen("P-256")};
  check(key != nullptr, "no key");
  const owned<X509> made = issue(*key, names, days);
  identity files{folder + "/self-signed.pem", folder + "/self-signed.key", {}};
  write_file(files.key, 0600, [&](BIO& to) { return PEM_write_bio_PKCS8PrivateKey(&to, key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1; });
  write_file(files.certificate, 0644, [&](BIO& to) { return PEM_write_bio_X509(&to, made.get()) == 1; });
  return files;
}

}  // namespace tartan::tls
