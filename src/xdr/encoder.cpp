#include <tartan/xdr/encoder.h>

#include <algorithm>
#include <array>

namespace tartan::xdr {

namespace {

/// Shorter slices are copied: a reference costs an atomic increment and an entry of the gathered write.
constexpr std::size_t least_shared_bytes = 2048;

}  // namespace

void encoder::opaque(std::span<const std::byte> all) {
  copy(all);
  pad(all.size());
}

void encoder::opaque(std::span<const buf::slice> all) {
  std::size_t size = 0;
  for (const buf::slice& each : all) {
    size += each.size();
    if (each.size() < least_shared_bytes) {
      copy(each.bytes());
    } else {
      finish();
      into_->append(each);
    }
  }
  pad(size);
}

void encoder::copy(std::span<const std::byte> all) {
  while (!all.empty()) {
    if (used_ == room_.size()) refill(1);
    const std::size_t now = std::min(all.size(), room_.size() - used_);
    std::memcpy(room_.data() + used_, all.data(), now);
    used_ += now;
    all = all.subspan(now);
  }
}

void encoder::pad(std::size_t behind) {
  const std::size_t padding = detail::padding_of(behind);
  if (padding != 0) std::memset(reserve(padding), 0, padding);
}

void encoder::finish() {
  if (used_ != 0) into_->commit(used_);
  room_ = {};
  used_ = 0;
}

void encoder::refill(std::size_t least) {
  finish();
  room_ = into_->prepare(least);
}

}  // namespace tartan::xdr
