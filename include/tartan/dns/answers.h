#pragma once
/// What is known of a name.

#include <chrono>
#include <cstdint>
#include <string>
#include <tartan/io/address.h>

namespace tartan::dns {

/// Which addresses are wanted.
enum class address_family : std::uint8_t { any, ipv4, ipv6 };

/// An address of a host, with port 0: `found.at.with_port(443)`.
///
/// The time to live says how long an answer may be kept. It is 0 for a numeric host and for an entry of the hosts file.
struct host_address {
  address at;
  std::chrono::seconds time_to_live{};
};

/// A mail server of a domain (MX). The lowest preference is to be tried first. An empty host: the domain takes no mail.
struct mail_exchanger {
  std::uint16_t preference = 0;
  std::string host;
  std::chrono::seconds time_to_live{};
};

/// A server of a service (SRV). The lowest priority is to be tried first; among equals, each by its share of the
/// weights. An empty host: there is no such service.
struct service {
  std::uint16_t priority = 0;
  std::uint16_t weight = 0;
  std::uint16_t port = 0;
  std::string host;
  std::chrono::seconds time_to_live{};
};

/// A text of a name (TXT), its pieces put together: any bytes.
struct text {
  std::string bytes;
  std::chrono::seconds time_to_live{};
};

/// A name of an address (PTR).
struct host_name {
  std::string name;
  std::chrono::seconds time_to_live{};
};

}  // namespace tartan::dns
