#include <tartan/tls/client.h>

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "tls/chance.h"
#include "tls/context.h"
#include "tls/key_hash.h"
#include "tls/link.h"

namespace tartan::tls {

namespace {

using detail::fail;
using detail::owned;

bool is_ip(const std::string& host) noexcept {
  std::array<unsigned char, 16> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 || ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

/// As certificates have it. Errors: std::invalid_argument.
std::string host_name(std::string_view host) {
  const std::string_view without_dot = host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
  const auto is_in_no_name = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '/'; };
  const bool has_empty_label = without_dot.starts_with('.') || without_dot.find("..") != std::string_view::npos;  // for OpenSSL: any label
  const bool is_name = !without_dot.empty() && without_dot.size() <= 253 && !has_empty_label &&
                       std::none_of(without_dot.begin(), without_dot.end(), is_in_no_name);
  if (!is_name) throw std::invalid_argument{"tartan::tls::client: '" + std::string{host} + "' can be no host's name"};
  return std::string{without_dot};
}

}  // namespace

struct client::state {
  explicit state(client_settings settings) : with{std::move(settings)}, log{with.key_log}, context{detail::new_context(TLS_client_method())} {
    SSL_CTX* const of = context.get();
    ERR_clear_error();
    if (with.handshake_limit.count() <= 0) throw std::invalid_argument{"tartan::tls::client: no time for a handshake"};
    for (const std::string& pin : with.pins) {
      if (!detail::is_key_hash(pin)) throw std::invalid_argument{"tartan::tls::client: '" + pin + "' is no pin: sha256/ and 44 characters of base64"};
    }
    if (with.verify && with.authorities.empty() && SSL_CTX_set_default_verify_paths(of) != 1) fail("cannot read the authorities of the system");
    if (with.verify && !with.authorities.empty() && SSL_CTX_load_verify_file(of, with.authorities.c_str()) != 1) {
      fail("cannot use the authorities in '" + with.authorities + "'");
    }
    SSL_CTX_set_verify(of, with.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    if (!with.certificate.empty()) detail::use_identity(*of, with.certificate, with.key);
    const std::string protocols = detail::protocol_list(with.protocols);
    const auto* const offered = reinterpret_cast<const unsigned char*>(protocols.data());
    if (!protocols.empty() && SSL_CTX_set_alpn_protos(of, offered, static_cast<unsigned>(protocols.size())) != 0) throw std::bad_alloc{};
    log.attach(*of);
    SSL_CTX_set_session_cache_mode(of, with.most_sessions != 0 ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL : SSL_SESS_CACHE_OFF);
    SSL_CTX_sess_set_new_cb(of, &keep_session);
  }

  /// The one that was kept last for this host. A ticket is used once (RFC 8446, C.4).
  [[nodiscard]] owned<SSL_SESSION> take_session(const std::string& host) {
    const std::lock_guard hold{lock};
    const auto found = sessions.find(host);
    if (found == sessions.end()) return nullptr;
    owned<SSL_SESSION> taken = std::move(found->second.what);
    sessions.erase(found);
    return taken;
  }

  void keep(const std::string& host, owned<SSL_SESSION> what) {
    const std::lock_guard hold{lock};
    sessions[host] = {std::move(what), ++turn};
    if (sessions.size() <= with.most_sessions) return;
    sessions.erase(std::min_element(sessions.begin(), sessions.end(), [](const auto& a, const auto& b) { return a.second.turn < b.second.turn; }));
  }

  /// What a connection refers to.
  struct visit {
    std::shared_ptr<state> of;
    std::string host;
  };

  /// 1: it is kept, and was taken over.
  static int keep_session(SSL* of, SSL_SESSION* what) {
    const auto* const from = static_cast<const visit*>(SSL_get_app_data(of));
    try {
      if (from->of->check_pins(*of)) return 0;  // by TLS 1.2 this comes before the link's check
      from->of->keep(from->host, owned<SSL_SESSION>{what});
      return 1;
    } catch (const std::bad_alloc&) {
      return 1;  // its owner has freed it
    }
  }

  [[nodiscard]] std::error_code check_pins(SSL& of) const {
    if (with.pins.empty() || SSL_session_reused(&of) == 1) return {};  // of a session that began here, under the same pins
    const auto is_pinned = [this](const X509& one) {
      return std::find(with.pins.begin(), with.pins.end(), detail::key_hash(one)) != with.pins.end();
    };
    if (!with.verify) {  // anybody can send any certificate behind its own
      const X509* const own = SSL_get0_peer_certificate(&of);
      return own != nullptr && is_pinned(*own) ? std::error_code{} : errc::pin_missing;
    }
    const STACK_OF(X509)* const chain = SSL_get0_verified_chain(&of);
    for (int n = 0; n < sk_X509_num(chain); ++n) {
      if (is_pinned(*sk_X509_value(chain, n))) return {};
    }
    return errc::pin_missing;
  }

  const client_settings with;
  const detail::key_log log;
  const owned<SSL_CTX> context;

  struct session {
    owned<SSL_SESSION> what;
    std::uint64_t turn = 0;
  };
  std::mutex lock;  // guards what follows
  std::map<std::string, session> sessions;
  std::uint64_t turn = 0;
};

client::client(client_settings with) : state_{std::make_shared<state>(std::move(with))} {}
client::~client() = default;

stream client::begin(any_stream under, std::string_view host) {
  auto from = std::make_shared<state::visit>(state_, host_name(host));
  ERR_clear_error();
  detail::follow_simulation();
  owned<SSL> made{SSL_new(state_->context.get())};
  if (made == nullptr || SSL_set_app_data(made.get(), from.get()) != 1) throw std::bad_alloc{};
  SSL_set_connect_state(made.get());
  const bool by_address = is_ip(from->host);
  if (!by_address && SSL_set_tlsext_host_name(made.get(), from->host.c_str()) != 1) throw std::bad_alloc{};
  if (state_->with.verify) {
    const char* const name = from->host.c_str();
    const int is_set = by_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(made.get()), name) : SSL_set1_host(made.get(), name);
    if (is_set != 1) throw std::bad_alloc{};
  }
  if (const owned<SSL_SESSION> known = state_->take_session(from->host); known != nullptr) SSL_set_session(made.get(), known.get());
  const auto limit = state_->with.handshake_limit;
  auto check = [of = state_](SSL& ssl) { return of->check_pins(ssl); };
  return stream{std::make_shared<detail::link>(std::move(under), std::move(made), std::move(from), limit, std::move(check))};
}

task<result<stream>> client::connect(any_stream under, std::string host) {
  stream made;
  try {
    made = begin(std::move(under), host);
  } catch (const std::invalid_argument&) {
    co_return unexpected{std::make_error_code(std::errc::invalid_argument)};
  }
  const result<> done = co_await made.handshake();
  if (!done) co_return unexpected{done.error()};
  co_return result<stream>{std::move(made)};
}

}  // namespace tartan::tls
