#include "web/channel.h"

#include <tartan/http/proxy_header.h>

#include <array>
#include <string>
#include <system_error>

#include "web/http.h"

namespace web {

tartan::result<std::size_t> channel::try_write(std::span<const std::byte> first, std::span<const std::byte> second) {
  const std::array<std::span<const std::byte>, 2> both{first, second};
  if (is_sealed()) return sealed_.try_write(parts_of_bytes{both});
  if (second.empty()) return plain_.try_write(first);  // send() is enough
  return first.empty() ? plain_.try_write(second) : plain_.try_write(both);
}

tartan::task<tartan::result<>> channel::write(std::string_view all) {
  while (!all.empty()) {
    const std::string_view next = all.substr(0, most_at_once(all.size()));
    tartan::result<std::size_t> sent = std::size_t{0};
    if (is_sealed()) {
      sent = co_await sealed_.write(next);
    } else {
      sent = co_await plain_.write(next);
    }
    if (!sent) co_return tartan::unexpected{sent.error()};
    all.remove_prefix(next.size());
  }
  co_return tartan::result<>{};
}

tartan::task<tartan::result<>> channel::writable() {
  if (is_sealed()) co_return co_await sealed_.writable();
  co_return co_await plain_.writable();
}

tartan::task<tartan::result<std::optional<http::ip_address>>> channel::read_proxy_header() {
  std::string got;
  for (;;) {
    const http::proxy_header header = http::parse_proxy_header(got);
    if (header.what == http::proxy_header::outcome::complete) co_return header.source;
    if (header.what == http::proxy_header::outcome::refused) co_return std::make_error_code(std::errc::protocol_error);
    const std::size_t there = got.size();
    got.resize(there + header.missing);
    const tartan::result<std::size_t> more = co_await socket_->read_exactly(std::as_writable_bytes(std::span{got}.subspan(there)));
    if (!more) co_return tartan::unexpected{more.error()};
  }
}

}  // namespace web
