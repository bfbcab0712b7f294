#pragma once
/// For tests: an authority of their own, and certificates by it.

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <string>
#include <tartan/tls/server.h>
#include <vector>

#include "tests/temporary_folder.h"
#include "tls/openssl.h"

namespace tartan::test {

class authority {
 public:
  authority() : key_{EVP_EC_gen("P-256")}, own_{issue(*key_, "the tests' authority", {}, true)} {
    write_certificates(path("authority"), {own_.get()});
  }

  /// In PEM.
  [[nodiscard]] std::string file() const { return path("authority"); }

  struct issued {
    std::string certificate;
    std::string key;
  };
  /// For hosts of these names (with `IP:` or `DNS:` in front of each); valid until so many days from now.
  [[nodiscard]] issued make(const std::string& subject, const std::string& names, int days = 10) {
    const std::string base = path("issued" + std::to_string(count_++));
    const tls::detail::owned<EVP_PKEY> key{EVP_EC_gen("P-256")};
    const tls::detail::owned<X509> made = issue(*key, subject, names, false, days);
    write_certificates(base, {made.get(), own_.get()});
    std::FILE* const to = std::fopen((base + ".key").c_str(), "w");
    EXPECT_EQ(PEM_write_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
    std::fclose(to);
    return {base, base + ".key"};
  }
  [[nodiscard]] tls::identity identity(const std::string& names, std::vector<std::string> told = {}) {
    const issued made = make("a server", names);
    return {made.certificate, made.key, std::move(told)};
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  [[nodiscard]] tls::detail::owned<X509> issue(EVP_PKEY& key, const std::string& subject, const std::string& names, bool is_authority, int days = 10) {
    tls::detail::owned<X509> made{X509_new()};
    X509* const of = made.get();
    X509_set_version(of, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(of), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(of), -2L * 24 * 3600 * 100);
    X509_gmtime_adj(X509_getm_notAfter(of), 24L * 3600 * days);
    X509_set_pubkey(of, &key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(of), "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0);
    X509_set_issuer_name(of, X509_get_subject_name(is_authority ? of : own_.get()));
    X509V3_CTX with{};
    X509V3_set_ctx(&with, is_authority ? of : own_.get(), of, nullptr, nullptr, 0);
    const auto add = [&](int what, const std::string& value) {
      X509_EXTENSION* const one = X509V3_EXT_conf_nid(nullptr, &with, what, value.c_str());
      EXPECT_NE(one, nullptr) << value;
      X509_add_ext(of, one, -1);
      X509_EXTENSION_free(one);
    };
    add(NID_basic_constraints, is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
    if (!names.empty()) add(NID_subject_alt_name, names);
    EXPECT_NE(X509_sign(of, key_.get(), EVP_sha256()), 0);
    return made;
  }

  static void write_certificates(const std::string& file, const std::vector<X509*>& all) {
    std::FILE* const to = std::fopen(file.c_str(), "w");
    for (X509* const each : all) EXPECT_EQ(PEM_write_X509(to, each), 1);
    std::fclose(to);
  }

  temporary_folder folder_;
  long serial_ = 0;
  unsigned count_ = 0;
  tls::detail::owned<EVP_PKEY> key_;
  tls::detail::owned<X509> own_;
};

}  // namespace tartan::test
