#include "web/outgoing.h"

#include <algorithm>

#include "web/site.h"

namespace web {

std::uint64_t outgoing::bytes_behind() const noexcept {
  std::uint64_t bytes = 0;
  if (!has_more()) return bytes;
  for (const std::string& each : frame) bytes += each.size();
  for (const http::byte_range& each : parts) bytes += each.size;
  return bytes;
}

std::string_view outgoing::take_first_piece(std::size_t most) noexcept {
  if (kept == nullptr || parts.size() != 1) return {};
  http::byte_range& part = parts.front();
  const std::string_view first = kept->body.text().substr(part.first, std::min<std::uint64_t>(most, part.size));
  part = {part.first + first.size(), part.size - first.size()};
  return first;
}

void outgoing::untake(std::size_t bytes) noexcept {
  if (bytes == 0) return;
  http::byte_range& part = parts.front();
  part = {part.first - bytes, part.size + bytes};
}

void outgoing::take_buffer(worker_store& from) {
  if (from.output.capacity() > text.capacity()) text.swap(from.output);
}

void outgoing::leave_buffer(worker_store& to) {
  text.clear();
  if (text.capacity() <= std::string{}.capacity()) return;
  std::string left;
  left.swap(text);
  std::string& kept_one = to.output;
  if (left.capacity() > kept_one.capacity() && left.capacity() <= worker_store::most_kept) kept_one.swap(left);
}

}  // namespace web
