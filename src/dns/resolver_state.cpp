#include "dns/resolver_state.h"

#include <netinet/in.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <tartan/core/abandonable_blocking.h>
#include <tartan/core/when_all.h>
#include <tartan/time/with_timeout.h>

#include "core/runtime_state.h"
#include "core/sleep/poller.h"
#include "dns/exchange.h"
#include "dns/host_name.h"
#include "io/service.h"

namespace tartan::detail {

namespace {

constexpr std::uint16_t dns_port = 53;

void check(const dns::resolver_options& with) {
  if (with.servers.size() > most_servers) throw std::invalid_argument{"resolver_options::servers: more than 8"};
  for (const address& server : with.servers) {
    if (!server.is_ip())
      throw std::invalid_argument{"resolver_options::servers: '" + server.to_string() + "' is no IP address"};
  }
  if (with.search && with.search->size() > most_search_domains)
    throw std::invalid_argument{"resolver_options::search: more than 16"};
  for (const std::string& domain : with.search.value_or(std::vector<std::string>{})) {
    if (!is_host_name(domain)) throw std::invalid_argument{"resolver_options::search: '" + domain + "' is no domain"};
  }
  if (with.timeout && (*with.timeout < std::chrono::milliseconds{1} || *with.timeout > std::chrono::hours{1}))
    throw std::invalid_argument{"resolver_options::timeout: not between 1 ms and 1 h"};
  if (with.attempts && (*with.attempts == 0 || *with.attempts > most_rounds)) {
    throw std::invalid_argument{"resolver_options::attempts: " + std::to_string(*with.attempts) +
                                " is not between 1 and 8"};
  }
}

/// A forged answer has to guess the id and the port.
result<std::uint16_t> random_id(poller& clock) noexcept {
  std::uint16_t id = 0;
  if (clock.has_chance()) {
    clock.draw(std::as_writable_bytes(std::span{&id, 1}));
    return id;
  }
  ssize_t got = 0;
  do {
    got = ::getrandom(&id, sizeof id, 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return std::error_code{errno, std::system_category()};
  return id;
}

/// Errors that another server would not mend.
bool ends_the_question(std::error_code error) noexcept {
  return error == errc::canceled || error == errc::closed || error == std::errc::too_many_files_open ||
         error == std::errc::too_many_files_open_in_system || error == std::errc::not_enough_memory ||
         error == std::errc::no_buffer_space || error == dns::errc::too_many_records ||
         error == dns::errc::invalid_name;
}

/// Errors after which the next name of the search list is tried.
bool goes_on_searching(std::error_code error) noexcept {
  return error == dns::errc::no_such_host || error == dns::errc::no_data || error == dns::errc::server_failure;
}

/// The error to report of two: any other error goes before no_data, and no_data before no_such_host.
std::error_code worse(std::error_code one, std::error_code other) noexcept {
  const auto rank = [](std::error_code e) {
    return !e ? 0 : e == dns::errc::no_such_host ? 1 : e == dns::errc::no_data ? 2 : 3;
  };
  return rank(other) > rank(one) ? other : one;
}

std::error_code error_of_code(unsigned code) noexcept {
  return code == answer_refused ? dns::errc::refused : dns::errc::server_failure;
}

dns::host_address address_in(const record& r) {
  if (r.type == record_type::aaaa) {
    sockaddr_in6 at{};
    at.sin6_family = AF_INET6;
    std::memcpy(&at.sin6_addr, r.data.data(), sizeof at.sin6_addr);
    return {address::from(reinterpret_cast<const sockaddr*>(&at), sizeof at), std::chrono::seconds{r.time_to_live}};
  }
  sockaddr_in at{};
  at.sin_family = AF_INET;
  std::memcpy(&at.sin_addr, r.data.data(), sizeof at.sin_addr);
  return {address::from(reinterpret_cast<const sockaddr*>(&at), sizeof at), std::chrono::seconds{r.time_to_live}};
}

bool is_wanted(const address& at, dns::address_family family) noexcept {
  if (family == dns::address_family::any) return true;
  return (at.family() == AF_INET6) == (family == dns::address_family::ipv6);
}

/// The answer if no name server is needed for it.
std::optional<result<host_addresses>> known_without_asking(std::string_view host, dns::address_family family,
                                                           const hosts_table& hosts) {
  if (looks_numeric(host)) {
    const auto number = numeric_host(host);
    if (!number) return make_error_code(dns::errc::invalid_name);
    if (!is_wanted(*number, family)) return make_error_code(dns::errc::no_data);
    return host_addresses{{*number, {}}};
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  if (!is_host_name(host)) return make_error_code(dns::errc::invalid_name);
  host_addresses found;
  if (const auto* const known = hosts.addresses_of(host)) {
    for (const bool is_ipv6 : {true, false}) {
      for (const address& at : *known) {
        if ((at.family() == AF_INET6) == is_ipv6 && is_wanted(at, family)) found.push_back({at, {}});
      }
    }
  }
  if (found.empty() && is_within(host, "localhost")) {  // RFC 6761
    for (const char* const text : {"::1", "127.0.0.1"}) {
      const auto at = numeric_host(text);
      if (at && is_wanted(*at, family)) found.push_back({*at, {}});
    }
  }
  if (found.empty() && is_within(host, "onion")) return make_error_code(dns::errc::no_such_host);  // RFC 7686
  if (found.empty()) return std::nullopt;
  return found;
}

}  // namespace

/// Keeps an exchange in the list that close() goes through.
class exchange_in_list {
 public:
  exchange_in_list(resolver_state& of, exchange& one) : of_{of}, one_{one} { of_.exchanges_.push_back(&one_); }
  exchange_in_list(const exchange_in_list&) = delete;
  exchange_in_list& operator=(const exchange_in_list&) = delete;
  ~exchange_in_list() { std::erase(of_.exchanges_, &one_); }

 private:
  resolver_state& of_;
  exchange& one_;
};

struct resolver_state::servers_to_ask {
  std::vector<address> all;
  std::chrono::milliseconds timeout;
  unsigned rounds;
};

resolver_state::resolver_state(runtime_state& rt, strand own, dns::resolver_options with)
    : rt_{rt}, strand_{std::move(own)}, with_{std::move(with)} {
  check(with_);
}

bool resolver_state::post_close(const std::shared_ptr<resolver_state>& self) {
  return strand_.post([self] { self->close(); });
}

void resolver_state::close() noexcept {
  is_closed_ = true;
  for (exchange* const each : exchanges_) each->close();
}

result<resolver_state::place> resolver_state::enter() noexcept {
  if (is_closed_) return errc::closed;
  if (in_flight_ >= with_.most_in_flight) return errc::busy;
  ++in_flight_;
  return place{*this};
}

task<result<resolver_state::settings>> resolver_state::current() {
  const auto turn = co_await loading_.acquire();
  if (!turn) co_return turn.error();
  const std::uint64_t now_ns = rt_.now_ns();
  const auto every_ns = saturated_ns(with_.look_at_files_every);
  if (settings_ != nullptr && now_ns - asked_files_ns_ < every_ns) co_return settings_;
  auto load = [servers = with_.configuration_file, hosts = with_.hosts_file, old = settings_] {
    return load_configuration(servers, hosts, old);
  };
  result<settings> loaded = settings{};
  if (with_.configuration_file.empty() && with_.hosts_file.empty()) {
    loaded = load();  // reads nothing: a simulation without files needs no thread
  } else {
    loaded = co_await abandonable_blocking(load);
  }
  if (!loaded) co_return loaded.error();
  settings_ = std::move(*loaded);
  asked_files_ns_ = now_ns;
  co_return settings_;
}

resolver_state::servers_to_ask resolver_state::servers_of(const configuration& now) const {
  servers_to_ask got{with_.servers.empty() ? now.servers.servers : with_.servers,
                     with_.timeout.value_or(now.servers.timeout), with_.attempts.value_or(now.servers.attempts)};
  if (got.all.empty()) got.all.push_back(address::loopback(dns_port));
  for (address& server : got.all) {
    if (server.port() == 0) server = server.with_port(dns_port);
  }
  return got;
}

std::vector<std::string> resolver_state::candidates(const std::string& name, const configuration& now) const {
  return search_candidates(name, with_.search ? *with_.search : now.servers.search,
                           with_.dots.value_or(now.servers.dots));
}

task<result<answer>> resolver_state::ask_server(const question& q, const address& server,
                                                std::chrono::milliseconds limit) {
  const result<std::uint16_t> id = random_id(rt_.clock());
  if (!id) co_return id.error();
  const result<io_service*> service = io_service::find(rt_);
  if (!service) co_return service.error();
  const result<message_bytes> message = write_question(q, *id);
  if (!message) co_return message.error();
  exchange one{(*service)->system(), server};
  const exchange_in_list listed{*this, one};
  auto got = co_await with_timeout(limit, one.run(*message));
  if (!got) co_return got.error() == errc::timed_out ? make_error_code(dns::errc::timed_out) : got.error();
  co_return read_answer(*got, with_.most_records);
}

task<result<std::vector<record>>> resolver_state::ask(const question& q, const configuration& now) {
  const servers_to_ask servers = servers_of(now);
  std::error_code last = dns::errc::timed_out;
  std::chrono::milliseconds limit = servers.timeout;
  for (unsigned round = 0; round < servers.rounds; ++round, limit *= 2) {
    bool any_silent = false;
    for (const address& server : servers.all) {
      if (is_closed_) co_return errc::closed;
      const auto got = co_await ask_server(q, server, limit);
      const bool is_final = got && !got->is_referral && (got->code == answer_ok || got->code == answer_no_such_name);
      if (is_final) co_return records_for(q, *got);
      last = got ? error_of_code(got->code) : got.error();
      if (ends_the_question(last)) co_return last;
      any_silent = any_silent || last == dns::errc::timed_out;
    }
    if (!any_silent) break;  // each server has answered, and would give the same answer again
  }
  co_return last;
}

task<result<host_addresses>> resolver_state::ask_family(const std::string& name, bool is_ipv6, const configuration& now,
                                                        address_sink* early) {
  const question q{name, is_ipv6 ? record_type::aaaa : record_type::a};
  const auto records = co_await ask(q, now);
  host_addresses found;
  if (records) std::ranges::transform(*records, std::back_inserter(found), address_in);
  if (early != nullptr) {
    early_addresses news{is_ipv6, found};
    auto hearing = early->hear(std::move(news));
    const auto sent = co_await std::move(hearing);
    if (!sent) co_return sent.error();
  }
  if (!records) co_return records.error();
  co_return found;
}

task<result<host_addresses>> resolver_state::ask_addresses(const std::string& name, dns::address_family family,
                                                           const configuration& now, address_sink* early) {
  std::vector<task<result<host_addresses>>> families;
  for (const bool is_ipv6 : {true, false}) {
    if (family == dns::address_family::any || is_ipv6 == (family == dns::address_family::ipv6)) {
      families.push_back(ask_family(name, is_ipv6, now, early));
    }
  }
  auto all = co_await when_all(std::move(families));
  host_addresses found;
  std::error_code error;
  for (auto& each : all) {
    if (each) {
      found.insert(found.end(), each->begin(), each->end());
    } else if (each.error() == errc::canceled || each.error() == errc::closed) {
      co_return each.error();
    } else {
      error = worse(error, each.error());
    }
  }
  if (found.empty()) co_return error;
  co_return found;
}

task<result<host_addresses>> resolver_state::find_addresses(const std::string& host, dns::address_family family,
                                                            address_sink* early) {
  const auto now = co_await current();
  if (!now) co_return now.error();
  if (auto known = known_without_asking(host, family, (*now)->hosts)) co_return std::move(*known);
  std::error_code error;
  for (const std::string& name : candidates(host, **now)) {
    auto found = co_await ask_addresses(name, family, **now, early);
    if (found || !goes_on_searching(found.error())) co_return found;
    error = worse(error, found.error());
  }
  co_return error ? error : make_error_code(dns::errc::invalid_name);
}

task<result<std::vector<record>>> resolver_state::find_records(const std::string& name, record_type type) {
  const auto now = co_await current();
  if (!now) co_return now.error();
  const std::string_view without_dot = std::string_view{name}.substr(0, name.size() - (name.ends_with('.') ? 1 : 0));
  if (is_within(without_dot, "localhost")) co_return make_error_code(dns::errc::no_data);    // RFC 6761, 6.3
  if (is_within(without_dot, "onion")) co_return make_error_code(dns::errc::no_such_host);  // RFC 7686
  std::error_code error;
  for (std::string& candidate : candidates(name, **now)) {
    const question q{std::move(candidate), type};
    auto found = co_await ask(q, **now);
    if (found || !goes_on_searching(found.error())) co_return found;
    error = worse(error, found.error());
  }
  co_return error ? error : make_error_code(dns::errc::invalid_name);
}

task<result<std::vector<dns::host_name>>> resolver_state::find_names(const address& peer) {
  const address of = without_mapping(peer);
  const question q{reverse_name(of), record_type::ptr};
  if (q.name.empty()) co_return make_error_code(std::errc::address_family_not_supported);
  const auto now = co_await current();
  if (!now) co_return now.error();
  std::vector<dns::host_name> found;
  if (const auto* const known = (*now)->hosts.names_of(of)) {
    for (const std::string& name : *known) found.push_back({name, {}});
    co_return found;
  }
  const auto records = co_await ask(q, **now);
  if (!records) co_return records.error();
  for (const record& r : *records) found.push_back({r.data, std::chrono::seconds{r.time_to_live}});
  co_return found;
}

}  // namespace tartan::detail
