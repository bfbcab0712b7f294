#include "load/authority.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <system_error>

#include "load/url_bytes.h"

namespace load {

namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw std::invalid_argument{why};
}

/// Not by getaddrinfo(): it takes 65616 for 80.
std::uint16_t port_of(std::string_view digits) {
  if (!std::all_of(digits.begin(), digits.end(), is_digit)) refuse("port '" + printable(digits) + "' is not a number");
  std::uint16_t port = 0;
  const std::errc error = std::from_chars(digits.data(), digits.data() + digits.size(), port).ec;
  if (error != std::errc{}) {
    refuse("port " + std::string{digits} + " is above " + std::to_string(std::numeric_limits<std::uint16_t>::max()) +
           ", the highest port");
  }
  return port;
}

/// What follows the host: nothing, ":" or ":PORT".
std::optional<std::uint16_t> port_behind(std::string_view rest) {
  if (rest.size() <= 1) return std::nullopt;
  return port_of(rest.substr(1));
}

authority ipv6_authority(std::string_view text, std::string_view zone_mark) {
  const std::size_t end = text.find(']');
  if (end == std::string_view::npos) refuse("']' is missing after the IPv6 address");
  const std::string_view rest = text.substr(end + 1);
  if (!rest.empty() && !rest.starts_with(':')) refuse("only a port, as :80, may follow ']'");
  authority read;
  read.is_ipv6 = true;
  read.port = port_behind(rest);
  std::string_view host = text.substr(1, end - 1);
  if (const std::size_t mark = host.find('%'); mark != std::string_view::npos) {
    const std::string_view zone = host.substr(mark);
    if (!zone.starts_with(zone_mark) || zone.size() == zone_mark.size()) {
      refuse("the zone of an IPv6 address is written as [fe80::1" + std::string{zone_mark} + "eth0]");
    }
    read.zone = zone.substr(zone_mark.size());
    if (!std::all_of(read.zone.begin(), read.zone.end(), is_unreserved))
      refuse("'" + printable(read.zone) + "' is not the name of an interface");
    host = host.substr(0, mark);
  }
  read.host = host;
  // Checked first: a zero byte would end what inet_pton() reads.
  const auto fits = [](char c) { return is_hex_digit(c) || c == ':' || c == '.'; };
  in6_addr unused{};
  const bool is_address =
      std::all_of(read.host.begin(), read.host.end(), fits) && ::inet_pton(AF_INET6, read.host.c_str(), &unused) == 1;
  if (!is_address) refuse("'" + printable(read.host) + "' is not an IPv6 address");
  return read;
}

}  // namespace

std::string authority::host_header() const {
  const std::string shown = is_ipv6 ? "[" + host + "]" : host;
  return port ? shown + ":" + std::to_string(*port) : shown;
}

authority parse_authority(std::string_view text, std::string_view zone_mark) {
  if (text.find('@') != std::string_view::npos) {
    refuse("user information before '@' is not sent: remove it, "
           "and use --header \"Authorization: ...\" if the server asks for it");
  }
  if (text.starts_with('[')) return ipv6_authority(text, zone_mark);
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view rest = text.substr(colon);
  if (rest.find(':', 1) != std::string_view::npos)
    refuse("there is more than one ':': an IPv6 address stands in brackets, as [::1]:80");
  authority read;
  read.host = text.substr(0, colon);
  if (read.host.empty()) refuse("the host is missing");
  const auto fits = [](char c) { return is_unreserved(c) || is_sub_delimiter(c); };
  const auto odd = std::find_if_not(read.host.begin(), read.host.end(), fits);
  if (odd != read.host.end()) refuse("a host name cannot have " + shown(*odd));
  read.port = port_behind(rest);
  return read;
}

}  // namespace load
