#include "web/proxies.h"

#include <sys/socket.h>
#include <tartan/http/proxy_header.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <system_error>

#include "web/address_family.h"

namespace web {

bool proxy_settings::trusts(const http::ip_address& one) const noexcept {
  return std::any_of(trusted.begin(), trusted.end(), [&one](const http::ip_range& each) { return each.contains(one); });
}

bool proxy_settings::trusts(const tartan::address& one) const noexcept {
  if (!one.is_ip()) return trusts_unix;
  const std::optional<http::ip_address> from = http::ip_address::parse(host_text(one));
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

tartan::task<tartan::result<std::optional<http::ip_address>>> read_proxy_header(tartan::tcp::stream& from) {
  std::string got;
  for (;;) {
    const http::proxy_header header = http::parse_proxy_header(got);
    if (header.what == http::proxy_header::outcome::complete) co_return header.source;
    if (header.what == http::proxy_header::outcome::refused) co_return std::make_error_code(std::errc::protocol_error);
    const std::size_t there = got.size();
    got.resize(there + header.missing);
    const tartan::result<std::size_t> more = co_await from.read_exactly(std::as_writable_bytes(std::span{got}.subspan(there)));
    if (!more) co_return tartan::unexpected{more.error()};
  }
}

}  // namespace web
