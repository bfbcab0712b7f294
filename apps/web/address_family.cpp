#include "address_family.h"

#include <sys/socket.h>
#include <tartan/core/result.h>

#include <algorithm>
#include <string_view>

namespace web {

namespace {

constexpr std::string_view mapped = "::ffff:";

bool is_mapped(std::string_view host) noexcept { return host.starts_with(mapped) && host.find('.') != std::string_view::npos; }

/// Without port and brackets.
std::string bare(const tartan::address& at) {
  std::string text = at.to_string();
  if (at.is_ip()) text.erase(text.rfind(':'));
  return text.starts_with('[') ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

bool is_ipv4(const tartan::address& at) { return at.family() == AF_INET || (at.family() == AF_INET6 && is_mapped(bare(at))); }

bool has_ipv4_beside(const std::string& one, const std::vector<std::string>& all) {
  const tartan::result<tartan::address> at = tartan::address::parse(one);
  if (!at || at->port() == 0 || is_ipv4(*at)) return false;
  return std::any_of(all.begin(), all.end(), [&at](const std::string& text) {
    const tartan::result<tartan::address> other = tartan::address::parse(text);
    return other && other->port() == at->port() && is_ipv4(*other);
  });
}

std::string host_text(const tartan::address& at) {
  const std::string host = bare(at);
  return at.is_ip() && is_mapped(host) ? host.substr(mapped.size()) : host;
}

}  // namespace web
