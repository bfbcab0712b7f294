#include "web/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <tartan/http/host_name.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "web/http.h"

namespace web {

namespace {

constexpr std::size_t most_received = 4 * 1024;
constexpr std::size_t most_sealed = 16 * 1024;  // a record of TLS
constexpr std::size_t most_kept = 4 * 1024;
constexpr std::array<unsigned char, 9> protocols{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

[[noreturn]] void fail(const std::string& what) {
  const unsigned long error = ERR_get_error();
  const char* const reason = ERR_SYSTEM_ERROR(error) ? std::strerror(ERR_GET_REASON(error)) : ERR_reason_error_string(error);
  ERR_clear_error();
  throw std::runtime_error{what + " (" + (reason != nullptr ? reason : "no reason given") + ")"};
}

/// A client that speaks something else only is told so.
int choose_protocol(SSL* /*of*/, const unsigned char** chosen, unsigned char* size, const unsigned char* offered, unsigned offered_size, void* /*none*/) {
  unsigned char* found = nullptr;
  const int outcome = SSL_select_next_proto(&found, size, protocols.data(), protocols.size(), offered, offered_size);
  *chosen = found;
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

int choose_host(SSL* of, int* /*alert*/, void* certificates) {
  const char* const name = SSL_get_servername(of, TLSEXT_NAMETYPE_host_name);
  SSL_CTX* const found = name != nullptr ? static_cast<const tls_certificates*>(certificates)->find(name) : nullptr;
  if (found != nullptr) SSL_set_SSL_CTX(of, found);
  return SSL_TLSEXT_ERR_OK;
}

/// OpenSSL would ask on the terminal, and wait. `asked`: a bool.
int no_password(char* /*into*/, int /*size*/, int /*is_new*/, void* asked) {
  *static_cast<bool*>(asked) = true;
  return 0;
}

void set_up(SSL_CTX* of, const tls_files& files) {
  bool has_passphrase = false;
  SSL_CTX_set_default_passwd_cb(of, &no_password);
  SSL_CTX_set_default_passwd_cb_userdata(of, &has_passphrase);
  SSL_CTX_set_min_proto_version(of, TLS1_2_VERSION);
  SSL_CTX_set_options(of, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_mode(of, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(of, SSL_SESS_CACHE_OFF);  // tickets are enough, and need no lock
  ticket_keys::set_up(*of);
  SSL_CTX_set_alpn_select_cb(of, &choose_protocol, nullptr);
  if (SSL_CTX_use_certificate_chain_file(of, files.certificate.c_str()) != 1) fail("cannot use the certificate '" + files.certificate + "'");
  if (SSL_CTX_use_PrivateKey_file(of, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    fail("cannot use the key '" + files.key + (has_passphrase ? "', which has a passphrase" : "'"));
  }
  if (SSL_CTX_check_private_key(of) != 1) fail("cannot use the key '" + files.key + "' with the certificate '" + files.certificate + "'");
  SSL_CTX_set_default_passwd_cb_userdata(of, nullptr);
}

}  // namespace

void tls_certificates::release::operator()(ssl_ctx_st* of) const noexcept { SSL_CTX_free(of); }

tls_certificates::tls_certificates(const std::vector<tls_files>& files) {
  for (const tls_files& each : files) {
    all_.emplace_back(SSL_CTX_new(TLS_server_method()));
    SSL_CTX* const made = all_.back().get();
    if (made == nullptr) throw std::bad_alloc{};
    try {
      set_up(made, each);
    } catch (const std::runtime_error& wrong) {
      throw std::runtime_error{each.said_at + wrong.what()};
    }
    SSL_CTX_set_tlsext_servername_callback(made, &choose_host);
    SSL_CTX_set_tlsext_servername_arg(made, this);
    for (const std::string& name : each.names) by_name_.emplace(name, made);
  }
}

bool tls_certificates::has_same_first(const tls_certificates& others) const noexcept {
  const X509* const now = SSL_CTX_get0_certificate(first());
  const X509* const before = SSL_CTX_get0_certificate(others.first());
  return now != nullptr && before != nullptr && X509_cmp(now, before) == 0;
}

ssl_ctx_st* tls_certificates::find(std::string_view name) const noexcept {
  const auto found = by_name_.find(http::lower_name{name}.text());
  return found == by_name_.end() ? nullptr : found->second;
}

void tls_stream::release::operator()(ssl_st* of) const noexcept { SSL_free(of); }

tls_stream::tls_stream(std::shared_ptr<const tls_certificates> with, std::shared_ptr<const ticket_keys> tickets,
                       tartan::tcp::stream& under)
    : with_{std::move(with)}, tickets_{std::move(tickets)}, under_{under},
      buffer_{std::make_unique<std::byte[]>(most_received)}, ssl_{SSL_new(with_->first())},
      came_{BIO_new(BIO_s_mem())}, leaves_{BIO_new(BIO_s_mem())} {
  if (ssl_ == nullptr || came_ == nullptr || leaves_ == nullptr) {
    BIO_free(came_);
    BIO_free(leaves_);
    throw std::bad_alloc{};
  }
  BIO_set_mem_eof_return(came_, -1);  // empty is not the end
  SSL_set_bio(ssl_.get(), came_, leaves_);
  SSL_set_accept_state(ssl_.get());
  ticket_keys::give(*ssl_, tickets_.get());
}

tls_stream::need tls_stream::need_after(int result) const noexcept {
  if (result > 0) return need::nothing;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ: return need::input;
    case SSL_ERROR_ZERO_RETURN: return need::end;
    default: return need::error;
  }
}

/// Sends what OpenSSL has to say, whatever the operation was: alerts and answers among it.
tartan::task<tartan::result<>> tls_stream::send_sealed() {
  char* sealed = nullptr;
  const long size = BIO_get_mem_data(leaves_, &sealed);
  if (size <= 0) co_return tartan::result<>{};
  const auto sent = co_await under_.write(std::string_view{sealed, static_cast<std::size_t>(size)});
  static_cast<void>(BIO_reset(leaves_));
  most_left_ = std::max(most_left_, static_cast<std::size_t>(size));
  if (!sent) co_return tartan::unexpected{sent.error()};
  co_return tartan::result<>{};
}

/// OpenSSL's buffer never becomes smaller by itself, and who waits for a client keeps no large one.
void tls_stream::drop_large_buffer() noexcept {
  if (most_left_ <= most_kept) return;
  bio_st* const fresh = BIO_new(BIO_s_mem());
  if (fresh == nullptr) return;
  leaves_ = fresh;
  SSL_set0_wbio(ssl_.get(), fresh);  // frees the old one
  most_left_ = 0;
}

tartan::task<tartan::result<>> tls_stream::receive_sealed() {
  drop_large_buffer();
  const tartan::result<std::size_t> got = co_await under_.read_some(std::span{buffer_.get(), most_received});
  if (!got) co_return tartan::unexpected{got.error()};
  const auto bytes = static_cast<int>(*got);
  if (BIO_write(came_, buffer_.get(), bytes) != bytes) co_return tartan::unexpected{std::make_error_code(std::errc::not_enough_memory)};
  co_return tartan::result<>{};
}

tartan::task<tartan::result<>> tls_stream::handshake() {
  for (;;) {
    ERR_clear_error();
    const need next = need_after(SSL_do_handshake(ssl_.get()));
    const tartan::result<> sent = co_await send_sealed();
    if (!sent) co_return sent;
    if (next == need::nothing) {
      ticket_keys::give(*ssl_, nullptr);
      tickets_ = nullptr;
      co_return tartan::result<>{};
    }
    if (next != need::input) co_return tartan::unexpected{std::make_error_code(std::errc::protocol_error)};
    const tartan::result<> came = co_await receive_sealed();
    if (!came) co_return came;
  }
}

tartan::task<tartan::result<std::size_t>> tls_stream::read_some(std::span<std::byte> into) {
  for (;;) {
    ERR_clear_error();
    std::size_t read = 0;
    const need next = need_after(SSL_read_ex(ssl_.get(), into.data(), into.size(), &read));
    const tartan::result<> sent = co_await send_sealed();
    if (!sent) co_return tartan::unexpected{sent.error()};
    if (next == need::nothing) co_return read;
    if (next == need::end) co_return tartan::unexpected{make_error_code(tartan::errc::end_of_stream)};
    if (next == need::error) co_return tartan::unexpected{std::make_error_code(std::errc::protocol_error)};
    const tartan::result<> came = co_await receive_sealed();
    if (!came) co_return tartan::unexpected{came.error()};
  }
}

tartan::result<std::size_t> tls_stream::read_at_hand(std::span<std::byte> into) noexcept {
  const tartan::result<std::size_t> got = under_.try_read_some(std::span{buffer_.get(), most_received});
  // An error of the stream is met by the next wait; what was received before counts first.
  const auto bytes = static_cast<int>(got ? *got : 0);
  const bool is_kept = bytes == 0 || BIO_write(came_, buffer_.get(), bytes) == bytes;
  if (!is_kept) return std::make_error_code(std::errc::not_enough_memory);
  ERR_clear_error();
  std::size_t read = 0;
  switch (need_after(SSL_read_ex(ssl_.get(), into.data(), into.size(), &read))) {
    case need::nothing: return read;
    case need::input: return std::make_error_code(std::errc::operation_would_block);
    case need::end: return make_error_code(tartan::errc::end_of_stream);
    case need::error: break;
  }
  return std::make_error_code(std::errc::protocol_error);
}

tartan::task<tartan::result<>> tls_stream::write(std::string_view all) {
  while (!all.empty()) {
    ERR_clear_error();
    std::size_t sealed = 0;
    const need next = need_after(SSL_write_ex(ssl_.get(), all.data(), std::min(all.size(), most_sealed), &sealed));
    if (next != need::nothing) co_return tartan::unexpected{std::make_error_code(std::errc::protocol_error)};  // without renegotiation it never waits for input
    all.remove_prefix(sealed);
    const tartan::result<> sent = co_await send_sealed();
    if (!sent) co_return sent;
  }
  co_return tartan::result<>{};
}

tartan::task<tartan::result<>> tls_stream::finish() {
  ERR_clear_error();
  static_cast<void>(SSL_shutdown(ssl_.get()));
  co_return co_await send_sealed();
}

}  // namespace web
