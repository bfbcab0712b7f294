#include <tartan/tls/server.h>

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <array>
#include <cctype>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <source_location>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "core/runtime_state.h"
#include "tls/chance.h"
#include "tls/context.h"
#include "tls/link.h"
#include "tls/ticket_keys.h"

namespace tartan::tls {

namespace {

using detail::fail;
using detail::owned;

std::string in_small_letters(std::string_view text) {
  std::string small{text};
  for (char& each : small) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  return small;
}

/// What connections of one time share. Never changes.
class contexts {
 public:
  explicit contexts(server_settings with) : with_{std::move(with)}, protocols_{detail::protocol_list(with_.protocols)}, log_{with_.key_log} {
    if (with_.identities.empty()) throw std::invalid_argument{"tartan::tls::server: no identity, so there is no certificate to show"};
    if (with_.ticket_life.count() < 0 || with_.handshake_limit.count() <= 0) {
      throw std::invalid_argument{"tartan::tls::server: a negative time, or none for a handshake"};
    }
    for (const identity& each : with_.identities) add(each);
  }
  contexts(const contexts&) = delete;
  contexts& operator=(const contexts&) = delete;

  [[nodiscard]] SSL_CTX* first() const noexcept { return all_.front().get(); }
  [[nodiscard]] const server_settings& with() const noexcept { return with_; }
  [[nodiscard]] bool has_tickets() const noexcept { return with_.ticket_life.count() != 0; }
  [[nodiscard]] bool asks_clients() const noexcept { return with_.clients != server_settings::client_certificates::none; }
  [[nodiscard]] bool has_same_first(const contexts& others) const noexcept {
    const X509* const now = SSL_CTX_get0_certificate(first());
    const X509* const before = SSL_CTX_get0_certificate(others.first());
    return now != nullptr && before != nullptr && X509_cmp(now, before) == 0;
  }

 private:
  void add(const identity& who) {
    all_.push_back(detail::new_context(TLS_server_method()));
    SSL_CTX* const made = all_.back().get();
    detail::use_identity(*made, who.certificate, who.key);
    SSL_CTX_set_options(made, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);  // tickets are enough, and need no lock
    if (has_tickets()) {
      detail::ticket_keys::set_up(*made, with_.ticket_life);
    } else {
      SSL_CTX_set_options(made, SSL_OP_NO_TICKET);
      SSL_CTX_set_num_tickets(made, 0);
    }
    if (!protocols_.empty()) SSL_CTX_set_alpn_select_cb(made, &choose_protocol, this);
    SSL_CTX_set_tlsext_servername_callback(made, &choose_host);
    SSL_CTX_set_tlsext_servername_arg(made, this);
    log_.attach(*made);
    ask_clients(*made);
    for (const std::string& name : who.names) by_name_.emplace(in_small_letters(name), made);
    if (who.names.empty()) by_certificate_.push_back(made);
  }

  void ask_clients(SSL_CTX& of) const {
    using wanted = server_settings::client_certificates;
    if (with_.clients == wanted::none) return;
    const std::string& file = with_.client_authorities;
    ERR_clear_error();
    if (file.empty()) throw std::invalid_argument{"tartan::tls::server: clients are to show certificates, but client_authorities names no file"};
    if (SSL_CTX_load_verify_file(&of, file.c_str()) != 1) fail("cannot use the authorities in '" + file + "'");
    SSL_CTX_set_client_CA_list(&of, SSL_load_client_CA_file(file.c_str()));
    SSL_CTX_set_verify(&of, SSL_VERIFY_PEER | (with_.clients == wanted::required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), nullptr);
    constexpr std::string_view id = "tartan";  // sessions of clients with a certificate resume only where there is one
    SSL_CTX_set_session_id_context(&of, reinterpret_cast<const unsigned char*>(id.data()), static_cast<unsigned>(id.size()));
  }

  [[nodiscard]] SSL_CTX* find(std::string_view name) const {
    if (name.ends_with('.')) name.remove_suffix(1);  // no client should send it (RFC 6066, 3), and some do
    if (const auto found = by_name_.find(in_small_letters(name)); found != by_name_.end()) return found->second;
    for (SSL_CTX* const each : by_certificate_) {
      if (X509_check_host(SSL_CTX_get0_certificate(each), name.data(), name.size(), 0, nullptr) == 1) return each;
    }
    return nullptr;
  }

  static int choose_host(SSL* of, int* /*alert*/, void* self) {
    const char* const name = SSL_get_servername(of, TLSEXT_NAMETYPE_host_name);
    try {
      SSL_CTX* const found = name != nullptr ? static_cast<const contexts*>(self)->find(name) : nullptr;
      if (found != nullptr) SSL_set_SSL_CTX(of, found);
    } catch (const std::bad_alloc&) {
      return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    return SSL_TLSEXT_ERR_OK;
  }

  /// A client that speaks something else only is told so.
  static int choose_protocol(SSL* /*of*/, const unsigned char** chosen, unsigned char* size, const unsigned char* offered, unsigned offered_size, void* self) {
    const std::string& mine = static_cast<const contexts*>(self)->protocols_;
    unsigned char* found = nullptr;
    const int outcome = SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char*>(mine.data()), static_cast<unsigned>(mine.size()),
                                              offered, offered_size);
    *chosen = found;
    return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
  }

  const server_settings with_;
  const std::string protocols_;
  const detail::key_log log_;
  std::vector<owned<SSL_CTX>> all_;
  std::map<std::string, SSL_CTX*, std::less<>> by_name_;
  std::vector<SSL_CTX*> by_certificate_;
};

}  // namespace

struct server::state {
  explicit state(server_settings with) : now{std::make_shared<const contexts>(std::move(with))} {}

  /// Those that seal tickets at this time of the runtime's clock; null: there are none.
  std::shared_ptr<const detail::ticket_keys> keys_at(std::uint64_t now_ns) {
    if (!now->has_tickets()) return nullptr;
    const auto life_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds{now->with().ticket_life}.count());
    const bool have_ended = keys == nullptr || now_ns - keys_since_ns >= 2 * life_ns;
    if (!have_ended && now_ns - keys_since_ns < life_ns) return keys;
    try {
      keys = have_ended ? std::make_shared<const detail::ticket_keys>() : detail::ticket_keys::after(*keys);
      keys_since_ns = now_ns;
    } catch (const std::runtime_error&) {  // no random bytes: the next connection tries again
      if (have_ended) keys = nullptr;
    }
    return keys;
  }

  std::mutex lock;  // guards all below
  std::shared_ptr<const contexts> now;
  std::shared_ptr<const detail::ticket_keys> keys;
  std::uint64_t keys_since_ns = 0;
};

server::server(server_settings with) : state_{std::make_unique<state>(std::move(with))} {}
server::~server() = default;

void server::reload(server_settings with) { reload(server{std::move(with)}); }

void server::reload(server&& made) noexcept {
  std::shared_ptr<const contexts> next = std::move(made.state_->now);
  const std::lock_guard hold{state_->lock};
  if (next->asks_clients() || !next->has_same_first(*state_->now)) state_->keys = nullptr;
  state_->now.swap(next);
}

stream server::begin(any_stream under) {
  detail::follow_simulation();  // before keys are drawn
  std::shared_ptr<const contexts> with;
  std::shared_ptr<const detail::ticket_keys> keys;
  {
    const std::lock_guard hold{state_->lock};
    with = state_->now;
    keys = state_->keys_at(tartan::detail::required_runtime("tartan::tls::server", std::source_location::current()).now_ns());
  }
  ERR_clear_error();
  owned<SSL> made{SSL_new(with->first())};
  if (made == nullptr) throw std::bad_alloc{};
  SSL_set_accept_state(made.get());
  detail::ticket_keys::give(*made, keys.get());
  // The keys go after the handshake: a download keeps no old one alive.
  auto check = [keys = std::move(keys)](SSL& of) {
    detail::ticket_keys::give(of, nullptr);
    return std::error_code{};
  };
  const auto limit = with->with().handshake_limit;
  return stream{std::make_shared<detail::link>(std::move(under), std::move(made), std::move(with), limit, std::move(check))};
}

task<result<stream>> server::accept(any_stream under) {
  stream made = begin(std::move(under));
  const result<> done = co_await made.handshake();
  if (!done) co_return unexpected{done.error()};
  co_return result<stream>{std::move(made)};
}

}  // namespace tartan::tls
