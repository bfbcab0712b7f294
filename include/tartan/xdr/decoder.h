#pragma once
/// Reads values from XDR. Programs usually call decode() of codec.h.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <system_error>
#include <tartan/buf/slice.h>
#include <tartan/xdr/error.h>
#include <tartan/xdr/quadruple.h>
#include <tartan/xdr/shape.h>
#include <tuple>
#include <type_traits>

namespace tartan::xdr {

/// What a decoder grants to data that it does not trust.
struct limits {
  /// How deep lists, pointers, structs and unions may be nested.
  std::size_t depth = detail::default_depth;
  /// Memory of the decoded value, without what data<> refers to. A count in the data must also be covered by bytes at hand.
  std::size_t memory_bytes = std::size_t{8} * 1024 * 1024;
};

/// Reads from slices that lie behind each other as one text. The first error ends all reading.
///
/// Lifetime: the slices must outlive it. Decoded values do not need them: data<> shares their bytes.
/// Errors: error(), of xdr::errc. std::bad_alloc passes.
class decoder {
 public:
  static constexpr bool reads = true;

  explicit decoder(std::span<const buf::slice> from, const limits& within = {}) noexcept;
  /// Bytes that no slice owns: data<> copies them.
  explicit decoder(std::span<const std::byte> from, const limits& within = {}) noexcept
      : at_{from.data()},
        end_{from.data() + from.size()},
        memory_left_{within.memory_bytes},
        depth_left_{within.depth} {}
  decoder(const decoder&) = delete;
  decoder& operator=(const decoder&) = delete;

  bool word(std::uint32_t& value) {
    if (end_ - at_ >= 4) [[likely]] {
      std::memcpy(&value, at_, 4);
      at_ += 4;
      if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap32(value);
      return true;
    }
    return word_across(value);
  }
  bool hyper(std::uint64_t& value) {
    std::uint32_t high = 0;
    std::uint32_t low = 0;
    if (!word(high) || !word(low)) return false;
    value = std::uint64_t{high} << 32 | low;
    return true;
  }
  /// Bytes and their padding.
  bool opaque(std::span<std::byte> into);
  /// The same, appended to a chain by reference.
  bool opaque(buf::chain& into, std::size_t bytes);
  /// A count that is at most `most`, of elements that take at least `least_bytes` each: more than is left is an error.
  bool count(std::size_t& value, std::size_t most, std::size_t least_bytes);

  /// Bytes that were not read yet.
  [[nodiscard]] std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - at_) + behind_; }
  [[nodiscard]] std::error_code error() const noexcept { return error_; }
  bool fail(errc why) noexcept;
  /// Of a union's traversal: its discriminant has no arm.
  bool no_arm() noexcept { return fail(errc::no_arm); }

  template <class T>
  bool operator()(const char* /*name*/, T& value) {
    return get(value);
  }

  template <class T>
  bool get(T& value) {
    using namespace detail;
    if constexpr (std::is_same_v<T, bool>) {
      return get_boolean(value);
    } else if constexpr (std::is_same_v<T, float>) {
      return get_as<std::uint32_t>(value);
    } else if constexpr (std::is_same_v<T, double>) {
      return get_as<std::uint64_t>(value);
    } else if constexpr (std::is_same_v<T, quadruple>) {
      return opaque(std::span<std::byte>{value.wire});
    } else if constexpr (number<T>) {
      return get_as<std::make_unsigned_t<T>>(value);
    } else if constexpr (std::is_enum_v<T>) {
      std::uint32_t read = 0;
      if (!word(read)) return false;
      value = static_cast<T>(static_cast<std::int32_t>(read));
      return xdr_name(value) != nullptr || fail(errc::bad_enumerator);
    } else if constexpr (is_text<T> || is_bytes<T>) {
      return get_counted(value);
    } else if constexpr (is_data<T>) {
      std::size_t size = 0;
      return count(size, T::max, 1) && opaque(value.chain(), size);
    } else if constexpr (is_opaque_array<T>) {
      return opaque(std::span<std::byte>{value});
    } else {
      if (depth_left_ == 0) return fail(errc::too_deep);
      --depth_left_;
      const bool good = get_composed(value);
      ++depth_left_;
      return good;
    }
  }

 private:
  template <class Wire, class T>
  bool get_as(T& value) {
    Wire read = 0;
    if constexpr (sizeof(Wire) == 4) {
      if (!word(read)) return false;
    } else {
      if (!hyper(read)) return false;
    }
    value = std::bit_cast<T>(read);
    return true;
  }
  bool get_boolean(bool& value) {
    std::uint32_t read = 0;
    if (!word(read)) return false;
    value = read != 0;
    return read <= 1 || fail(errc::bad_boolean);
  }
  template <class T>
  bool get_counted(T& value) {
    std::size_t size = 0;
    if (!count(size, T::max, 1) || !take_memory(size)) return false;
    value.resize(size);
    return opaque(std::as_writable_bytes(std::span{value.data(), size}));
  }

  template <class T>
  bool get_composed(T& value) {
    using namespace detail;
    if constexpr (is_list<T>) {
      return get_list(value);
    } else if constexpr (is_linked_list<T>) {
      return get_linked_list(value);
    } else if constexpr (is_optional<T>) {
      bool is_there = false;
      if (!get(is_there)) return false;
      value.reset();
      return !is_there || (take_memory(sizeof(*value)) && get(value.emplace()));
    } else if constexpr (is_array<T>) {
      for (auto& each : value) {
        if (!get(each)) return false;
      }
      return true;
    } else if constexpr (is_tuple<T>) {
      return std::apply([this](auto&... each) { return (this->get(each) && ...); }, value);
    } else {
      return xdr_traverse(*this, value);
    }
  }
  /// Each element takes a word at least, so the count is covered by what is at hand before memory is taken for it.
  template <class T>
  bool get_list(T& value) {
    std::size_t size = 0;
    if (!count(size, T::max, 4) || !take_memory(size * sizeof(typename T::value_type))) return false;
    value.clear();
    value.reserve(size);
    for (std::size_t n = 0; n < size; ++n) {
      if constexpr (std::is_same_v<typename T::value_type, bool>) {  // std::vector<bool> has no bool to refer to
        bool each = false;
        if (!get(each)) return false;
        value.push_back(each);
      } else {
        if (!get(value.emplace_back())) return false;
      }
    }
    return true;
  }
  template <class T>
  bool get_linked_list(T& value) {
    value.clear();
    for (;;) {
      bool goes_on = false;
      if (!get(goes_on)) return false;
      if (!goes_on) return true;
      // Growing doubles the memory: the old elements are there until the new ones are.
      if (value.size() == value.capacity() && !take_memory((value.size() * 2 + 1) * sizeof(typename T::value_type))) {
        return false;
      }
      if (!get(value.emplace_back())) return false;
    }
  }

  bool word_across(std::uint32_t& value);
  bool take_memory(std::size_t bytes) noexcept {
    if (bytes > memory_left_) return fail(errc::too_large);
    memory_left_ -= bytes;
    return true;
  }
  /// Goes on to the next slice. Precondition: there is one.
  void next_slice() noexcept;
  bool skip_padding(std::size_t behind);

  std::span<const buf::slice> slices_;  ///< those behind the one that is read; none if there is no slice
  const buf::slice* now_ = nullptr;     ///< the one that is read
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  std::size_t behind_ = 0;  ///< bytes in slices_
  std::size_t memory_left_;
  std::size_t depth_left_;
  std::error_code error_;
};

}  // namespace tartan::xdr
