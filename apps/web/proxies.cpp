#include "web/proxies.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "web/address_family.h"

namespace web {

bool proxy_settings::trusts(const http::ip_address& one) const noexcept {
  return std::any_of(trusted.begin(), trusted.end(), [&one](const http::ip_range& each) { return each.contains(one); });
}

bool proxy_settings::trusts(const tartan::address& one) const {
  if (!one.is_ip()) return trusts_unix;
  const std::string text = host_text(one);
  const std::optional<http::ip_address> from = http::ip_address::parse(std::string_view{text}.substr(0, text.find('%')));  // without a zone
  return from && trusts(*from);
}

std::string trust(proxy_settings& into, const std::string& text) {
  if (text == "unix") {
    into.trusts_unix = true;
    return {};
  }
  const std::optional<http::ip_range> range = http::ip_range::parse(text);
  if (!range) return "'" + text + "' is no range of addresses, as \"10.0.0.0/8\", no address, and not \"unix\"";
  into.trusted.push_back(*range);
  return {};
}

}  // namespace web
