#include "dns/host_name.h"

#include <netinet/in.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <span>

namespace tartan::detail {

namespace {

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool is_label_byte(char c) noexcept {
  return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '_';
}

}  // namespace

bool is_host_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > most_name_bytes) return false;
  std::size_t label = 0;
  for (const char c : name) {
    if (c == '.') {
      if (label == 0) return false;
      label = 0;
    } else if (!is_label_byte(c) || ++label > most_label_bytes) {
      return false;
    }
  }
  return label != 0;
}

bool same_name(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string lower_case(std::string_view name) {
  std::string text{name};
  std::ranges::transform(text, text.begin(), lower);
  return text;
}

bool is_within(std::string_view name, std::string_view domain) noexcept {
  if (name.size() <= domain.size()) return same_name(name, domain);
  return name[name.size() - domain.size() - 1] == '.' && same_name(name.substr(name.size() - domain.size()), domain);
}

bool looks_numeric(std::string_view host) noexcept {
  if (host.find(':') != std::string_view::npos) return true;
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return !last.empty() && std::ranges::all_of(last, is_digit);
}

std::optional<address> numeric_host(std::string_view host) noexcept {
  if (!looks_numeric(host) || host.size() > most_name_bytes) return std::nullopt;
  try {
    const bool is_ipv6 = host.find(':') != std::string_view::npos;
    const result<address> parsed = address::parse(is_ipv6 ? "[" + std::string{host} + "]:0" : std::string{host} + ":0");
    if (!parsed || !parsed->is_ip()) return std::nullopt;
    return *parsed;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

std::vector<std::string> search_candidates(std::string_view name, const std::vector<std::string>& search,
                                           unsigned dots) {
  std::vector<std::string> all;
  const bool is_absolute = name.ends_with('.');
  if (is_absolute) name.remove_suffix(1);
  if (!is_host_name(name)) return all;
  const auto has = static_cast<unsigned>(std::ranges::count(name, '.'));
  const bool as_it_is_first = is_absolute || has >= dots;
  if (as_it_is_first) all.emplace_back(name);
  if (is_absolute) return all;
  for (const std::string& domain : search) {
    std::string longer = std::string{name} + "." + domain;
    if (is_host_name(longer)) all.push_back(std::move(longer));
  }
  if (!as_it_is_first) all.emplace_back(name);
  return all;
}

address without_mapping(const address& of) {
  if (of.family() != AF_INET6) return of;
  const auto& in = *reinterpret_cast<const sockaddr_in6*>(of.data());
  if (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr) == 0) return of;
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = in.sin6_port;
  std::memcpy(&made.sin_addr, &in.sin6_addr.s6_addr[12], sizeof made.sin_addr);
  return address::from(reinterpret_cast<const sockaddr*>(&made), sizeof made);
}

std::string reverse_name(const address& of) {
  std::string name;
  if (of.family() == AF_INET) {
    const auto& in = *reinterpret_cast<const sockaddr_in*>(of.data());
    const std::uint32_t number = ntohl(in.sin_addr.s_addr);
    for (int byte = 0; byte < 4; ++byte) name += std::to_string((number >> (8 * byte)) & 255) + ".";
    return name + "in-addr.arpa";
  }
  if (of.family() != AF_INET6) return name;
  const auto& in = *reinterpret_cast<const sockaddr_in6*>(of.data());
  constexpr std::string_view digits = "0123456789abcdef";
  for (int byte = 15; byte >= 0; --byte) {
    const unsigned both = in.sin6_addr.s6_addr[byte];
    for (const unsigned half : {both & 15U, both >> 4U}) {
      name += digits[half];
      name += '.';
    }
  }
  return name + "ip6.arpa";
}

}  // namespace tartan::detail
