#pragma once
/// Addresses as somebody writes them; IPv4 and IPv6 side by side.

#include <string>
#include <tartan/io/address.h>
#include <vector>

namespace web {

/// What is wrong with a text that is no address of IPv4 or IPv6; empty if it is one.
[[nodiscard]] std::string why_no_address(const std::string& text);

/// Whether one of `all` is of IPv4, also as IPv6 has it (::ffff:192.0.2.1), and has the same port as the IPv6 address `one`, which then has to leave
/// clients of IPv4 to it: only one of both would get the port. False for what is no address, of IPv4 itself, or at port 0.
[[nodiscard]] bool has_ipv4_beside(const std::string& one, const std::vector<std::string>& all);

/// An address without its port: one of IPv4 as such, also if it has the form that IPv6 has for it. Empty for nowhere.
[[nodiscard]] std::string host_text(const tartan::address& at);

}  // namespace web
