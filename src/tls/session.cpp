#include "tls/session.h"

#include <openssl/err.h>
#include <tartan/tls/errors.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace tartan::tls::detail {

namespace {

constexpr std::size_t most_sealed = 16 * 1024;  // a record
constexpr std::size_t most_kept = 4 * 1024;       // OpenSSL's buffers never become smaller by themselves
constexpr std::size_t most_answers = 256 * 1024;  // more than a writer leaves here, and all that an honest peer asks for

/// Of what OpenSSL has just refused.
std::error_code why(const SSL& of) noexcept {
  const unsigned long last = ERR_peek_last_error();  // the first may tell of a step of the same, as a signature that does not fit
  ERR_clear_error();
  const int reason = ERR_GET_REASON(last);
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    const long result = SSL_get_verify_result(&of);  // X509_V_OK, if there was no memory to look at it
    return {static_cast<int>(result != X509_V_OK ? result : X509_V_ERR_UNSPECIFIED), certificate_category()};
  }
  if (reason == SSL_R_HTTP_REQUEST || reason == SSL_R_HTTPS_PROXY_REQUEST) return errc::plain_http;
  if (reason == SSL_R_NO_APPLICATION_PROTOCOL) return errc::no_common_protocol;
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) return errc::no_certificate;
  if (ERR_GET_LIB(last) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + 256) {
    const int alert = reason - SSL_AD_REASON_OFFSET;
    return alert == SSL_AD_NO_APPLICATION_PROTOCOL ? make_error_code(errc::no_common_protocol) : std::error_code{alert, alert_category()};
  }
  if (reason == ERR_R_MALLOC_FAILURE) return std::make_error_code(std::errc::not_enough_memory);
  return errc::protocol;
}

/// How much memory it has, used or not.
std::size_t capacity(BIO* of) noexcept {
  BUF_MEM* memory = nullptr;
  BIO_get_mem_ptr(of, &memory);
  return memory != nullptr ? memory->max : 0;
}

BIO* new_buffer() noexcept {
  BIO* const made = BIO_new(BIO_s_mem());
  if (made != nullptr) BIO_set_mem_eof_return(made, -1);  // empty is not the end
  return made;
}

}  // namespace

session::session(owned<SSL> of) : ssl_{std::move(of)}, came_{new_buffer()}, leaves_{new_buffer()} {
  if (ssl_ == nullptr || came_ == nullptr || leaves_ == nullptr) {
    BIO_free(came_);
    BIO_free(leaves_);
    throw std::bad_alloc{};
  }
  SSL_set_bio(ssl_.get(), came_, leaves_);
}

/// OpenSSL resumes no session of a connection that was cut. Cutting one tells nothing of its keys, so ours may be resumed (RFC 5246, 7.2.1).
session::~session() {
  if (ssl_ != nullptr && !error_) SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

session::need session::after(int result) noexcept {
  if (result > 0) return need::nothing;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ: return need::input;
    case SSL_ERROR_ZERO_RETURN: return need::end;
    default: error_ = why(*ssl_); return need::error;
  }
}

session::need session::handshake() noexcept {
  ERR_clear_error();
  return after(SSL_do_handshake(ssl_.get()));
}

session::need session::open(std::span<std::byte> into, std::size_t& got) noexcept {
  // Each request for new keys is answered, and a peer that reads nothing could ask for ever.
  if (BIO_ctrl_pending(leaves_) > most_answers) {
    error_ = errc::protocol;
    return need::error;
  }
  ERR_clear_error();
  const need next = after(SSL_read_ex(ssl_.get(), into.data(), into.size(), &got));
  if (next == need::input) drop_large_buffers();
  return next;
}

session::need session::seal(std::span<const std::byte> plain, std::size_t& taken) noexcept {
  ERR_clear_error();
  return after(SSL_write_ex(ssl_.get(), plain.data(), std::min(plain.size(), most_sealed), &taken));
}

void session::finish() noexcept {
  if (is_finished()) return;  // called again, SSL_shutdown would read
  ERR_clear_error();
  static_cast<void>(SSL_shutdown(ssl_.get()));
  ERR_clear_error();
}

bool session::is_finished() const noexcept { return (SSL_get_shutdown(ssl_.get()) & SSL_SENT_SHUTDOWN) != 0; }

bool session::receive(std::span<const std::byte> sealed) noexcept {
  const auto bytes = static_cast<int>(sealed.size());
  return BIO_write(came_, sealed.data(), bytes) == bytes;
}

bool session::has_received() const noexcept { return SSL_pending(ssl_.get()) != 0 || BIO_ctrl_pending(came_) != 0; }

std::span<const std::byte> session::to_send() const noexcept {
  char* sealed = nullptr;
  const long size = BIO_get_mem_data(leaves_, &sealed);
  if (size <= 0) return {};
  return {reinterpret_cast<const std::byte*>(sealed), static_cast<std::size_t>(size)};
}

void session::sent() noexcept {
  static_cast<void>(BIO_reset(leaves_));
  drop_large_buffers();
}

bool session::sent_all_but(std::size_t last) noexcept {
  const std::span<const std::byte> all = to_send();
  // A memory BIO gives back what was read from its front, without a copy.
  std::array<std::byte, 4096> gone;
  for (std::size_t left = all.size() - last; left != 0;) {
    const int bytes = BIO_read(leaves_, gone.data(), static_cast<int>(std::min(left, gone.size())));
    if (bytes <= 0) return false;
    left -= static_cast<std::size_t>(bytes);
  }
  return true;
}

/// A connection that waits for its peer keeps none. Each call below frees the buffer before.
void session::drop_large_buffers() noexcept {
  if (BIO_ctrl_pending(leaves_) == 0 && capacity(leaves_) > most_kept) {
    if (BIO* const fresh = new_buffer(); fresh != nullptr) SSL_set0_wbio(ssl_.get(), leaves_ = fresh);
  }
  if (BIO_ctrl_pending(came_) == 0 && capacity(came_) > most_kept) {
    if (BIO* const fresh = new_buffer(); fresh != nullptr) SSL_set0_rbio(ssl_.get(), came_ = fresh);
  }
}

}  // namespace tartan::tls::detail
