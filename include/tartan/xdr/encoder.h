#pragma once
/// Writes values as XDR. Programs usually call encode() of codec.h.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <tartan/buf/chain.h>
#include <tartan/xdr/quadruple.h>
#include <tartan/xdr/shape.h>
#include <tuple>
#include <type_traits>

namespace tartan::xdr {

/// Appends to a chain, in blocks that it fills in place. What it has written is part of the chain after finish().
///
/// It checks nothing: encode() finds values that cannot be encoded before it writes the first byte.
/// Lifetime: the chain must outlive it, and must not be touched before finish().
/// Errors: std::bad_alloc; then the chain ends with a part of the value.
class encoder {
 public:
  static constexpr bool reads = false;

  explicit encoder(buf::chain& into) noexcept : into_{&into} {}
  encoder(const encoder&) = delete;
  encoder& operator=(const encoder&) = delete;

  void word(std::uint32_t value) { store(reserve(4), value); }
  void hyper(std::uint64_t value) {
    std::byte* const at = reserve(8);
    store(at, static_cast<std::uint32_t>(value >> 32));
    store(at + 4, static_cast<std::uint32_t>(value));
  }
  /// Bytes and their padding; no length.
  void opaque(std::span<const std::byte> all);
  /// The slices, without a copy where they are long, and the padding; no length.
  void opaque(std::span<const buf::slice> all);

  template <class T>
  bool operator()(const char* /*name*/, const T& value) {
    put(value);
    return true;
  }

  template <class T>
  void put(const T& value) {
    using namespace detail;
    if constexpr (std::is_same_v<T, bool>) {
      word(value ? 1 : 0);
    } else if constexpr (std::is_same_v<T, float>) {
      word(std::bit_cast<std::uint32_t>(value));
    } else if constexpr (std::is_same_v<T, double>) {
      hyper(std::bit_cast<std::uint64_t>(value));
    } else if constexpr (std::is_same_v<T, quadruple>) {
      opaque(value.wire);
    } else if constexpr (number<T> && sizeof(T) == 4) {
      word(static_cast<std::uint32_t>(value));
    } else if constexpr (number<T>) {
      hyper(static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_enum_v<T>) {
      word(static_cast<std::uint32_t>(value));
    } else if constexpr (is_text<T> || is_bytes<T>) {
      word(static_cast<std::uint32_t>(value.size()));
      opaque(std::as_bytes(std::span{value.data(), value.size()}));
    } else if constexpr (is_data<T>) {
      word(static_cast<std::uint32_t>(value.size()));
      opaque(value.slices());
    } else if constexpr (is_opaque_array<T>) {
      opaque(std::span<const std::byte>{value});
    } else {
      put_composed(value);
    }
  }

  /// Hands what was written to the chain.
  void finish();

 private:
  template <class T>
  void put_composed(const T& value) {
    using namespace detail;
    if constexpr (is_list<T>) {
      word(static_cast<std::uint32_t>(value.size()));
      for (const auto& each : value) put(each);
    } else if constexpr (is_linked_list<T>) {
      for (const auto& each : value) {
        word(1);
        put(each);
      }
      word(0);
    } else if constexpr (is_optional<T>) {
      word(value.has_value() ? 1 : 0);
      if (value.has_value()) put(*value);
    } else if constexpr (is_array<T>) {
      for (const auto& each : value) put(each);
    } else if constexpr (is_tuple<T>) {
      std::apply([this](const auto&... each) { (this->put(each), ...); }, value);
    } else {
      xdr_traverse(*this, value);
    }
  }

  static void store(std::byte* at, std::uint32_t value) noexcept {
    if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap32(value);
    std::memcpy(at, &value, 4);
  }
  std::byte* reserve(std::size_t bytes) {
    if (room_.size() - used_ < bytes) [[unlikely]]
      refill(bytes);
    std::byte* const at = room_.data() + used_;
    used_ += bytes;
    return at;
  }
  void refill(std::size_t least);
  void copy(std::span<const std::byte> all);
  /// The zeros behind so many bytes.
  void pad(std::size_t behind);

  buf::chain* into_;
  std::span<std::byte> room_;  ///< of the chain's; the first used_ bytes are written and not yet committed
  std::size_t used_ = 0;
};

}  // namespace tartan::xdr
