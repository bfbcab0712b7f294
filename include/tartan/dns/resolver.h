#pragma once
/// Looking up names of hosts.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <tartan/core/result.h>
#include <tartan/core/runtime.h>
#include <tartan/core/task.h>
#include <tartan/dns/answers.h>
#include <tartan/dns/error.h>
#include <tartan/io/address.h>
#include <vector>

namespace tartan::detail {
class resolver_state;
struct resolver_access;
}  // namespace tartan::detail

namespace tartan::dns {

/// How names are looked up. An option that is not set is taken from the system's files.
struct resolver_options {
  /// The name servers, asked in this order; port 0 means 53. Empty: those of the configuration file, or 127.0.0.1 if it
  /// names none. Limit: 8.
  std::vector<address> servers{};
  /// Domains that are appended to a name with fewer dots than `dots`. Not set: those of the configuration file.
  /// Limit: 16.
  std::optional<std::vector<std::string>> search{};
  /// A name with at least so many dots is asked for as it is first. Not set: as the configuration file says, or 1.
  std::optional<unsigned> dots{};
  /// Time for the first attempt at a server; each further round over the servers doubles it. Not set: as the
  /// configuration file says, or 5 s. Limit: 1 ms to 1 h.
  std::optional<std::chrono::milliseconds> timeout{};
  /// Rounds over all servers. Not set: as the configuration file says, or 2. Limit: 1 to 8.
  std::optional<unsigned> attempts{};
  /// Look-ups under way at a time; a further one gives errc::busy. Each uses up to six descriptors.
  std::size_t most_in_flight = 128;
  /// Records in one answer; more give errc::too_many_records.
  std::size_t most_records = 1024;
  /// The system's files; an empty path means none. Limit: 16 MiB each, the rest is not read.
  std::string configuration_file = "/etc/resolv.conf";
  std::string hosts_file = "/etc/hosts";
  /// A look-up checks whether the files have changed if the last check is older than this.
  std::chrono::milliseconds look_at_files_every = std::chrono::seconds{5};
};

/// Looks up names: asks name servers, and the system's hosts file.
///
///     tartan::dns::resolver names{rt};
///     auto found = co_await tartan::with_timeout(3s, names.addresses("example.org"));
///
/// A numeric host ("127.0.0.1", "::1") is its own address. A name consists of letters, digits, '-' and '_': up to 253
/// bytes, up to 63 between two dots; anything else gives errc::invalid_name. A trailing dot keeps the search list away.
/// "localhost" and names that end in ".localhost" are this machine. There is no cache: each answer has a time to live.
/// Color: one of its own, for all look-ups; a coroutine goes on in its own color.
/// Threads: any.
/// Lifetime: look-ups that are under way when the resolver is closed or destroyed end with errc::closed. It must not
/// outlive its runtime.
/// Errors: those of dns::errc; errc::busy, errc::closed, errc::canceled; errors of the system for a socket or a file,
/// as std::errc::too_many_files_open. std::bad_alloc is thrown.
/// Cost: a question takes a UDP socket, a second descriptor to wait for it and some 20 system calls.
class resolver {
 public:
  /// Errors: std::invalid_argument for an option out of its range; std::bad_alloc.
  explicit resolver(runtime& rt, resolver_options with = {});
  /// In the runtime of the running event.
  ///
  /// Errors: as above; outside of an event the program ends with a message.
  explicit resolver(resolver_options with = {}, std::source_location site = std::source_location::current());
  resolver(resolver&&) noexcept = default;
  resolver& operator=(resolver&& other) noexcept;
  ~resolver();

  /// The addresses of a host, IPv6 first: those in the hosts file if it has any, else A and AAAA records, asked for at
  /// the same time.
  ///
  /// Errors: if one family has addresses, the other family's error is left out.
  [[nodiscard]] task<result<std::vector<host_address>>> addresses(std::string host,
                                                                  address_family family = address_family::any) const;

  /// Where mail for a domain goes (MX), by preference.
  [[nodiscard]] task<result<std::vector<mail_exchanger>>> mail_exchangers(std::string domain) const;

  /// The servers of a service (SRV), as "_imaps._tcp.example.org", by priority.
  [[nodiscard]] task<result<std::vector<service>>> services(std::string name) const;

  /// The texts of a name (TXT).
  [[nodiscard]] task<result<std::vector<text>>> texts(std::string name) const;

  /// The names of an address: those in the hosts file if it has any, else PTR records.
  ///
  /// Errors: std::errc::address_family_not_supported for an address of a Unix socket.
  [[nodiscard]] task<result<std::vector<host_name>>> names(address of) const;

  /// Look-ups under way end with errc::closed soon, and so do later ones. Closing twice does nothing.
  void close() noexcept;

 private:
  friend struct tartan::detail::resolver_access;
  void abandon() noexcept;

  std::shared_ptr<tartan::detail::resolver_state> state_;
};

}  // namespace tartan::dns
