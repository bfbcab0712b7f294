#include "web/channel.h"

#include <array>

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

}  // namespace web
