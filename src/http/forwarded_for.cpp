#include <tartan/http/forwarded_for.h>
#include <tartan/http/text.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tartan::http {

namespace {

/// With or without a port.
std::optional<ip_address> address_in(std::string_view entry) noexcept {
  if (entry.starts_with('[')) {
    const std::size_t end = entry.find(']');
    if (end == std::string_view::npos || (end + 1 != entry.size() && entry[end + 1] != ':')) return std::nullopt;
    return ip_address::parse(entry.substr(1, end - 1));
  }
  const std::size_t colon = entry.find(':');
  const bool has_port = colon != std::string_view::npos && colon == entry.rfind(':');  // more of them are IPv6's
  return ip_address::parse(has_port ? entry.substr(0, colon) : entry);
}

}  // namespace

std::optional<ip_address> forwarded_client(const header_lines& fields, std::span<const ip_range> trusted) noexcept {
  std::optional<ip_address> found;
  bool is_first = true;
  const auto is_trusted = [trusted](const ip_address& one) {
    return std::any_of(trusted.begin(), trusted.end(), [&one](const ip_range& each) { return each.contains(one); });
  };
  fields.each("X-Forwarded-For", [&](std::string_view list) {
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      const std::string_view entry = trimmed(list.substr(0, comma));
      list.remove_prefix(std::min(comma + 1, list.size()));
      if (entry.empty()) continue;  // RFC 9110, 5.6.1
      const std::optional<ip_address> one = address_in(entry);
      if (is_first || !one || !is_trusted(*one)) found = one;
      is_first = false;
    }
    return true;
  });
  return found;
}

}  // namespace tartan::http
