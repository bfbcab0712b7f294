#include <tartan/http/host_name.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include <tartan/http/byte_set.h>

namespace tartan::http {

namespace {

constexpr byte_set digits{"0123456789", false};

bool is_hex(char c) noexcept {
  return digits.has(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// What a host's name may consist of, but for what is encoded with '%'.
constexpr byte_set host_bytes{"-._~!$&'()*+,;=", true};

bool is_name(std::string_view text) noexcept {
  for (;;) {
    text.remove_prefix(host_bytes.span(text));
    if (text.empty()) return true;
    if (text.front() != '%' || text.size() < 3 || !is_hex(text[1]) || !is_hex(text[2])) return false;
    text.remove_prefix(3);
  }
}

/// What may stand in brackets: an IPv6 address, or "v", a version, a dot and an address of a kind that is yet to come.
bool is_literal(std::string_view text) noexcept {
  if (text.starts_with('v') || text.starts_with('V')) {
    const std::size_t dot = text.find('.');
    if (dot == std::string_view::npos || dot < 2 || dot + 1 == text.size()) return false;
    const auto first = text.begin() + static_cast<std::ptrdiff_t>(dot);
    return std::all_of(text.begin() + 1, first, is_hex) &&
           std::all_of(first, text.end(), [](char c) { return c == ':' || host_bytes.has(c); });
  }
  std::array<char, INET6_ADDRSTRLEN> address{};
  if (text.size() >= address.size() || text.find('\0') != std::string_view::npos) return false;
  std::copy(text.begin(), text.end(), address.begin());
  in6_addr unused{};
  return ::inet_pton(AF_INET6, address.data(), &unused) == 1;
}

}  // namespace

bool is_host(std::string_view text) noexcept {
  std::string_view host = text;
  const std::size_t plain = host_bytes.span(text);
  if (plain == text.size()) return true;  // as most are
  const auto is_port = [&](std::size_t colon) {
    return digits.span(text.substr(colon + 1)) == text.size() - colon - 1;
  };
  if (text[plain] == ':' && is_port(plain)) return true;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && is_port(colon)) host = text.substr(0, colon);
  if (!host.starts_with('[')) return is_name(host);
  return host.ends_with(']') && is_literal(host.substr(1, host.size() - 2));
}

}  // namespace tartan::http
