#include "web/address_family.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <tartan/core/result.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>

namespace web {

namespace {

/// As IPv6 has an IPv4 address: ::ffff:192.0.2.1.
bool is_mapped(const tartan::address& at) noexcept {
  if (at.family() != AF_INET6) return false;
  sockaddr_in6 native{};
  std::memcpy(&native, at.data(), std::min<std::size_t>(at.size(), sizeof native));
  return IN6_IS_ADDR_V4MAPPED(&native.sin6_addr) != 0;
}

bool is_ipv4(const tartan::address& at) noexcept { return at.family() == AF_INET || is_mapped(at); }

/// Digits alone, and more than a port can be.
bool is_beyond_ports(std::string_view port) noexcept {
  std::uint16_t unused = 0;
  const bool is_number =
      !port.empty() && std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number &&
         std::from_chars(port.data(), port.data() + port.size(), unused).ec == std::errc::result_out_of_range;
}

}  // namespace

std::string why_no_address(const std::string& text) {
  const tartan::result<tartan::address> at = tartan::address::parse(text);
  if (at && at->is_ip()) return {};
  const std::string port = text.substr(text.rfind(':') + 1);
  if (port.size() != text.size() && is_beyond_ports(port))
    return "'" + text + "': port " + port + " is above 65535, the highest port";
  return "'" + text + "' is no address: expected something like 127.0.0.1:80 or [::1]:80";
}

bool has_ipv4_beside(const std::string& one, const std::vector<std::string>& all) {
  const tartan::result<tartan::address> at = tartan::address::parse(one);
  if (!at || at->port() == 0 || is_ipv4(*at)) return false;
  return std::any_of(all.begin(), all.end(), [&at](const std::string& text) {
    const tartan::result<tartan::address> other = tartan::address::parse(text);
    return other && other->port() == at->port() && is_ipv4(*other);
  });
}

std::string host_text(const tartan::address& at) {
  constexpr std::string_view prefix = "::ffff:";
  std::string text = at.to_string();
  if (!at.is_ip()) return text;
  text.erase(text.rfind(':'));
  if (text.starts_with('[')) text = text.substr(1, text.size() - 2);
  return is_mapped(at) ? text.substr(prefix.size()) : text;
}

}  // namespace web
