#include <tartan/tls/stream.h>

#include <array>
#include <cstring>
#include <tartan/io/stream_reads.h>
#include <utility>

#include "tls/key_hash.h"
#include "tls/link.h"

namespace tartan::tls {

namespace {

using reads = tartan::detail::stream_reads<detail::link_handle>;

template <class T>
task<result<T>> closed() {
  co_return tartan::errc::closed;
}

}  // namespace

stream& stream::operator=(stream&& other) noexcept {
  if (this != &other) {
    detail::link::abandon(std::exchange(link_, std::move(other.link_)));
  }
  return *this;
}

stream::~stream() { detail::link::abandon(std::move(link_)); }

task<result<>> stream::handshake() { return link_ != nullptr ? detail::link::handshake(link_) : closed<void>(); }

task<result<std::size_t>> stream::read_some(mutable_bytes into) {
  return link_ != nullptr ? detail::link::read_some(link_, into) : closed<std::size_t>();
}
task<result<std::size_t>> stream::read_exactly(mutable_bytes into) {
  return link_ != nullptr ? reads::read_exactly({link_}, into) : closed<std::size_t>();
}
task<result<std::size_t>> stream::read_until(std::string& into, std::string_view delimiter, std::size_t most) {
  return link_ != nullptr ? reads::read_until({link_}, into, delimiter, most) : closed<std::size_t>();
}
task<result<std::size_t>> stream::read_some(buf::chain& into, std::size_t most) {
  return link_ != nullptr ? reads::read_some({link_}, into, most) : closed<std::size_t>();
}
task<result<buf::line>> stream::read_line(buf::chain& into, std::size_t most) {
  return link_ != nullptr ? reads::read_line({link_}, into, most) : closed<buf::line>();
}
task<result<std::size_t>> stream::read_until(buf::chain& into, std::string_view delimiter, std::size_t most) {
  return link_ != nullptr ? reads::read_until({link_}, into, delimiter, most) : closed<std::size_t>();
}
task<result<>> stream::readable() { return link_ != nullptr ? detail::link::readable(link_) : closed<void>(); }
result<std::size_t> stream::try_read_some(mutable_bytes into) {
  return link_ != nullptr ? link_->try_read_some(into) : result<std::size_t>{tartan::errc::closed};
}

task<result<std::size_t>> stream::write(const_bytes all) {
  return link_ != nullptr ? detail::link::write(link_, all) : closed<std::size_t>();
}
task<result<std::size_t>> stream::write(tartan::detail::byte_parts parts) {
  return link_ != nullptr ? detail::link::write_parts(link_, parts) : closed<std::size_t>();
}
task<result<>> stream::writable() { return link_ != nullptr ? detail::link::writable(link_) : closed<void>(); }
result<std::size_t> stream::try_write(const_bytes all) {
  const std::span<const std::byte> one = all;
  return try_write(tartan::detail::byte_parts{&one, 1});
}
result<std::size_t> stream::try_write(tartan::detail::byte_parts parts) {
  return link_ != nullptr ? link_->try_write(parts) : result<std::size_t>{tartan::errc::closed};
}
task<result<>> stream::shutdown_send() { return link_ != nullptr ? detail::link::shutdown_send(link_) : closed<void>(); }

void stream::close(std::source_location site) {
  if (link_ != nullptr) link_->close(site);
}
void stream::cancel(std::source_location site) {
  if (link_ != nullptr) link_->cancel(site);
}
bool stream::is_open() const noexcept { return link_ != nullptr && link_->under().is_open(); }
color stream::color() const noexcept { return link_ != nullptr ? link_->under().color() : tartan::color{}; }

std::string_view stream::protocol() const noexcept {
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  if (link_ != nullptr) SSL_get0_alpn_selected(&link_->ssl(), &chosen, &size);
  return {reinterpret_cast<const char*>(chosen), size};
}
std::string_view stream::version() const noexcept { return link_ != nullptr ? SSL_get_version(&link_->ssl()) : ""; }
bool stream::is_resumed() const noexcept { return link_ != nullptr && SSL_session_reused(&link_->ssl()) == 1; }
std::string_view stream::host() const noexcept {
  const char* const name = link_ != nullptr ? SSL_get_servername(&link_->ssl(), TLSEXT_NAMETYPE_host_name) : nullptr;
  return name != nullptr ? name : "";
}

std::string stream::peer_subject() const {
  X509* const peer = link_ != nullptr ? SSL_get0_peer_certificate(&link_->ssl()) : nullptr;
  if (peer == nullptr) return {};
  const detail::owned<BIO> text{BIO_new(BIO_s_mem())};
  if (text == nullptr || X509_NAME_print_ex(text.get(), X509_get_subject_name(peer), 0, XN_FLAG_RFC2253) < 0) return {};
  char* first = nullptr;
  const long size = BIO_get_mem_data(text.get(), &first);
  return {first, static_cast<std::size_t>(size)};
}
std::string stream::peer_key_hash() const {
  const X509* const peer = link_ != nullptr ? SSL_get0_peer_certificate(&link_->ssl()) : nullptr;
  return peer != nullptr ? detail::key_hash(*peer) : std::string{};
}

any_stream* stream::under() noexcept { return link_ != nullptr ? &link_->under() : nullptr; }

}  // namespace tartan::tls
