#include <tartan/xdr/decoder.h>

#include <algorithm>
#include <array>
#include <tartan/buf/chain.h>

namespace tartan::xdr {

decoder::decoder(std::span<const buf::slice> from, const limits& within) noexcept
    : slices_{from}, memory_left_{within.memory_bytes}, depth_left_{within.depth} {
  for (const buf::slice& each : from) behind_ += each.size();
  if (!slices_.empty()) next_slice();
}

bool decoder::fail(errc why) noexcept {
  if (!error_) error_ = why;
  at_ = end_;
  slices_ = {};
  behind_ = 0;
  return false;
}

void decoder::next_slice() noexcept {
  now_ = slices_.data();
  slices_ = slices_.subspan(1);
  at_ = now_->data();
  end_ = at_ + now_->size();
  behind_ -= now_->size();
}

bool decoder::word_across(std::uint32_t& value) {
  std::array<std::byte, 4> all{};
  if (!opaque(std::span<std::byte>{all})) return false;
  std::memcpy(&value, all.data(), 4);
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap32(value);
  return true;
}

bool decoder::opaque(std::span<std::byte> into) {
  const std::size_t size = into.size();
  if (size > remaining()) return fail(errc::truncated);
  while (!into.empty()) {
    if (at_ == end_) next_slice();
    const std::size_t now = std::min(into.size(), static_cast<std::size_t>(end_ - at_));
    if (now != 0) std::memcpy(into.data(), at_, now);
    at_ += now;
    into = into.subspan(now);
  }
  return skip_padding(size);
}

bool decoder::opaque(buf::chain& into, std::size_t bytes) {
  into = {};
  if (bytes > remaining()) return fail(errc::truncated);
  if (now_ == nullptr) {
    if (!take_memory(bytes)) return false;
    if (bytes != 0) into.append(buf::slice::copy_of({at_, bytes}));  // of this size; a chain copies into blocks of 4 KiB
    at_ += bytes;
    return skip_padding(bytes);
  }
  for (std::size_t left = bytes; left != 0;) {
    if (at_ == end_) next_slice();
    const std::size_t now = std::min(left, static_cast<std::size_t>(end_ - at_));
    if (now != 0) into.append(now_->sub(static_cast<std::size_t>(at_ - now_->data()), now));
    at_ += now;
    left -= now;
  }
  return skip_padding(bytes);
}

bool decoder::count(std::size_t& value, std::size_t most, std::size_t least_bytes) {
  std::uint32_t read = 0;
  if (!word(read)) return false;
  if (read > most) return fail(errc::too_long);
  if (read > remaining() / least_bytes) return fail(errc::truncated);
  value = read;
  return true;
}

bool decoder::skip_padding(std::size_t behind) {
  std::size_t left = detail::padding_of(behind);
  if (left > remaining()) return fail(errc::truncated);
  for (; left != 0; --left) {
    while (at_ == end_) next_slice();
    if (*at_++ != std::byte{0}) return fail(errc::bad_padding);
  }
  return true;
}

}  // namespace tartan::xdr
