#pragma once
/// Values to XDR and back.

#include <cstddef>
#include <span>
#include <tartan/buf/chain.h>
#include <tartan/core/result.h>
#include <tartan/xdr/decoder.h>
#include <tartan/xdr/encoder.h>
#include <tartan/xdr/sizer.h>

namespace tartan::xdr {

/// The bytes that the value takes; always a multiple of 4.
///
/// Errors: why it cannot be encoded: errc::too_long, bad_enumerator, too_deep.
template <class T>
[[nodiscard]] result<std::size_t> encoded_size(const T& value) {
  detail::sizer all;
  if (!all.add(value)) return all.error();
  return all.size();
}

/// Appends the value. Large data<> is appended by reference.
///
/// Errors: as of encoded_size; then nothing was appended.
template <class T>
[[nodiscard]] result<> encode(buf::chain& into, const T& value) {
  const result<std::size_t> size = encoded_size(value);
  if (!size) return size.error();
  encoder out{into};
  out.put(value);
  out.finish();
  return {};
}

/// Reads a value that takes all of the data.
///
/// Errors: of xdr::errc. errc::trailing_bytes if something is left.
template <class T>
[[nodiscard]] result<T> decode(std::span<const buf::slice> from, const limits& within = {}) {
  decoder in{from, within};
  T value{};
  if (in.get(value) && in.remaining() != 0) in.fail(errc::trailing_bytes);
  if (in.error()) return in.error();
  return value;
}
template <class T>
[[nodiscard]] result<T> decode(const buf::chain& from, const limits& within = {}) {
  return decode<T>(from.slices(), within);
}
template <class T>
[[nodiscard]] result<T> decode(std::span<const std::byte> from, const limits& within = {}) {
  decoder in{from, within};
  T value{};
  if (in.get(value) && in.remaining() != 0) in.fail(errc::trailing_bytes);
  if (in.error()) return in.error();
  return value;
}

}  // namespace tartan::xdr
