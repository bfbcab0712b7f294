#pragma once
/// For tests: a client that speaks TLS over a stream of the simulated network, and a server that has a certificate.

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <tartan/io/tcp.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "web/settings.h"

namespace web::test {

/// Makes a certificate in this folder, whose subject has that common name.
inline void give_certificate(host_settings& to, const std::string& folder, const std::string& name) {
  const std::string make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=" + name +
                           " -keyout key -out certificate >made 2>&1";
  ASSERT_EQ(std::system(("cd '" + folder + "' && " + make).c_str()), 0);
  to.certificate = folder + "/certificate";
  to.key = folder + "/key";
}

/// Makes the first host's certificate in this folder; the server listens for TLS only.
inline void use_tls(settings& with, const std::string& folder) {
  give_certificate(with.hosts[0], folder, "a");
  with.listen.clear();
  with.listen_tls = {"127.0.0.1:0"};
}

/// One connection's. Believes any certificate. By TLS 1.2 unless a test wants another version: a ticket of 1.3 comes
/// behind the handshake, and is not always as long.
class tls_client {
 public:
  struct release_session {
    void operator()(SSL_SESSION* of) const noexcept { SSL_SESSION_free(of); }
  };
  using session = std::unique_ptr<SSL_SESSION, release_session>;

  explicit tls_client(tartan::tcp::stream& under, int version = TLS1_2_VERSION) : under_{under} {
    SSL_set_max_proto_version(ssl_.get(), version);
    SSL_set_bio(ssl_.get(), came_, leaves_);
    SSL_set_connect_state(ssl_.get());
  }

  /// Before the handshake: what it may resume.
  void offer(const session& known) { EXPECT_EQ(SSL_set_session(ssl_.get(), known.get()), 1); }
  /// Likewise: the host that it asks for.
  void ask_for(const char* host) { EXPECT_EQ(SSL_set_tlsext_host_name(ssl_.get(), host), 1); }
  /// The common name in the server's certificate.
  [[nodiscard]] std::string peer_name() const {
    std::array<char, 64> name{};
    const X509* const shown = SSL_get0_peer_certificate(ssl_.get());
    if (shown != nullptr) X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, name.data(), name.size());
    return name.data();
  }
  /// A copy: OpenSSL resumes none of a connection that has ended without a farewell.
  [[nodiscard]] session session_so_far() const { return session{SSL_SESSION_dup(SSL_get0_session(ssl_.get()))}; }
  [[nodiscard]] bool is_resumed() const { return SSL_session_reused(ssl_.get()) == 1; }

  /// The first bytes of it.
  tartan::task<> begin_handshake() {
    EXPECT_EQ(SSL_do_handshake(ssl_.get()), -1);
    co_await send_sealed();
  }

  tartan::task<> handshake() {
    while (SSL_do_handshake(ssl_.get()) != 1) {
      co_await send_sealed();
      std::array<std::byte, 4096> room;
      const auto got = co_await under_.read_some(room);
      EXPECT_TRUE(got);
      if (!got) co_return;
      BIO_write(came_, room.data(), static_cast<int>(*got));
    }
    co_await send_sealed();
  }

  tartan::task<> send(std::string text) {
    EXPECT_EQ(SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())), static_cast<int>(text.size()));
    co_await send_sealed();
  }

  tartan::task<> say_farewell() {
    EXPECT_EQ(SSL_shutdown(ssl_.get()), 0);
    co_await send_sealed();
  }

  /// What these bytes stand for. `is_ended`: the server has said that nothing more will come.
  std::string open(std::string_view sealed, bool& is_ended) {
    BIO_write(came_, sealed.data(), static_cast<int>(sealed.size()));
    std::string all;
    std::array<char, 4096> room;
    ERR_clear_error();
    for (int got = 0; (got = SSL_read(ssl_.get(), room.data(), room.size())) > 0;) all.append(room.data(), static_cast<std::size_t>(got));
    is_ended = (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
    return all;
  }

 private:
  struct release {
    void operator()(SSL_CTX* of) const noexcept { SSL_CTX_free(of); }
    void operator()(SSL* of) const noexcept { SSL_free(of); }
  };

  tartan::task<> send_sealed() {
    char* sealed = nullptr;
    const long size = BIO_get_mem_data(leaves_, &sealed);
    const std::string text{sealed, static_cast<std::size_t>(size)};
    static_cast<void>(BIO_reset(leaves_));
    if (text.empty()) co_return;
    EXPECT_TRUE(co_await under_.write(text));
  }

  tartan::tcp::stream& under_;
  const std::unique_ptr<SSL_CTX, release> context_{SSL_CTX_new(TLS_client_method())};
  const std::unique_ptr<SSL, release> ssl_{SSL_new(context_.get())};
  BIO* const came_ = BIO_new(BIO_s_mem());
  BIO* const leaves_ = BIO_new(BIO_s_mem());
};

}  // namespace web::test
