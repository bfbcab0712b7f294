#pragma once
/// The client's address behind proxies.

#include <optional>
#include <span>
#include <tartan/http/header_lines.h>
#include <tartan/http/ip_address.h>

namespace tartan::http {

/// The client's address as X-Forwarded-For has it, of a request that a trusted proxy has brought: the last address that is no trusted proxy's; the first
/// one, if all are. What stands before that anybody may have written.
///
/// Nothing: there is no such line, or what a trusted proxy has added last is no address. An address may have a port ("192.0.2.1:80", "[2001:db8::1]:80").
/// Threads: any. Cost: no allocation.
[[nodiscard]] std::optional<ip_address> forwarded_client(const header_lines& fields, std::span<const ip_range> trusted) noexcept;

}  // namespace tartan::http
