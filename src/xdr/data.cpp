#include <tartan/xdr/data.h>

#include <algorithm>
#include <cstring>

namespace tartan::xdr::detail {

bool same_bytes(std::span<const buf::slice> a, std::span<const buf::slice> b) noexcept {
  std::span<const std::byte> left;
  std::span<const std::byte> right;
  for (;;) {
    for (; left.empty() && !a.empty(); a = a.subspan(1)) left = a.front().bytes();
    for (; right.empty() && !b.empty(); b = b.subspan(1)) right = b.front().bytes();
    if (left.empty() || right.empty()) return left.empty() && right.empty();
    const std::size_t both = std::min(left.size(), right.size());
    if (std::memcmp(left.data(), right.data(), both) != 0) return false;
    left = left.subspan(both);
    right = right.subspan(both);
  }
}

void share(buf::chain& into, std::span<const buf::slice> from) {
  for (const buf::slice& each : from) into.append(each);
}

}  // namespace tartan::xdr::detail
